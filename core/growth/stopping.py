"""Limits on growth (pre-pruning), each with the tolerance of ties, so that a limit met exactly does not stop."""

from core.arithmetic.ties import TIE
from core.config.options import Stopping
from core.criteria.objective import Objective
from core.growth.best_split import Candidate


def is_terminal(stopping: Stopping, *, depth: int, weight: float, impurity: float) -> bool:
    """Whether a node becomes a leaf before any split is searched for."""
    return (
        (stopping.max_depth is not None and depth >= stopping.max_depth)
        or weight < stopping.min_samples_split - TIE
        or impurity <= stopping.min_impurity
    )


def is_worth_it(stopping: Stopping, candidate: Candidate, objective: Objective) -> bool:
    """Whether the best split gains enough; with limits of 0, a split that gains nothing is made too.

    A split that was chosen by a test has no gain, and is always made.
    """
    return candidate.significance is not None or (
        candidate.gain >= stopping.min_gain - objective.tolerance
        and candidate.score >= stopping.min_score - objective.tolerance
    )
