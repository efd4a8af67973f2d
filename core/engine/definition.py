"""Grows trees by the definitions: finds the module that defines an algorithm's splits, and grows with it."""

from collections.abc import Collection
from types import ModuleType

from core.config.options import Algorithm, Dialect
from core.criteria.objective import Objective
from core.growth import best_split as textbook
from core.growth import grow as tree_generate
from core.growth import release8
from core.growth.best_split import Candidate, NodeSamples
from core.growth.column_draw import ColumnDraw
from core.growth.samples import Samples
from core.methods.chaid import chaid
from core.methods.oblique import oblique
from core.methods.quest import quest
from core.tables.progress import Watch, ignore_progress
from core.tree.tree import Tree


def grow(
    samples: Samples,
    algorithm: Algorithm,
    *,
    seed: int = 0,
    draw: ColumnDraw | None = None,
    watch: Watch = ignore_progress,
) -> Tree:
    """The full tree by `growth.grow`, with splits chosen as the algorithm says."""
    return tree_generate.grow(samples, algorithm, choose=best_split, seed=seed, draw=draw, watch=watch)


def chooser_of(algorithm: Algorithm) -> ModuleType:
    """The module with the algorithm's own `best_split` and `all_candidates`."""
    if algorithm.linear is not None:
        return oblique
    if algorithm.quest is not None:
        return quest
    if algorithm.chaid is not None:
        return chaid
    return release8 if algorithm.dialect is Dialect.RELEASE8 else textbook


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> Candidate | None:
    """The split of a node; None when it has no valid one."""
    return chooser_of(algorithm).best_split(samples, node, algorithm, objective, spent)


def all_candidates(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> list[Candidate]:
    """Every attribute with a valid split, in column order; for QUEST every attribute."""
    return chooser_of(algorithm).all_candidates(samples, node, algorithm, objective, spent)
