"""What is imported is never looked through for garbage, and what comes later is."""

import subprocess
import sys

PROGRAM = """
import gc, weakref
from service.importing import importing

with importing():
    assert not gc.isenabled()
    import json.tool, logging.config
n_frozen = gc.get_freeze_count()
assert gc.isenabled()
assert n_frozen > 1_000, n_frozen

class Ring:
    def __init__(self):
        self.own = self

gone = weakref.ref(Ring())
gc.collect()
assert gone() is None
assert gc.get_freeze_count() == n_frozen
"""


def test_nothing_that_was_imported_is_looked_through_for_garbage() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
