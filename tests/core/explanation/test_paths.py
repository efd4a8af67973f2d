import math

import pytest
from hypothesis import given

from core.explanation.paths import Explainer, Outcome, holes_of
from core.prediction.routing import MissingPolicy, leaves_reached
from core.records.records import encode_records
from core.tables.schema import Attribute, Kind
from core.tree.tree import full_view
from tests.core.both_engines import grow
from tests.core.building import id3, samples_of
from tests.core.prediction.test_answers import sent
from tests.core.strategies import trainings
from tests.examples import examples
from tests.golden_tables import golden_samples

pytestmark = pytest.mark.bounds


@examples(60)
@given(trainings())
def test_the_weight_of_a_path_is_the_product_of_its_tests(training):
    samples, algorithm = training
    tree, _ = grow(samples, algorithm)
    view, records = full_view(tree), sent(samples.attributes)
    explainer = Explainer(view, samples.attributes.schema)
    for policy in MissingPolicy:
        for row, reached in enumerate(leaves_reached(view, samples.attributes, policy)):
            for leaf, weight in reached:
                path = explainer.path(leaf, weight, policy, holes_of(records, row))
                assert (path.leaf, path.weight) == (leaf, weight)
                assert len(path.tests) == tree.depth[leaf]
                assert math.prod(test.weight for test in path.tests) == weight


def test_a_missing_texture_goes_three_ways():
    samples = golden_samples("watermelon_2.0a")
    tree, _ = grow(samples, id3(max_depth=1))
    schema = samples.attributes.schema
    records = encode_records([{"触感": "硬滑"}, {"纹理": "光滑"}], schema, ignorable=(), ignore_unknown=False)
    view = full_view(tree)
    explainer = Explainer(view, schema)
    reached = leaves_reached(view, records.table, MissingPolicy.WEIGHTED)
    for row, outcome in ((0, Outcome.MISSING), (1, Outcome.UNSEEN)):
        holes = holes_of(records, row)
        paths = [explainer.path(leaf, w, MissingPolicy.WEIGHTED, holes) for leaf, w in reached[row]]
        tests = [path.tests[0] for path in paths]
        assert [test.test for test in tests] == ["= 清晰", "= 稍糊", "= 模糊"]
        assert [test.weight for test in tests] == pytest.approx([7 / 15, 5 / 15, 3 / 15])
        assert {(test.node, test.attribute, test.outcome) for test in tests} == {(0, "纹理", outcome)}


def test_a_known_value_is_a_true_test_of_weight_1():
    kinds = {"a": Attribute("a", Kind.CATEGORICAL, ("x", "y"))}
    samples = samples_of({"a": ["x", "x", "y"]}, ["p", "p", "q"], kinds=kinds)
    tree, _ = grow(samples, id3())
    path = Explainer(full_view(tree), samples.attributes.schema).path(2, 1.0, MissingPolicy.WEIGHTED, {})
    assert [(t.outcome, t.weight, t.test) for t in path.tests] == [(Outcome.TRUE, 1.0, "= y")]


def test_a_path_that_stops_early_has_only_the_tests_passed():
    samples = samples_of({"a": ["x", "x", "y"]}, ["p", "p", "q"])
    tree, _ = grow(samples, id3())
    explainer = Explainer(full_view(tree), samples.attributes.schema)
    path = explainer.path(0, 1.0, MissingPolicy.LAST_NODE, {0: Outcome.MISSING})
    assert path.tests == ()
