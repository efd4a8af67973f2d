"""Trees of random cuts, and how soon rows are alone in them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import IsolationForest as PeerForest
from sklearn.ensemble._iforest import _average_path_length

from core.config.options import Isolation
from core.ensembles.balance.neighbours import points_of
from core.ensembles.isolation.isolation import (
    grow_isolation,
    grow_tree,
    random_cut,
    random_groups,
    random_split,
    sampled_rows,
    usual_length,
)
from core.ensembles.isolation.scores import PIECE_ROWS, IsolationPredictor
from core.evaluation.measures import area_under_curve
from core.splits.split import SplitKind
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tree.tree import full_view
from tests.core.building import table_of
from tests.core.strategies import tables

pytestmark = pytest.mark.bounds


def numeric_table(numbers):
    names = [Attribute(f"x{column}", Kind.NUMERIC) for column in range(numbers.shape[1])]
    return Table(Schema(tuple(names)), tuple(np.ascontiguousarray(values) for values in numbers.T))


def crowd(n_rows=600, n_outliers=20, n_columns=4, seed=0):
    """Rows around two places, and a few anywhere; which are the few."""
    chance = np.random.default_rng(seed)
    usual = chance.normal(size=(n_rows, n_columns)) + chance.choice([0.0, 6.0], size=(n_rows, 1))
    outliers = chance.uniform(-12, 18, size=(n_outliers, n_columns))
    is_outlier = np.arange(n_rows + n_outliers) >= n_rows
    return np.concatenate([usual, outliers]), is_outlier


def lengths(isolation, table, **options):
    return IsolationPredictor(isolation).path_lengths(table, **({"kernels": False} | options))


@pytest.mark.parametrize(
    ("n", "wanted"), [(0, 0.0), (1, 0.0), (2, 1.0), (3, 1.2073923), (256, 10.2447709), (1.5, 0.5), (2.5, 1.1036962)]
)
def test_the_usual_length_of_a_search(n, wanted):
    assert usual_length(n) == pytest.approx(wanted)


def test_the_usual_length_is_that_of_scikit_learn():
    sizes = np.arange(1, 300)
    assert [usual_length(n) for n in sizes.tolist()] == pytest.approx(_average_path_length(sizes).tolist())


def test_rows_alone_end_at_their_depth_and_crowds_are_longer():
    isolation = grow_isolation(table_of({"x": [0.0, 0.1, 0.2, 0.3, 100.0]}), Isolation(n_trees=400), seed=1)
    found = lengths(isolation, table_of({"x": [0.0, 0.1, 0.2, 0.3, 100.0]}))
    assert isolation.n_sampled == 5
    # The far row is cut off by nearly every first cut, and by the second in the others.
    assert found[4] == pytest.approx(1.0, abs=0.05)
    assert (found[:4] > 2.0).all()
    scores = isolation.scores(found)
    assert scores[4] == pytest.approx(2 ** (-found[4] / usual_length(5)))
    assert scores[4] > 0.7 > 0.6 > scores[:4].max()


def test_trees_stop_at_the_limit_of_depth():
    table = numeric_table(np.random.default_rng(0).normal(size=(1000, 3)))
    for isolation, deepest in ((Isolation(n_trees=5), 8), (Isolation(n_trees=5, sample_size=100), 7)):
        forest = grow_isolation(table, isolation, seed=0).forest
        for number in range(5):
            tree = forest.tree(number)
            assert tree.depth.max() == deepest
            assert tree.weight[0] == isolation.sample_size
            leaves = full_view(tree).leaves
            assert tree.weight[leaves].sum() == isolation.sample_size
            for leaf in leaves:
                assert tree.depth[leaf] == deepest or tree.weight[leaf] == 1
                assert tree.values[leaf, 0] == tree.depth[leaf] + usual_length(float(tree.weight[leaf]))


def test_rows_that_are_alike_are_not_cut():
    isolation = grow_isolation(table_of({"x": [1.0] * 30, "c": ["a"] * 30}), Isolation(n_trees=3), seed=0)
    assert isolation.forest.n_nodes == 3
    assert isolation.scores(lengths(isolation, table_of({"x": [7.0], "c": [None]}))).tolist() == [0.5]


def test_a_single_row_is_compared_with_nothing():
    isolation = grow_isolation(table_of({"x": [1.0]}), Isolation(n_trees=3), seed=0)
    assert isolation.scores(lengths(isolation, table_of({"x": [1.0, 9.0]}))).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("n_rows", [256, 300, 100_000])
def test_samples_are_of_different_rows(n_rows):
    drawn = [sampled_rows(n_rows, 256, seed=4, tree=tree) for tree in range(8)]
    for rows in drawn:
        assert len(set(rows.tolist())) == 256
        assert (np.diff(rows) > 0).all()
        assert rows.max() < n_rows
    if n_rows > 256:
        assert drawn[0].tolist() != drawn[1].tolist()


def test_every_row_is_sampled_equally_often():
    times = np.bincount(np.concatenate([sampled_rows(60, 10, seed=0, tree=tree) for tree in range(3000)]), minlength=60)
    assert ((times - 500) ** 2 / (500 * 50 / 60)).sum() < 98.3  # chi-squared, 59 degrees of freedom, p = 0.001


def test_attributes_that_vary_are_asked_equally_often():
    table = table_of({"a": [1.0, 1.0, None], "b": [0.0, 1.0, 5.0], "c": ["u", "v", "u"], "d": [None] * 3})
    splits = [random_split(points_of(table), table.schema, key) for key in range(2000)]
    times = np.bincount([split.column for split in splits], minlength=4)
    assert times[[0, 3]].tolist() == [0, 0]
    assert times[1] == pytest.approx(1000, abs=110)
    cuts = np.array([split.threshold for split in splits if split.column == 1])
    assert np.quantile(cuts, [0.0, 0.25, 0.5, 0.75, 1.0]) == pytest.approx([0.0, 1.25, 2.5, 3.75, 5.0], abs=0.3)
    assert {split.branch_of for split in splits if split.column == 2} == {(0, 1), (1, 0)}
    assert {split.kind for split in splits} == {SplitKind.THRESHOLD, SplitKind.GROUPS}


@given(st.floats(-1e308, 1e308), st.floats(-1e308, 1e308), st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_a_cut_leaves_something_on_both_sides(one, other, position):
    low, high = min(one, other), max(one, other)
    if low < high:
        assert low <= random_cut(low, high, position) < high


@given(st.integers(2, 6), st.integers(0, 1000))
def test_groups_are_never_empty_and_categories_that_are_not_there_have_no_branch(n_present, key):
    present = list(range(1, n_present + 1))
    branch_of = random_groups(present, n_present + 2, key)
    assert set(branch_of[1 : n_present + 1]) == {0, 1}
    assert (branch_of[0], branch_of[-1]) == (-1, -1)


def test_what_is_missing_goes_down_both_branches_by_weight():
    table = table_of({"x": [0.0, 1.0, 10.0, None], "c": ["a", "a", "a", "a"]})
    tree = grow_tree(table, 1, seed=0)
    left, right = tree.children(0)
    n_left = 1 if tree.threshold[0] < 1 else 2
    assert tree.share[[left, right]].tolist() == [n_left / 3, (3 - n_left) / 3]
    assert tree.weight[left] == pytest.approx(n_left + n_left / 3)
    assert tree.values[left, 0] == 1 + usual_length(float(tree.weight[left]))


@given(tables(min_rows=2, max_rows=30), st.integers(0, 9))
def test_any_table_is_scored_and_the_kernel_gives_the_same_bits(table, seed):
    isolation = grow_isolation(table, Isolation(n_trees=4, sample_size=0.8), seed=seed)
    many = table.take(np.arange(80) % table.n_rows)
    by_definition = lengths(isolation, many)
    assert (by_definition >= 0).all()
    for threads in (1, 2):
        by_kernel = lengths(isolation, many, kernels=True, threads=threads)
        assert by_kernel.tobytes() == by_definition.tobytes()
    scores = isolation.scores(by_definition)
    assert ((scores > 0) & (scores <= 1)).all()


def test_many_rows_by_many_threads_are_the_same_bits():
    numbers, _ = crowd(2 * PIECE_ROWS + 77)
    numbers[::97, 1] = np.nan
    table = numeric_table(numbers)
    isolation = grow_isolation(table, Isolation(n_trees=10), seed=2)
    one, three = (lengths(isolation, table, kernels=True, threads=threads) for threads in (1, 3))
    assert one.tobytes() == three.tobytes()
    some = np.arange(0, table.n_rows, 50)
    assert lengths(isolation, table.take(some)).tobytes() == one[some].tobytes()


def test_the_same_seed_gives_the_same_forest():
    table = numeric_table(crowd()[0])
    one, same, other = (grow_isolation(table, Isolation(n_trees=6), seed=seed).forest for seed in (3, 3, 4))
    assert one.columns["threshold"].tobytes() == same.columns["threshold"].tobytes()
    assert one.columns["threshold"].tobytes() != other.columns["threshold"].tobytes()


@pytest.mark.parametrize("n_columns", [2, 5, 10])
def test_outliers_are_found_as_well_as_by_scikit_learn(n_columns):
    """The area under the ROC curve, the mean of 5 seeds: a single forest's varies by about as much as is allowed."""
    areas = []
    for seed in range(5):
        numbers, is_outlier = crowd(1500, 60, n_columns, seed)
        isolation = grow_isolation(numeric_table(numbers), Isolation(), seed=seed)
        ours = isolation.scores(lengths(isolation, numeric_table(numbers), kernels=True))
        theirs = -PeerForest(random_state=seed).fit(numbers).score_samples(numbers)
        areas.append([area_under_curve(scores, is_outlier, np.ones(len(numbers))) for scores in (ours, theirs)])
    ours, theirs = np.mean(areas, axis=0)
    assert theirs > 0.9
    assert ours > theirs - 0.01
    assert abs(ours - theirs) < 0.01


def test_scores_are_as_large_as_those_of_scikit_learn():
    numbers, _ = crowd(3000, 100)
    isolation = grow_isolation(numeric_table(numbers), Isolation(n_trees=300), seed=0)
    ours = isolation.scores(lengths(isolation, numeric_table(numbers), kernels=True))
    theirs = -PeerForest(n_estimators=300, random_state=0).fit(numbers).score_samples(numbers)
    assert ours.mean() == pytest.approx(theirs.mean(), abs=0.005)
    assert ours.std() == pytest.approx(theirs.std(), rel=0.05)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.98


def test_a_rare_category_and_a_row_that_nothing_is_known_of():
    chance = np.random.default_rng(0)
    colours = [*chance.choice(["red", "blue"], 400).tolist(), "black"]
    table = table_of({"colour": colours, "size": [*chance.choice(["s", "m"], 400).tolist(), "s"]})
    isolation = grow_isolation(table, Isolation(n_trees=200), seed=0)
    asked = table_of({"colour": ["red", "black", None], "size": ["s", "s", None]}, dict(
        zip(("colour", "size"), table.schema, strict=True)
    ))  # fmt: skip
    usual, rare, unknown = isolation.scores(lengths(isolation, asked))
    assert rare > usual + 0.01
    assert usual - 0.05 < unknown < rare
    assert math.isclose(isolation.n_sampled, 256)
