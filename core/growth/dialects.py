"""Who chooses the split of a node: the textbook, C4.5 as it was programmed, tests, or who also looks at sums."""

from collections.abc import Callable, Collection
from types import ModuleType

from core.config import Algorithm, Dialect
from core.criteria.objective import Objective
from core.growth import best_split as textbook
from core.growth import chaid, multivariate, quest, release8
from core.growth.best_split import Candidate, NodeSamples
from core.growth.samples import Samples

Choose = Callable[[Samples, NodeSamples, Algorithm, Objective, Collection[int]], Candidate | None]


def chooser_of(algorithm: Algorithm) -> ModuleType:
    """The module with the algorithm's own `best_split` and `all_candidates`."""
    if algorithm.linear is not None:
        return multivariate
    if algorithm.quest is not None:
        return quest
    if algorithm.chaid is not None:
        return chaid
    return release8 if algorithm.dialect is Dialect.RELEASE8 else textbook


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> Candidate | None:
    """The split to make of a node; None when it has no valid one."""
    return chooser_of(algorithm).best_split(samples, node, algorithm, objective, spent)


def all_candidates(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> list[Candidate]:
    """Every attribute with a valid split, in column order; by QUEST every attribute."""
    return chooser_of(algorithm).all_candidates(samples, node, algorithm, objective, spent)
