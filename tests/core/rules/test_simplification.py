from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.criteria.binomial import upper_limits
from core.growth.held_out import labels_of
from core.growth.samples import Samples
from core.prediction.routing import predict
from core.rules.extraction import path_rules, rule_id, rule_text
from core.rules.simplification import CF, OrderedRules, _Candidates, simplified_rules
from core.tables.schema import Attribute, Kind
from core.tables.target import Task
from core.tree.conditions import Above, AtMost, Between, IsOneOf, holds
from tests.core.building import CUT, c45, cart, id3, model_of, samples_of
from tests.core.pruning.test_reduced_error import shuffled_targets
from tests.core.strategies import trainings
from tests.examples import examples
from tests.golden_tables import golden_samples


def error_of(labels: np.ndarray, samples: Samples) -> float:
    return float(samples.weights[labels != samples.target.codes].sum() / samples.weights.sum())


@examples(40)
@given(trainings(task=Task.CLASSIFICATION, missing=False), st.integers(0, 2**32))
def test_rules_are_no_more_than_leaves_and_at_most_a_point_worse_than_the_tree(training, seed):
    samples, algorithm = training
    model = model_of(samples, algorithm, validation=shuffled_targets(samples, seed), pruning=CUT)
    for step in {0, model.history.selected}:
        view = model.view(step)
        found = simplified_rules(view, samples)
        assert len(found.rules) <= len(view.leaves)
        by_tree = error_of(labels_of(predict(view, samples.attributes)), samples)
        assert error_of(found.labels(samples.attributes), samples) <= by_tree + 0.01 + 1e-9


@examples(40)
@given(trainings(task=Task.CLASSIFICATION))
def test_rules_say_what_they_cover_and_the_first_that_holds_answers(training):
    samples, algorithm = training
    model = model_of(samples, algorithm)
    found = simplified_rules(model.view(0), samples)
    paths = {path.leaf: path for path in path_rules(model.view(0), model.attributes)}
    answers = np.full(len(samples), found.default)
    is_open = np.ones(len(samples), dtype=bool)
    for rule in found.rules:
        assert rule.conditions
        assert rule.label == paths[rule.leaf].label
        assert {c.column for c in rule.conditions} <= {c.column for c in paths[rule.leaf].conditions}
        covers = np.array(
            [all(holds(c, samples.attributes.columns[c.column][row]) for c in rule.conditions) for row in samples.rows]
        )
        weights = np.bincount(samples.target.codes[covers], samples.weights[covers], len(model.classes))
        assert rule.weights == pytest.approx(tuple(weights))
        assert rule.support == pytest.approx(weights.sum() / samples.weights.sum())
        assert rule.id == rule_id(rule.conditions, model.attributes)
        answers[covers & is_open] = rule.label
        is_open &= ~covers
    assert found.labels(samples.attributes).tolist() == answers.tolist()
    assert len({(rule.id, rule.label) for rule in found.rules}) == len(found.rules)


@given(trainings(task=Task.CLASSIFICATION))
@examples(20)
def test_the_same_rows_give_the_same_rules(training):
    samples, algorithm = training
    model = model_of(samples, algorithm)
    assert simplified_rules(model.view(0), samples) == simplified_rules(model.view(0), samples)


def said(found: OrderedRules, model) -> list[str]:
    lines = [rule_text(rule, model.attributes, model.classes[rule.label]) for rule in found.rules]
    return [*lines, f"otherwise {model.classes[found.default]}"]


def test_a_condition_that_does_not_help_is_dropped():
    # Whatever b is, a tells the class; the tree asks b first all the same where it is told to.
    columns = {"b": list("uvuvuvuv"), "a": list("xxxxyyyy")}
    samples = samples_of(columns, list("ppppqqqq"))
    model = model_of(samples, id3())
    found = simplified_rules(model.view(0), samples)
    assert said(found, model) == ["if a = x then p", "if a = y then q", "otherwise p"]


def test_conditions_stay_whose_loss_raises_the_pessimistic_error_rate():
    with_it, without_it = upper_limits(np.array([0.0, 6.0]), np.array([4.0, 10.0]), CF)
    assert with_it < without_it
    samples = samples_of({"a": list("xxxxxxxxxxyyyyyy"), "b": list("uuuuvvvvvvuuuuuu")}, list("pppp" + "q" * 12))
    model = model_of(samples, id3())
    found = simplified_rules(model.view(0), samples)
    assert "if a = x and b = u then p" in said(found, model)


def test_each_end_of_an_interval_can_go_by_itself():
    kinds = {"s": Attribute("s", Kind.ORDINAL, ("1", "2", "3", "4"))}
    numbers = samples_of({"n": [1, 2, 3, 4, 5, 6, 7, 8]}, list("qqppppqp"))
    ordinals = samples_of({"s": list("11223344")}, list("qqppppqq"), kinds=kinds)
    for samples, form in ((numbers, (AtMost, Above, Between)), (ordinals, (IsOneOf,))):
        model = model_of(samples, cart())
        found = simplified_rules(model.view(0), samples)
        assert all(isinstance(c, form) for rule in found.rules for c in rule.conditions)
        assert error_of(found.labels(samples.attributes), samples) == 0


def test_a_row_without_the_value_is_not_covered():
    samples = samples_of({"a": ["x", "x", "x", "y", "y", "y", None]}, list("pppqqqq"))
    model = model_of(samples, id3())
    found = simplified_rules(model.view(0), samples)
    assert [rule.weights for rule in found.rules] == [(3.0, 0.0), (0.0, 3.0)]
    assert said(found, model)[-1] == "otherwise q"
    assert found.deciding(samples.attributes).tolist() == [0, 0, 0, 1, 1, 1, 2]


def test_a_single_leaf_is_the_default_alone():
    samples = samples_of({"a": [1, 2]}, ["p", "p"])
    assert simplified_rules(model_of(samples, cart()).view(0), samples) == OrderedRules((), 0)


def test_the_default_is_the_cheapest_class_where_wrong_answers_have_costs():
    samples = samples_of({"a": [1, 1, 1]}, ["p", "p", "q"])
    view = model_of(samples, cart()).view(0)
    costs = np.array([[0.0, 1.0], [9.0, 0.0]])
    assert simplified_rules(view, samples).default == 0
    assert simplified_rules(replace(view, tree=replace(view.tree, costs=costs)), samples).default == 1


def test_rules_of_the_watermelons():
    samples = golden_samples("watermelon_3.0")
    model = model_of(samples, c45())
    assert said(simplified_rules(model.view(0), samples), model) == [
        "if 含糖率 > 0.126 and 密度 > 0.3815 and 纹理 = 稍糊 and 脐部 = 稍凹 then 是",
        "if 密度 > 0.3815 and 纹理 = 清晰 then 是",
        "otherwise 否",
    ]


def test_where_rules_would_be_more_than_leaves_the_paths_are_taken(monkeypatch):
    samples = golden_samples("watermelon_3.0")
    model = model_of(samples, c45())
    monkeypatch.setattr(_Candidates, "with_needed", lambda self, *_: np.arange(len(self.rules)))
    found = simplified_rules(model.view(0), samples)
    paths = [path for path in path_rules(model.view(0), model.attributes) if path.support > 0]
    assert [rule.id for rule in found.rules] == [path.id for path in paths]
