"""Each way to vote, worked out by hand, and what it refuses."""

import numpy as np
import pytest

from core.ensembles.voting import (
    OF_NUMBERS,
    UNDECIDED,
    Electorate,
    TreeAnswers,
    Voting,
    VotingKind,
    trimmed,
    vote,
    voting_faults,
)
from core.tables.target import Task

# Five trees, two records, classes a, b and c. Of the first record they say a, a, a, b and c, of the second always b.
FIRST = [[0.6, 0.3, 0.1], [0.5, 0.25, 0.25], [0.4, 0.3, 0.3], [0.0, 1.0, 0.0], [0.1, 0.3, 0.6]]
SECOND = [[0.0, 1.0, 0.0], [0.2, 0.8, 0.0], [0.0, 0.9, 0.1], [0.0, 1.0, 0.0], [0.3, 0.4, 0.3]]
ANSWERS = np.array([FIRST, SECOND]).transpose(1, 0, 2)
WEIGHTS = np.array([[1.0, 4.0], [3.0, 4.0], [1.0, 4.0], [1.0, 4.0], [3.0, 4.0]])
A, B, C = 0, 1, 2


def electorate(costs=None, task=Task.CLASSIFICATION):
    return Electorate(task, np.array([0.5, 0.25, 0.25]), costs, median_weight=lambda: 1.0)


def asked(kind, costs=None, **options):
    return vote(TreeAnswers(ANSWERS, WEIGHTS), Voting(VotingKind(kind), **options), electorate(costs))


def test_average():
    verdict = asked("average")
    # a: (0.6 + 0.5 + 0.4 + 0 + 0.1) / 5, b: (0.3 + 0.25 + 0.3 + 1 + 0.3) / 5, c: the rest
    assert verdict.values[0] == pytest.approx([0.32, 0.43, 0.25])
    assert verdict.values[1] == pytest.approx([0.1, 0.82, 0.08])
    assert verdict.labels.tolist() == [B, B]


def test_majority():
    verdict = asked("majority")
    assert verdict.values.tolist() == [[0.6, 0.2, 0.2], [0.0, 1.0, 0.0]]
    assert verdict.labels.tolist() == [A, B]


def test_a_majority_of_equals_is_the_class_declared_first():
    answers = np.array([[[0.1, 0.9]], [[0.8, 0.2]]])
    verdict = vote(TreeAnswers(answers, np.ones((2, 1))), Voting(VotingKind.MAJORITY), electorate())
    assert (verdict.values.tolist(), verdict.labels.tolist()) == ([[0.5, 0.5]], [0])


def test_unanimous():
    verdict = asked("unanimous")
    assert verdict.labels.tolist() == [UNDECIDED, B]
    assert verdict.values.tolist() == [[0.6, 0.2, 0.2], [0.0, 1.0, 0.0]]


@pytest.mark.parametrize(("trees", "label"), [((0, 1), A), ((2,), A), ((0, 3), UNDECIDED), ((4,), UNDECIDED)])
def test_veto(trees, label):
    assert asked("veto", trees=trees).labels.tolist() == [label, B]


@pytest.mark.parametrize(("share", "label"), [(0.5, A), (0.6, A), (0.61, UNDECIDED), (1.0, UNDECIDED)])
def test_threshold(share, label):
    assert asked("threshold", share=share).labels.tolist() == [label, B]


def test_trimmed():
    # Of ten trees the lowest and the highest share of each class go: a has 8 x 0.5 left, b 7 x 0.5 and 1.
    answers = np.array([[[0.5, 0.5]]] * 8 + [[[0.0, 1.0]], [[0.0, 1.0]]])
    verdict = vote(TreeAnswers(answers, np.ones((10, 1))), Voting(VotingKind.TRIMMED), electorate())
    a, b = (7 * 0.5 + 0.0) / 8, (7 * 0.5 + 1.0) / 8
    assert verdict.values[0] == pytest.approx([a / (a + b), b / (a + b)])
    assert verdict.labels.tolist() == [1]


def test_fewer_than_ten_trees_lose_none():
    assert trimmed(ANSWERS, Task.CLASSIFICATION) == pytest.approx(ANSWERS.mean(axis=0))


def test_trees_of_which_nothing_is_left_are_averaged():
    answers = np.eye(10)[:, None, :]
    assert trimmed(answers, Task.CLASSIFICATION)[0] == pytest.approx(np.full(10, 0.1))


def test_a_trimmed_mean_of_numbers_is_not_made_to_sum_to_one():
    answers = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1000.0])[:, None, None]
    verdict = vote(TreeAnswers(answers, np.ones((10, 1))), Voting(VotingKind.TRIMMED), electorate(task=Task.REGRESSION))
    assert (verdict.values.tolist(), verdict.labels.tolist()) == ([[5.5]], [UNDECIDED])


def test_bayesian():
    # With m = 1 a leaf of weight 1 counts half, the prior (0.5, 0.25, 0.25) half; one of weight 3 counts 3/4.
    verdict = asked("bayesian")
    a = (0.55 + (0.75 * 0.5 + 0.125) + 0.45 + 0.25 + (0.75 * 0.1 + 0.125)) / 5
    b = (0.275 + 0.25 + 0.275 + 0.625 + (0.75 * 0.3 + 0.0625)) / 5
    assert verdict.values[0] == pytest.approx([a, b, 1 - a - b])
    assert verdict.labels.tolist() == [A, B]  # the prior turns the first to a


def test_a_bayesian_vote_with_no_prior_weight_is_the_average():
    assert asked("bayesian", m=0.0).values == pytest.approx(asked("average").values)


def test_an_empty_leaf_says_what_the_prior_says():
    said = TreeAnswers(np.array([[[0.0, 0.0, 1.0]]]), np.zeros((1, 1)))
    verdict = vote(said, Voting(VotingKind.BAYESIAN), electorate())
    assert verdict.values.tolist() == [[0.5, 0.25, 0.25]]
    by_itself = vote(said, Voting(VotingKind.BAYESIAN, m=0.0), electorate())
    assert by_itself.values.tolist() == [[0.0, 0.0, 1.0]]


def test_with_costs_every_tree_votes_for_what_is_cheapest():
    costs = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [20.0, 20.0, 0.0]])  # c is never to be missed
    assert asked("majority", costs).values[0].tolist() == [0.0, 0.2, 0.8]
    assert asked("average", costs).labels.tolist() == [C, C]
    assert asked("unanimous", costs).labels.tolist() == [UNDECIDED, UNDECIDED]


@pytest.mark.parametrize("kind", list(VotingKind))
def test_numbers_can_be_averaged_and_trimmed_but_have_no_votes(kind):
    faults = list(voting_faults(Voting(kind, trees=(0,)), Task.REGRESSION, 5))
    assert [fault.path for fault in faults] == ([] if kind in OF_NUMBERS else [("kind",)])


@pytest.mark.parametrize(
    ("voting", "path"),
    [
        (Voting(VotingKind.VETO), ("trees",)),
        (Voting(VotingKind.VETO, trees=(1, 5)), ("trees", 1)),
        (Voting(VotingKind.VETO, trees=(-1,)), ("trees", 0)),
        (Voting(VotingKind.THRESHOLD, share=0.0), ("share",)),
        (Voting(VotingKind.THRESHOLD, share=1.1), ("share",)),
        (Voting(VotingKind.BAYESIAN, m=-1.0), ("m",)),
        (Voting(VotingKind.BAYESIAN, m=float("inf")), ("m",)),
    ],
)
def test_what_a_voting_cannot_do_is_named(voting, path):
    assert [fault.path for fault in voting_faults(voting, Task.CLASSIFICATION, 5)] == [path]


def test_what_can_be_done_has_no_faults():
    assert not list(voting_faults(Voting(VotingKind.VETO, trees=(0, 4)), Task.CLASSIFICATION, 5))
