import pytest
from hypothesis import given

from core.engine.considered import candidates_by_node, spent_above
from core.tree.tree import full_view
from tests.core.both_engines import grow
from tests.core.building import id3
from tests.core.strategies import trainings
from tests.examples import examples
from tests.golden_tables import golden_samples

pytestmark = pytest.mark.bounds


@examples(80)
@given(trainings())
def test_the_chosen_split_is_among_the_candidates_bit_for_bit(training):
    samples, algorithm = training
    tree, _ = grow(samples, algorithm)
    considered = candidates_by_node(full_view(tree), samples, algorithm)
    assert sorted(considered) == [node for node in range(len(tree)) if tree.size[node] > 1]
    for node, candidates in considered.items():
        columns = [one.split.column for one in candidates]
        assert columns == sorted(columns)
        split = tree.split(node)
        chosen = next(c for c in candidates if (c.split.column, c.split.branch_of) == (split.column, split.branch_of))
        assert chosen.split.branch_of == tree.split(node).branch_of
        assert (chosen.gain, chosen.score) == (tree.gain[node], tree.score[node])
        assert repr(chosen.split.threshold) == repr(tree.split(node).threshold)


def test_attributes_spent_above_are_not_considered_again():
    samples = golden_samples("watermelon_2.0")
    tree, _ = grow(samples, id3())
    considered = candidates_by_node(full_view(tree), samples, id3())
    texture = samples.attributes.schema.column("纹理")
    for node, candidates in considered.items():
        assert spent_above(tree, node) == ({texture, *spent_above(tree, node)} if node else set())
        assert texture not in {one.split.column for one in candidates} or node == 0
