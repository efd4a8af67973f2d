"""How the answers of many trees become one: by the answer of each to a record, and the weight of its leaf.

A tree answers with class shares, or means, and its leaf has a training weight. A record with a missing value reaches
several leaves of a tree: its answer and its weight are then the averages over these leaves, weighted by the part of the
record that reaches each.

A tree votes for the class that it would answer alone: that of the largest share, ties to the class declared first, or,
if wrong answers have costs, the one of least expected cost.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.ties import TIE
from core.growth.held_out import labels_of
from core.tables.errors import Fault
from core.tables.target import Task

UNDECIDED = -1
TRIMMED_SHARE = 0.1  # of the trees, at either end


class VotingKind(StrEnum):
    """How votes are counted, and when there is an answer."""

    AVERAGE = "average"
    MAJORITY = "majority"
    UNANIMOUS = "unanimous"
    VETO = "veto"
    THRESHOLD = "threshold"
    TRIMMED = "trimmed"
    BAYESIAN = "bayesian"


OF_NUMBERS = (VotingKind.AVERAGE, VotingKind.TRIMMED)  # the others count votes for classes


@dataclass(frozen=True, slots=True)
class Voting:
    """A kind of voting, with its options.

    trees   of a veto: the trees that must agree
    share   of a threshold: the part of the votes that a class needs
    m       of Bayesian voting: the weight of the prior; None for the median weight of the forest's leaves
    """

    kind: VotingKind = VotingKind.AVERAGE
    trees: tuple[int, ...] = ()
    share: float = 0.5
    m: float | None = None


@dataclass(frozen=True)
class TreeAnswers:
    """`answers[tree, row, output]`: class shares, or means; `weights[tree, row]`: the leaf's training weight."""

    answers: FloatArray
    weights: FloatArray


@dataclass(frozen=True)
class Electorate:
    """What a vote is about: the task, the shares in all training rows, and costs, if any.

    `median_weight`, that of all leaves, is computed only where a voting needs it.
    """

    task: Task
    prior: FloatArray
    costs: FloatArray | None
    median_weight: Callable[[], float]


@dataclass(frozen=True)
class Verdict:
    """`values[row, output]`: what the classes, or targets, were given; `labels[row]`: the class, UNDECIDED for none.

    For numbers there are no labels: all are UNDECIDED.
    """

    values: FloatArray
    labels: RowArray


def vote(said: TreeAnswers, voting: Voting, electorate: Electorate) -> Verdict:
    """What the trees answer together."""
    answers, costs = said.answers, electorate.costs
    match voting.kind:
        case VotingKind.AVERAGE:
            return _of_shares(average(answers), electorate)
        case VotingKind.TRIMMED:
            return _of_shares(trimmed(answers, electorate.task), electorate)
        case VotingKind.BAYESIAN:
            m = electorate.median_weight() if voting.m is None else voting.m
            return _of_shares(bayesian(answers, said.weights, electorate.prior, m), electorate)
        case VotingKind.MAJORITY:
            return _of_votes(answers, costs, lambda _, winners: np.ones(len(winners), dtype=np.bool_))
        case VotingKind.UNANIMOUS:
            return _of_votes(answers, costs, agree)
        case VotingKind.VETO:
            return _of_votes(answers, costs, lambda votes, winners: agree(votes[list(voting.trees)], winners))
        case VotingKind.THRESHOLD:
            return _of_votes(answers, costs, lambda votes, winners: have_share(votes, winners, voting.share))


def average(answers: FloatArray) -> FloatArray:
    """The mean over the trees, added up in their order: p_k = sum_t p_tk / T."""
    total = np.zeros(answers.shape[1:])
    for of_tree in answers:
        total += of_tree
    return total / len(answers)


def trimmed(answers: FloatArray, task: Task) -> FloatArray:
    """The mean over the trees without the floor(T/10) lowest and highest answers to each class or target.

    The rest of a class is divided by the sum over the classes, so that shares sum to 1 again; where nothing is left of
    any class, because the trees disagree too much, it is the plain average.
    """
    n_dropped = int(TRIMMED_SHARE * len(answers) + TIE)
    left = average(np.sort(answers, axis=0)[n_dropped : len(answers) - n_dropped])
    if task is not Task.CLASSIFICATION:
        return left
    total = left.sum(axis=1, keepdims=True)
    return np.where(total > 0, left / np.where(total > 0, total, 1.0), average(answers))


def bayesian(answers: FloatArray, weights: FloatArray, prior: FloatArray, m: float) -> FloatArray:
    """The mean of the trees' shares, each shrunk towards the overall one; the fewer samples its leaf has, the more.

        WR = v/(v + m) R + m/(v + m) C

    R is a class's share in the leaf, v the leaf's weight, C the class's share in the training rows, m the weight that
    C has. Where both weights are 0, the result is R.
    """
    total = (weights + m)[:, :, None]
    trust = np.where(total > 0, weights[:, :, None] / np.where(total > 0, total, 1.0), 1.0)
    return average(trust * answers + (1.0 - trust) * prior)


def votes_of(answers: FloatArray, costs: FloatArray | None) -> RowArray:
    """`[tree, row]`: the class that each tree votes for."""
    n_trees, n_rows, n_classes = answers.shape
    return labels_of(answers.reshape(-1, n_classes), costs).reshape(n_trees, n_rows)


def vote_shares(votes: RowArray, n_classes: int) -> FloatArray:
    """`[row, class]`: the part of the trees that vote for each class."""
    return np.stack([np.count_nonzero(votes == label, axis=0) for label in range(n_classes)], axis=1) / len(votes)


def agree(votes: RowArray, winners: RowArray) -> BoolArray:
    """`[row]`: whether every one of these trees votes for the winner."""
    return (votes == winners).all(axis=0)


def have_share(votes: RowArray, winners: RowArray, share: float) -> BoolArray:
    """`[row]`: whether at least this part of the trees votes for the winner."""
    return np.count_nonzero(votes == winners, axis=0) / len(votes) >= share - TIE


def voting_faults(voting: Voting, task: Task, n_trees: int) -> Iterator[Fault]:
    """What a forest of `n_trees` trees cannot do, or what is out of range."""
    if task is not Task.CLASSIFICATION and voting.kind not in OF_NUMBERS:
        known = " or ".join(OF_NUMBERS)
        yield Fault(f"{voting.kind} voting is for classes, and this forest answers numbers", ("kind",), f"take {known}")
    if voting.kind is VotingKind.VETO and not voting.trees:
        yield Fault("a veto needs at least one tree that has it", ("trees",), "name trees by their index")
    for index, tree in enumerate(voting.trees):
        if not 0 <= tree < n_trees:
            yield Fault(f"there is no tree {tree}", ("trees", index), f"trees have the indices 0 to {n_trees - 1}")
    if not 0 < voting.share <= 1:
        yield Fault("a share of the votes is above 0 and at most 1", ("share",))
    if voting.m is not None and not 0 <= voting.m < np.inf:
        yield Fault("the weight of the prior is a number from 0", ("m",))


def _of_shares(values: FloatArray, electorate: Electorate) -> Verdict:
    """The class of the largest share, or of least expected cost."""
    if electorate.task is not Task.CLASSIFICATION:
        return Verdict(values, np.full(len(values), UNDECIDED))
    return Verdict(values, labels_of(values, electorate.costs))


def _of_votes(
    answers: FloatArray, costs: FloatArray | None, holds: Callable[[RowArray, RowArray], BoolArray]
) -> Verdict:
    """The class with most votes, ties to the one declared first; undecided where the condition does not hold."""
    votes = votes_of(answers, costs)
    values = vote_shares(votes, answers.shape[2])
    winners = labels_of(values)
    return Verdict(values, np.where(holds(votes, winners), winners, UNDECIDED))
