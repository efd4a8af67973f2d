"""Importing much at once, sooner."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Look for no garbage meanwhile, and never in what is there afterwards: nothing that is imported is any."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
