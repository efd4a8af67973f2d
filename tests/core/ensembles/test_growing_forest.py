"""Trees may be finished in any order: the forest is the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import CriterionKind
from core.engine.definition import grow
from core.ensembles.growing_forest import GrowingForest, MemberPart, forest_of, part_of_forest
from core.tree.tree import Tree
from tests.core.building import cart, samples_of
from tests.core.ensembles.test_forest import assert_same_tree

NUMBERS = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
# Weights of the second tree are no sums of its class weights to the last bit, so it keeps a field that follows in the
# others; sums of the third are too many for a byte.
WEIGHTS = ([1.0] * 6, [0.5, 0.5, 0.7, 0.9, 0.1, 0.2], [100.0] * 6, [2.0] * 6)


def trees() -> list[Tree]:
    return [
        grow(samples_of({"x": NUMBERS}, ["a", "b", "a", "c", "a", "b"], weights=weights), cart()) for weights in WEIGHTS
    ]


def part_of(tree: Tree) -> MemberPart:
    return part_of_forest(tree, CriterionKind.GINI)


@given(st.permutations(range(4)))
def test_the_order_in_which_trees_are_finished_does_not_matter(order: list[int]) -> None:
    grown, growing = trees(), GrowingForest([0] * 4, [CriterionKind.GINI])
    for number in order:
        growing.add(number, part_of(grown[number]))
    forest, wanted = growing.finished([()]), forest_of(grown, [0] * 4, [CriterionKind.GINI], [()])
    assert forest.start.tolist() == wanted.start.tolist()
    for name, values in wanted.columns.items():
        assert forest.columns[name].dtype == values.dtype
        assert forest.columns[name].tobytes() == values.tobytes()
    for number, tree in enumerate(grown):
        assert_same_tree(forest.tree(number), tree)


def test_a_field_that_follows_in_some_trees_only_is_kept_of_all() -> None:
    grown = trees()
    assert ["weight" in part_of(tree).columns for tree in grown] == [False, True, False, False]
    assert "weight" in forest_of(grown, [0] * 4, [CriterionKind.GINI], [()]).columns
    assert "weight" not in forest_of([grown[0], grown[2]], [0] * 2, [CriterionKind.GINI], [()]).columns


def test_a_tree_that_waits_is_not_changed_by_the_next_one_in_its_room() -> None:
    grown, growing = trees(), GrowingForest([0] * 2, [CriterionKind.GINI])
    room = part_of(grown[2])
    growing.add(1, room)
    for values in room.columns.values():
        values[:] = np.zeros(1, dtype=values.dtype)
    growing.add(0, part_of(grown[0]))
    assert_same_tree(growing.finished([()]).tree(1), trees()[2])
