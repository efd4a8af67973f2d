"""Which code grows a tree: the plain definition, or compiled kernels that give the same tree."""

from enum import StrEnum

from core.config import Algorithm
from core.growth.fast_grow import grow_fast, is_supported
from core.growth.grow import Watch, grow
from core.growth.samples import Samples
from core.growth.validation_gate import Trial
from core.table import FloatArray
from core.tree import Tree

SMALL_ROWS = 500  # up to here the definition is done before a compiler has started


class Engine(StrEnum):
    """How to choose: by the size of the data, or one of the two wherever it can."""

    AUTO = "auto"
    DEFINITION = "definition"
    KERNELS = "kernels"


def grow_with(
    engine: Engine,
    samples: Samples,
    algorithm: Algorithm,
    *,
    validation: Samples | None,
    seed: int,
    costs: FloatArray | None = None,
    watch: Watch = lambda _: None,
) -> tuple[Tree, list[Trial]]:
    """`grow`, by the engine that was asked for; what the kernels cannot do, the definition does."""
    wants_kernels = engine is Engine.KERNELS or (engine is Engine.AUTO and len(samples) > SMALL_ROWS)
    if wants_kernels and validation is None and is_supported(samples, algorithm):
        return grow_fast(samples, algorithm, watch=watch), []
    return grow(samples, algorithm, validation=validation, seed=seed, costs=costs, watch=watch)
