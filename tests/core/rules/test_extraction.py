from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import BinsAs, ConfidencePruning, Numeric, NumericKind
from core.growth.precut import with_cuts
from core.prediction.routing import MissingPolicy, leaves_reached
from core.pruning.confidence import prune_by_confidence
from core.rules.extraction import path_rules, rule_text
from core.rules.simplification import covered
from core.tables.schema import Attribute, Kind
from core.tables.target import Task
from core.tree.conditions import holds
from core.tree.history import Ledger
from tests.core.both_engines import grow
from tests.core.building import CUT, cart, id3, model_of, samples_of
from tests.core.completions import complete_records
from tests.core.pruning.test_reduced_error import shuffled_targets
from tests.core.strategies import trainings
from tests.examples import examples
from tests.golden_tables import golden_samples

pytestmark = pytest.mark.bounds


@examples(100)
@given(trainings(max_columns=3, max_rows=9), st.integers(0, 2**32))
def test_every_complete_record_satisfies_exactly_one_rule_and_that_is_its_leafs(training, seed):
    samples, algorithm = training
    model = model_of(samples, algorithm, validation=shuffled_targets(samples, seed), pruning=CUT)
    if any(not a.categories and a.kind is not Kind.NUMERIC for a in model.attributes):
        return
    records = complete_records(model.tree, samples.attributes)
    for step in {0, model.history.selected}:
        rules = path_rules(model.view(step), model.attributes)
        reached = leaves_reached(model.view(step), records, MissingPolicy.WEIGHTED)
        for row in range(records.n_rows):
            met = [
                rule.leaf for rule in rules if all(holds(c, records.columns[c.column][row]) for c in rule.conditions)
            ]
            assert met == [reached[row][0][0]]
        assert sum(rule.support for rule in rules) == pytest.approx(1.0)


@examples(40)
@given(trainings(max_columns=3, max_rows=12))
def test_rules_of_intervals_are_exclusive_and_complete(training):
    intervals = Numeric(NumericKind.UNIFORM, bins=3, bins_as=BinsAs.INTERVALS)
    samples, algorithm = with_cuts(training[0], intervals), replace(training[1], numeric=intervals)
    model = model_of(samples, algorithm)
    if any(not a.categories and a.kind is not Kind.NUMERIC for a in model.attributes):
        return
    records = complete_records(model.tree, samples.attributes)
    rules = path_rules(model.view(0), model.attributes)
    reached = leaves_reached(model.view(0), records, MissingPolicy.WEIGHTED)
    for row in range(records.n_rows):
        met = [rule.leaf for rule in rules if all(holds(c, records.columns[c.column][row]) for c in rule.conditions)]
        assert met == [reached[row][0][0]]


@examples(60)
@given(trainings(max_columns=3, max_rows=9, task=Task.CLASSIFICATION))
def test_rules_stay_exclusive_and_complete_where_branches_are_raised(training):
    samples, algorithm = training
    if any(not a.categories and a.kind is not Kind.NUMERIC for a in samples.attributes.schema):
        return
    ledger = Ledger(grow(samples, algorithm)[0])
    prune_by_confidence(ledger, ConfidencePruning(raising=True), algorithm, samples)
    history = ledger.finished()
    records = complete_records(history.tree, samples.attributes)
    for step in range(len(history.steps) + 1):
        view = history.view(step)
        rules = path_rules(view, samples.attributes.schema)
        covers = covered(rules, records)
        assert covers.sum(axis=0).tolist() == [1] * records.n_rows
        reached = leaves_reached(view, records, MissingPolicy.WEIGHTED)
        assert [rules[position].leaf for position in covers.argmax(axis=0)] == [leaf for ((leaf, _),) in reached]


def test_rules_of_watermelon_3_0():
    samples = golden_samples("watermelon_3.0")
    model = model_of(samples, id3())
    rules = path_rules(model.view(0), model.attributes)
    said = [rule_text(rule, model.attributes, model.classes[model.tree.labels[rule.leaf]]) for rule in rules]
    assert said == [
        "if 纹理 = 清晰 and 密度 <= 0.3815 then 否",
        "if 纹理 = 清晰 and 密度 > 0.3815 then 是",
        "if 纹理 = 稍糊 and 触感 = 硬滑 then 否",
        "if 纹理 = 稍糊 and 触感 = 软粘 then 是",
        "if 纹理 = 模糊 then 否",
    ]
    assert [rule.support for rule in rules] == pytest.approx([2 / 17, 7 / 17, 4 / 17, 1 / 17, 3 / 17])


def test_a_tree_of_one_leaf_is_a_rule_without_conditions():
    model = model_of(samples_of({"a": [1, 2]}, ["p", "p"]), cart())
    (rule,) = path_rules(model.view(0), model.attributes)
    assert rule.conditions == ()
    assert rule.support == 1.0
    assert rule_text(rule, model.attributes, "p") == "always p"


def test_equal_conditions_have_the_same_id_in_every_model():
    one = model_of(samples_of({"a": list("xxyy"), "n": [1, 2, 3, 4]}, list("ppqq")), id3())
    other = model_of(samples_of({"n": [1, 2, 3, 4], "a": list("xxyy")}, list("qqpp")), cart(max_depth=1))
    third = model_of(samples_of({"a": list("xxyy")}, list("ppqq"), weights=[3, 3, 3, 3]), id3())
    ids = [[rule.id for rule in path_rules(m.view(0), m.attributes)] for m in (one, other, third)]
    assert ids[0] == ids[2]
    assert set(ids[0]).isdisjoint(ids[1])
    assert all(rule_id.startswith("rule_") for rule_id in ids[0])
    assert len(set(ids[0])) == 2


def test_the_same_interval_by_another_path_is_the_same_rule():
    kinds = {"size": Attribute("size", Kind.ORDINAL, ("S", "M", "L"))}
    samples = samples_of({"size": ["S", "M", "L", "L"]}, list("pqrr"), kinds=kinds)
    rules = path_rules(model_of(samples, cart()).view(0), samples.attributes.schema)
    said = [rule_text(rule, samples.attributes.schema, "?") for rule in rules]
    assert said == ["if size = S then ?", "if size = M then ?", "if size = L then ?"]


def test_commas_in_names_do_not_make_two_rules_one():
    model = model_of(samples_of({"a": ["a", "b, c", "a, b", "c"]}, list("ppqq")), cart())
    one, other = path_rules(model.view(0), model.attributes)
    assert one.id != other.id
