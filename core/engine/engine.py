"""Grows a tree by the engine asked for: by the definition, or by kernels that give the same tree."""

from enum import StrEnum

from core.arithmetic.arrays import FloatArray
from core.config.options import Algorithm
from core.engine.compilable import can_grow_by_gains, can_grow_oblique, can_grow_quest
from core.engine.definition import best_split
from core.growth.column_draw import ColumnDraw
from core.growth.grow import ChooseSplit, grow
from core.growth.samples import Samples
from core.growth.validation_gate import Trial, validated
from core.tables.progress import Watch, ignore_progress, part_of
from core.tables.target import Task
from core.tree.tree import Tree

SMALL_ROWS = 500  # up to here the definition is always fast enough
GROWING = 0.9  # the share of the work, about, that growing a tree takes if its splits are then tried on validation rows
# How long the first training by kernels waits for the compiler, about: for QUEST, for linear tests, for all others.
QUEST_COMPILE_SECONDS, LINEAR_COMPILE_SECONDS, COMPILE_SECONDS = 17.0, 40.0, 90.0
# How long the definition takes for each cell (a row of a column) to grow a full tree, about, and how many times that if
# missing values make copies of rows. QUEST tests all columns of a node at once, and copies hardly add nodes to its
# trees.
CLASS_SECONDS, NUMBER_SECONDS, COPIES, QUEST_SECONDS = 8e-5, 1e-4, 2.5, 2e-5


class Engine(StrEnum):
    """How to choose: by the size of the data, or one engine wherever it can grow the tree."""

    AUTO = "auto"
    AUTO_COLD = "auto_cold"  # like auto, while the kernels are not compiled yet
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
    draw: ColumnDraw | None = None,
    threads: int = 1,
    watch: Watch = ignore_progress,
) -> tuple[Tree, list[Trial]]:
    """The tree by the engine asked for; and, if there are validation rows, the splits tried on them.

    Trees that the kernels cannot grow are grown by the definition, on one thread.
    """
    if validation is None:
        return grown_with(engine, samples, algorithm, seed=seed, draw=draw, threads=threads, watch=watch), []
    growing, trying = part_of(watch, 0.0, GROWING), part_of(watch, GROWING, 1.0)
    tree = grown_with(engine, samples, algorithm, seed=seed, draw=draw, threads=threads, watch=growing)
    return validated(tree, validation, costs=costs, watch=trying)


def grown_with(
    engine: Engine,
    samples: Samples,
    algorithm: Algorithm,
    *,
    seed: int,
    draw: ColumnDraw | None,
    threads: int,
    watch: Watch,
) -> Tree:
    """The full tree by the engine asked for."""
    choose: ChooseSplit = best_split
    if prefers_kernels(engine, samples):
        if can_grow_oblique(samples, algorithm) and draw is None:
            from core.methods.oblique.grow import grow_multivariate  # imports Numba

            return grow_multivariate(samples, algorithm, seed=seed, watch=watch)
        if can_grow_quest(algorithm) and draw is None:
            from core.methods.quest.grow import grow_quest  # imports Numba

            return grow_quest(samples, algorithm, watch=watch)
        if can_grow_by_gains(samples, algorithm):
            from core.growth.kernels.lists.grow_fast import grow_fast  # imports Numba

            return grow_fast(samples, algorithm, seed=seed, draw=draw, threads=threads, watch=watch)
        if algorithm.chaid is not None:
            from core.methods.chaid.search import ChaidSearch  # imports Numba

            choose = ChaidSearch(samples, algorithm).best_split
    return grow(samples, algorithm, seed=seed, draw=draw, choose=choose, watch=watch)


def prefers_kernels(engine: Engine, samples: Samples, n_trees: int = 1) -> bool:
    """Whether kernels should grow a tree of these samples, or `n_trees` trees, if they can."""
    match engine:
        case Engine.AUTO:
            return n_trees * len(samples) > SMALL_ROWS
        case Engine.AUTO_COLD:
            is_worth = n_trees * definition_seconds(samples) > COMPILE_SECONDS
            return is_worth and prefers_kernels(Engine.AUTO, samples, n_trees)
        case _:
            return engine is Engine.KERNELS


def for_trees(engine: Engine, samples: Samples, algorithm: Algorithm, n_trees: int) -> Engine:
    """The engine for a training of `n_trees` trees of these samples: many are worth waiting for the compiler."""
    is_worth = n_trees * definition_seconds(samples, algorithm) > compile_seconds(algorithm)
    return Engine.AUTO if engine is Engine.AUTO_COLD and is_worth else engine


def compile_seconds(algorithm: Algorithm) -> float:
    """How long compiling the kernels for such a tree takes, about."""
    if algorithm.quest is not None:
        return QUEST_COMPILE_SECONDS
    return COMPILE_SECONDS if algorithm.linear is None else LINEAR_COMPILE_SECONDS


def definition_seconds(samples: Samples, algorithm: Algorithm | None = None) -> float:
    """How long the definition takes for a tree that nothing stops early, about; rather an overestimate."""
    n_cells = len(samples) * len(samples.attributes.schema)
    if algorithm is not None and algorithm.quest is not None:
        return n_cells * QUEST_SECONDS
    cell = CLASS_SECONDS if samples.target.task is Task.CLASSIFICATION else NUMBER_SECONDS
    return n_cells * cell * (COPIES if samples.attributes.has_missing else 1.0)
