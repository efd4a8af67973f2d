"""Who chooses the split of a node: the textbook, or C4.5 as it was programmed."""

from collections.abc import Collection

from core.config import Algorithm, Dialect
from core.criteria.objective import Objective
from core.growth import best_split as textbook
from core.growth import release8
from core.growth.best_split import Candidate, NodeSamples
from core.growth.samples import Samples


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> Candidate | None:
    """The split to make of a node; None when it has no valid one."""
    chooser = release8.best_split if algorithm.dialect is Dialect.RELEASE8 else textbook.best_split
    return chooser(samples, node, algorithm, objective, spent)


def all_candidates(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> list[Candidate]:
    """Every attribute with a valid split, in column order."""
    chooser = release8.all_candidates if algorithm.dialect is Dialect.RELEASE8 else textbook.all_candidates
    return chooser(samples, node, algorithm, objective, spent)
