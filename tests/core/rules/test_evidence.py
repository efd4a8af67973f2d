from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.rules.evidence import class_evidence, number_evidence
from core.rules.extraction import path_rules
from core.tables.schema import Attribute, Kind
from tests.core.building import cart_for_numbers, id3, model_of, samples_of

KINDS = {"a": Attribute("a", Kind.CATEGORICAL, ("u", "v", "empty"))}


def test_a_class_has_its_share_its_interval_and_its_lift():
    model = model_of(samples_of({"a": list("uuuuvv")}, list("pppqqq"), kinds=KINDS), id3())
    found = class_evidence(model.tree, path_rules(model.view(0), model.attributes))
    exact = stats.binomtest(3, 4).proportion_ci(0.95, "exact")
    assert found[0].confidence == 0.75
    assert found[0].interval == pytest.approx((exact.low, exact.high), rel=1e-9)
    assert [one.lift for one in found] == [1.5, 2.0, 1.0]


def test_a_rule_without_samples_is_as_sure_as_its_parent_and_has_no_evidence():
    model = model_of(samples_of({"a": list("uuv")}, list("ppq"), kinds=KINDS), id3())
    *_, empty = class_evidence(model.tree, path_rules(model.view(0), model.attributes))
    assert empty.confidence == pytest.approx(2 / 3)
    assert empty.interval == (0.0, 1.0)


def test_a_class_that_no_sample_has_has_no_lift():
    samples = samples_of({"a": list("uv")}, ["p", "q"], classes=("p", "q", "never"))
    tree = replace(model_of(samples, id3()).tree, costs=np.array([[0.0, 9, 0], [9.0, 0, 0], [1.0, 1, 0]]))
    rules = path_rules(replace(model_of(samples, id3()).view(0), tree=tree), samples.attributes.schema)
    never = class_evidence(tree, [replace(rules[0], label=2)])
    assert (never[0].confidence, never[0].lift) == (0.0, None)


def test_a_number_has_the_interval_of_its_mean():
    target = [1.0, 2.0, 4.0, 50.0]
    model = model_of(samples_of({"a": [1, 2, 3, 9]}, target), cart_for_numbers(max_depth=1))
    several, single = number_evidence(model.tree, path_rules(model.view(0), model.attributes))
    expected = stats.t.interval(0.95, 2, np.mean(target[:3]), stats.sem(target[:3]))
    assert several.means == pytest.approx((7 / 3,))
    assert several.spreads == pytest.approx((np.std(target[:3]),))
    assert several.intervals[0] == pytest.approx(expected, rel=1e-9)
    assert single.intervals is None


def test_no_rules_have_no_evidence():
    classes = model_of(samples_of({"a": [1, 2]}, ["p", "q"]), id3())
    numbers = model_of(samples_of({"a": [1, 2]}, [1.0, 2.0]), cart_for_numbers())
    assert class_evidence(classes.tree, []) == number_evidence(numbers.tree, []) == []
