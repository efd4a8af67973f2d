from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import MissingStrategy
from core.engine.considered import candidates_by_node
from core.engine.definition import grow
from core.growth.samples import Samples
from core.missing.surrogates import find_surrogates, followed
from core.prediction.routing import MissingPolicy, leaves_reached, predict
from core.splits.split import Split, SplitKind
from core.storage.serialization import dump, load
from core.tables.schema import Attribute, Kind
from core.tables.target import Task
from core.tree.tree import full_view
from tests.core.building import cart, cart_for_numbers, model_of, samples_of, table_of
from tests.core.strategies import crowded_samples
from tests.examples import examples


def surrogates_for(columns, threshold, weights=None, kinds=None):
    """The stand-ins for a threshold on the first column."""
    table = table_of(columns, kinds)
    split = Split(0, SplitKind.THRESHOLD, 2, threshold=threshold)
    weights = np.ones(table.n_rows) if weights is None else np.array(weights, dtype=float)
    return find_surrogates(table, np.arange(table.n_rows), weights, split, split.branches(table.columns[0])), table


def test_a_perfect_copy_a_mirror_and_a_category_stand_in():
    found, _ = surrogates_for(
        {
            "size": [1, 2, 3, 4, 5],
            "noise": [1, 1, 1, 1, 1],
            "mirror": [50, 40, 30, 20, 10],
            "colour": ["r", "r", "b", "b", "r"],
            "copy": [1, 2, 3, 4, 5],
        },
        2.5,
    )
    told = [(s.split.column, s.agreement, s.is_reversed) for s in found]
    assert told == [(2, 1.0, True), (4, 1.0, False), (3, 0.8, False)]  # equal agreement: the earlier column
    assert found[0].split.threshold == 35
    assert found[2].split.branch_of == (0, 1)


def test_a_stand_in_no_better_than_the_majority_is_left_out():
    # Four of five rows go right; the category only repeats that.
    found, _ = surrogates_for({"size": [1, 2, 3, 4, 5], "colour": ["r", "r", "b", "b", "b"]}, 1.5)
    assert found == ()


def test_only_rows_that_know_both_count_and_by_their_weight():
    found, _ = surrogates_for(
        {"size": [1, 2, 3, 4, None], "other": [1, 9, None, 8, 1]}, 2.5, weights=[3, 1, 100, 2, 100]
    )
    (only,) = found
    assert only.agreement == pytest.approx(5 / 6)  # 3 left and 2 right agree, the row of weight 1 does not
    assert only.split.threshold == 4.5


def test_a_category_that_no_row_has_leaves_the_row_to_the_next_surrogate():
    kinds = {"colour": Attribute("colour", Kind.CATEGORICAL, ("r", "b", "new"))}
    found, table = surrogates_for(
        {"size": [1, 2, 3, 4, None, None, None], "colour": ["r", "r", "b", "b", "new", "b", None],
         "copy": [1, 2, 3, 4, 1, 1, None]}, 2.5, kinds=kinds,
    )  # fmt: skip
    assert [s.split.column for s in found] == [1, 2]
    assert found[0].split.branch_of == (0, 1, -1)
    rows = np.arange(7)
    branch = np.array([0, 0, 1, 1, -1, -1, -1])
    assert followed(table, rows, branch, found, np.array([0.4, 0.6])).tolist() == [0, 0, 1, 1, 0, 1, 1]


def brute_force(values, branch, weights, is_categorical):
    """The best agreement of any threshold in either direction, or of any sending of categories to sides."""
    known = [i for i in range(len(values)) if branch[i] >= 0 and values[i] is not None]
    whole = sum(weights[i] for i in known)
    if not known:
        return 0.0, 1.0
    majority = max(sum(weights[i] for i in known if branch[i] == side) for side in (0, 1)) / whole
    distinct = sorted({values[i] for i in known})
    if is_categorical:
        ways = [dict(zip(distinct, sides, strict=True)) for sides in product((0, 1), repeat=len(distinct))]
    else:
        ways = [{v: int(v > t) ^ turn for v in distinct} for t in distinct[:-1] for turn in (0, 1)]
    agreements = [sum(weights[i] for i in known if way[values[i]] == branch[i]) / whole for way in ways]
    return max(agreements, default=0.0), majority


@examples(100)
@given(st.integers(0, 2**32))
def test_agreement_is_the_best_there_is(seed):
    chance = np.random.default_rng(seed)
    n = int(chance.integers(2, 12))
    primary = [None if chance.random() < 0.2 else float(v) for v in chance.integers(0, 4, n)]
    number = [None if chance.random() < 0.3 else int(v) for v in chance.integers(0, 4, n)]
    colour = [None if chance.random() < 0.3 else "rgb"[v] for v in chance.integers(0, 3, n)]
    weights = chance.integers(1, 4, n)
    kinds = {"colour": Attribute("colour", Kind.CATEGORICAL, tuple("rgb"))}
    found, table = surrogates_for({"p": primary, "n": number, "colour": colour}, 1.5, weights, kinds)
    branch = [-1 if v is None else int(v > 1.5) for v in primary]
    for column, values in ((1, number), (2, colour)):
        best, majority = brute_force(values, branch, weights.tolist(), column == 2)
        stands_in = [s for s in found if s.split.column == column]
        assert bool(stands_in) == (best > majority + 1e-9)
        for one in stands_in:
            assert one.agreement == pytest.approx(best)
            taken = one.branches(table.columns[column])
            both = [i for i in range(n) if taken[i] >= 0 and branch[i] >= 0]
            agreed = sum(weights[i] for i in both if taken[i] == branch[i]) / sum(weights[i] for i in both)
            assert agreed == pytest.approx(one.agreement)
    assert [s.agreement for s in found] == sorted((s.agreement for s in found), reverse=True)


@examples(60)
@given(st.integers(0, 2**32), st.sampled_from([Task.CLASSIFICATION, Task.REGRESSION]))
def test_rows_stay_whole_and_training_rows_reach_the_leaves_they_trained(seed, task):
    samples = crowded_samples(np.random.default_rng(seed), task, max_rows=20)
    make = cart if task is Task.CLASSIFICATION else cart_for_numbers
    algorithm = make(min_samples_split=0, min_samples_leaf=0)
    samples = Samples(samples.attributes, samples.target, np.ones(len(samples)))
    algorithm = replace(algorithm, missing=MissingStrategy.SURROGATE)
    model = model_of(samples, algorithm)
    tree = model.tree
    view = full_view(tree)
    reached = leaves_reached(view, samples.attributes, MissingPolicy.SURROGATE)
    assert all(len(leaves) == 1 and leaves[0][1] == 1.0 for leaves in reached)
    for leaf in view.leaves:
        assert tree.weight[leaf] == sum(leaves[0][0] == leaf for leaves in reached)
    for node, candidates in candidates_by_node(view, samples, algorithm).items():
        chosen = next(one for one in candidates if one.split.column == tree.column[node])
        assert (chosen.gain, chosen.score) == (tree.gain[node], tree.score[node])
    again = load(dump(model))
    assert repr(again.tree.surrogates) == repr(tree.surrogates)
    assert np.array_equal(predict(again.view(0), samples.attributes), predict(view, samples.attributes))


def test_a_grown_tree_follows_its_surrogates_and_then_the_heavier_branch():
    samples = samples_of(
        {"size": [1, 2, 3, 7, 8, 9, None], "copy": [1, 2, 3, 7, 8, 9, 9]}, ["p", "p", "p", "q", "q", "q", "q"]
    )
    tree = grow(samples, replace(cart(), missing=MissingStrategy.SURROGATE))
    assert tree.column[0] == 1  # the copy is known everywhere
    assert [s.split.column for s in tree.surrogates[0]] == [0]
    records = table_of({"size": [9, 1, None], "copy": [None, None, None]}, {"copy": Attribute("copy", Kind.NUMERIC)})
    assert predict(full_view(tree), records).argmax(axis=1).tolist() == [1, 0, 1]
