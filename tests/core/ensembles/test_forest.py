"""A forest keeps little of each tree, and gives it back whole."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given

from core.engine.definition import grow
from core.ensembles.forest import narrowed
from core.ensembles.growing_forest import forest_of
from core.tree.tree import Tree
from tests.core.building import c45, cart, cart_for_numbers, samples_of
from tests.core.strategies import trainings

ROWS = {"x": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5], "colour": ["red", "red", "blue", "blue", "green", "red"]}


def assert_same_tree(found: Tree, wanted: Tree) -> None:
    for field in fields(Tree):
        one, other = getattr(found, field.name), getattr(wanted, field.name)
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype, field.name
            assert one.tobytes() == other.tobytes(), field.name
        else:
            assert one == other, field.name


@given(trainings(max_outputs=2))
def test_a_member_comes_back_to_the_last_bit(training):
    samples, algorithm = training
    trees = [grow(samples, algorithm, seed=seed) for seed in (0, 1)]
    forest = forest_of(trees, [0, 0], [algorithm.criterion.kind], [samples.cuts])
    for number, tree in enumerate(trees):
        assert_same_tree(forest.tree(number), tree)


def test_kinds_may_differ():
    samples = samples_of(ROWS, ["a", "b", "a", "b", "a", "b"])
    algorithms = [cart(), c45()]
    trees = [grow(samples, algorithm) for algorithm in (*algorithms, *algorithms)]
    forest = forest_of(trees, [0, 1, 0, 1], [each.criterion.kind for each in algorithms], [(), ()])
    assert len(forest) == 4
    assert forest.n_nodes == sum(map(len, trees))
    for number, tree in enumerate(trees):
        assert_same_tree(forest.tree(number), tree)


def test_of_counted_rows_little_is_kept():
    samples = samples_of(ROWS, ["a", "b", "a", "b", "a", "b"])
    forest = forest_of([grow(samples, cart())], [0], [cart().criterion.kind], [()])
    assert set(forest.columns) == {"size", "column", "kind", "threshold", "gain", "values", "variances"}
    assert forest.columns["values"].dtype == np.uint8


def test_numbers_keep_their_digits():
    samples = samples_of(ROWS, [0.1, 0.2, 0.3, 1e9, 5.0, 7.0])
    tree = grow(samples, cart_for_numbers())
    assert_same_tree(forest_of([tree], [0], [cart_for_numbers().criterion.kind], [()]).tree(0), tree)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [([0.0, 255.0], np.uint8), ([-1.0, 5.0], np.int8), ([0.0, 70_000.0], np.uint32), ([0.5], np.float64),
     ([-0.0], np.float64), ([np.nan], np.float64), ([1e300], np.float64), ([], np.uint8)],
)  # fmt: skip
def test_numbers_take_the_narrowest_type_that_holds_them(values, wanted):
    assert narrowed(np.array(values, dtype=np.float64)).dtype == wanted
