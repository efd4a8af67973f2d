"""How many generated examples a property is tried on: a part in `make test`, many more in `make fuzz`.

Tests name the number that shows most mistakes in reasonable time. `make test` takes `SHARE` of it, always the same
examples; `make fuzz` takes a multiple, and other examples each time.
"""

import os
from typing import Any

from hypothesis import settings

SHARE, FEWEST = 0.4, 10
TIMES = float(os.environ.get("EXAMPLES", SHARE))
IS_FUZZING = TIMES > 1.0


def n_examples(n: int) -> int:
    """How many of n examples to try."""
    return max(min(FEWEST, n), round(n * TIMES))


def examples(n: int, **more: Any) -> Any:
    """Settings of a property that is worth trying on n examples."""
    return settings(max_examples=n_examples(n), **more)
