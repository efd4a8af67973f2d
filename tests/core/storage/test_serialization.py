import json
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import BinsAs, Numeric, NumericKind
from core.drawing.text import tree_text
from core.growth.precut import with_cuts
from core.prediction.routing import MissingPolicy, leaves_reached, predict
from core.rules.extraction import path_rules, rule_text
from core.splits.split import SplitKind, Term
from core.storage.serialization import TREE_ARRAYS, UnknownFormatError, dump, load
from core.tables.schema import Attribute, Kind
from core.tables.target import ClassTarget, Task
from core.tree.history import Decision, Steps
from core.tree.model import Model
from core.tree.tree import SPLIT_KINDS
from tests.core.building import CUT, cart, cart_for_numbers, id3, model_of, samples_of, table_of
from tests.core.pruning.test_reduced_error import shuffled_targets
from tests.core.stored_models import (
    classification_model,
    linear_model,
    merged_groups_model,
    regression_model,
    several_numbers_model,
    stored,
)
from tests.core.strategies import trainings
from tests.examples import examples


def assert_same_model(one: Model, other: Model):
    for field in fields(Model):
        if field.name not in ("history", "data_thresholds"):
            assert getattr(one, field.name) == getattr(other, field.name), field.name
    assert (one.data_thresholds is None) is (other.data_thresholds is None)
    if one.data_thresholds is not None:
        assert one.data_thresholds.tobytes() == other.data_thresholds.tobytes()
    assert one.history.steps == other.history.steps
    assert one.tree.task is other.tree.task
    for name in TREE_ARRAYS:
        mine, theirs = getattr(one.tree, name), getattr(other.tree, name)
        assert mine.dtype == theirs.dtype, name
        assert mine.shape == theirs.shape, name
        assert mine.tobytes() == theirs.tobytes(), name


@pytest.mark.slow
@examples(80)
@given(trainings(max_outputs=3), st.integers(0, 2**32))
def test_what_is_loaded_is_what_was_dumped(training, seed):
    samples, algorithm = training
    n_outputs = 1 if isinstance(samples.target, ClassTarget) else samples.target.numbers.shape[1]
    target = "y" if n_outputs == 1 else tuple("xyz"[:n_outputs])
    model = model_of(samples, algorithm, validation=shuffled_targets(samples, seed), pruning=CUT, target=target)
    content = dump(model)
    again = load(content)
    assert_same_model(model, again)
    assert dump(again) == content == dump(model)
    selected = model.history.selected
    assert np.array_equal(
        predict(again.view(selected), samples.attributes), predict(model.view(selected), samples.attributes)
    )


def test_loaded_models_can_be_used_like_trained_ones():
    model = load(dump(classification_model()))
    for step in range(model.history.selected + 1):
        assert tree_text(model, step) == tree_text(classification_model(), step)


@pytest.mark.parametrize("make", [classification_model, regression_model])
def test_the_byte_order_of_arrays_does_not_matter(make):
    model = make()
    swapped = {
        name: getattr(model.tree, name).astype(getattr(model.tree, name).dtype.newbyteorder(">"))
        for name in TREE_ARRAYS
    }
    tree = replace(model.tree, **swapped)
    assert dump(replace(model, history=replace(model.history, tree=tree))) == dump(model)


def test_arrays_that_are_not_contiguous_give_the_same_bytes():
    model = classification_model()
    spread = np.repeat(model.tree.values, 2, axis=1)[:, ::2]
    assert not spread.flags.c_contiguous
    tree = replace(model.tree, values=spread)
    assert dump(replace(model, history=replace(model.history, tree=tree))) == dump(model)


def test_the_order_of_evidence_does_not_matter():
    model = classification_model()
    turned = tuple(replace(s, evidence=dict(reversed(s.evidence.items()))) for s in model.history.steps)
    assert dump(replace(model, history=replace(model.history, steps=Steps.of(turned)))) == dump(model)


def test_the_header_is_sorted_json_in_plain_unicode_without_blanks():
    content = dump(classification_model())
    assert content.startswith(b"NIWAKI\x01")
    length = int.from_bytes(content[7:15], "little")
    text = content[15 : 15 + length].decode()
    header = json.loads(text)
    assert text == json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert "脐部" in text
    sizes = [int(np.prod(a["shape"])) * np.dtype(a["type"]).itemsize for a in header["arrays"]]
    assert len(content) == 15 + length + sum(sizes)
    assert all(a["type"][0] in "<|" for a in header["arrays"])


def test_names_of_any_language_and_absent_evidence_survive():
    samples = samples_of({'a "b"\\': ["<x>", "🍉", "<x>"]}, ["是", "否 & no", "是"])
    model = model_of(samples, id3(), target="好\n瓜")
    again = load(dump(model))
    assert_same_model(model, again)
    with_alpha = replace(classification_model().history.steps[0], alpha=0.25, evidence={"x": 1.0})
    steps = (with_alpha, *classification_model().history.steps[1:])
    history = replace(classification_model().history, steps=Steps.of(steps))
    assert load(dump(replace(classification_model(), history=history))).history.steps == steps


def test_loaded_arrays_can_be_used_and_are_our_own():
    model = load(dump(regression_model()))
    assert model.tree.weight.flags.owndata
    assert model.tree.weight.dtype.isnative


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"niwaki\x01", b"\x80\x04."])
def test_other_bytes_are_refused(content):
    with pytest.raises(UnknownFormatError, match="not a Niwaki model"):
        load(content)


def test_a_format_from_the_future_is_refused_by_its_number():
    with pytest.raises(UnknownFormatError, match="reads model format 1, not 2"):
        load(b"NIWAKI\x02" + dump(regression_model())[7:])


# The stored examples of format 1: they must stay readable for ever.


def test_the_stored_classification_model_is_still_read():
    model = load(stored("classification"))
    assert (model.task, model.target, model.classes) == (Task.CLASSIFICATION, "好瓜", ("是", "否"))
    assert model.attributes.names == ("脐部", "色泽", "根蒂", "敲声", "纹理", "触感")
    assert model.attributes[0] == Attribute("脐部", Kind.CATEGORICAL, ("凹陷", "稍凹", "平坦"))
    assert model.tree.size.tolist() == [16, 4, 1, 1, 1, 10, 1, 7, 1, 4, 1, 1, 1, 1, 1, 1]
    assert model.tree.column.tolist() == [0, 1, -1, -1, -1, 2, -1, 1, -1, 4, -1, -1, -1, -1, -1, -1]
    assert model.tree.values.tolist()[:2] == [[5.0, 5.0], [3.0, 1.0]]
    ledger = [
        (s.node, s.decision, s.evidence["correct_before"], s.evidence["correct_after"]) for s in model.history.steps
    ]
    assert ledger == [
        (9, Decision.CUT, 3.0, 4.0),
        (7, Decision.KEPT, 4.0, 4.0),
        (1, Decision.CUT, 4.0, 5.0),
        (5, Decision.KEPT, 5.0, 5.0),
        (0, Decision.KEPT, 5.0, 3.0),
    ]
    rules = path_rules(model.view(model.history.selected), model.attributes)
    assert [rule_text(rule, model.attributes, model.classes[model.tree.labels[rule.leaf]]) for rule in rules] == [
        "if 脐部 = 凹陷 then 是",
        "if 脐部 = 稍凹 and 根蒂 = 蜷缩 then 否",
        "if 脐部 = 稍凹 and 根蒂 = 稍蜷 and 色泽 = 青绿 then 是",
        "if 脐部 = 稍凹 and 根蒂 = 稍蜷 and 色泽 = 乌黑 then 是",
        "if 脐部 = 稍凹 and 根蒂 = 稍蜷 and 色泽 = 浅白 then 是",
        "if 脐部 = 稍凹 and 根蒂 = 硬挺 then 是",
        "if 脐部 = 平坦 then 否",
    ]
    kinds = {attribute.name: attribute for attribute in model.attributes}
    records = table_of({name: [None, None] for name in model.attributes.names} | {"脐部": [None, "凹陷"]}, kinds)
    assert leaves_reached(model.view(3), records, MissingPolicy.WEIGHTED)[1] == [(1, 1.0)]
    expected = [0.4 * 3 / 4 + 0.4 * (0.75 * (1 / 3 * 1 + 2 / 3 * 0.5)), 0.4 / 4 + 0.4 * (0.25 + 0.75 / 3) + 0.2]
    assert predict(model.view(5), records)[0] == pytest.approx(expected)
    assert predict(model.view(5), records)[1].tolist() == [0.75, 0.25]


def test_the_stored_regression_model_is_still_read():
    model = load(stored("regression"))
    assert (model.task, model.target, model.classes) == (Task.REGRESSION, "price", ())
    assert model.ranges == ((1.0, 6.0), None)
    assert model.history.steps == ()
    assert model.tree.weight.tolist() == [16.0, 8.0, 4.0, 4.0, 8.0, 4.0, 4.0]
    assert model.tree.values.ravel().tolist() == [20.0, 6.0, 4.0, 8.0, 34.0, 28.0, 40.0]
    assert model.tree.variances.ravel().tolist() == [240.0, 28.0, 48.0, 0.0, 60.0, 48.0, 0.0]
    rules = path_rules(model.view(0), model.attributes)
    assert [rule_text(rule, model.attributes, str(float(model.tree.answers[rule.leaf][0]))) for rule in rules] == [
        "if size <= 3.5 and colour in {red, green} then 4.0",
        "if size <= 3.5 and colour = blue then 8.0",
        "if size > 3.5 and colour in {red, green} then 28.0",
        "if size > 3.5 and colour = blue then 40.0",
    ]
    records = table_of({"size": [3.5, None, None], "colour": ["green", "blue", None]}, {"colour": model.attributes[1]})
    assert predict(model.view(0), records).ravel().tolist() == [4.0, 24.0, 20.0]


def test_the_stored_model_for_several_numbers_is_still_read():
    model = load(stored("several_numbers"))
    assert (model.task, model.target, model.classes) == (Task.REGRESSION, ("price", "weight"), ())
    assert model.tree.column.tolist() == [0, -1, -1]
    assert model.tree.impurity.tolist() == [17.0, 1.0, 1.0]
    assert model.tree.values.tolist() == [[4.0, 2.0], [0.0, 2.0], [8.0, 2.0]]
    assert model.tree.variances.tolist() == [[16.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    assert tree_text(model, 0) == "size <= 1.5: price = 0, weight = 2 (n 4)\nsize > 1.5: price = 8, weight = 2 (n 4)\n"
    records = table_of({"size": [2, None], "colour": ["red", None]})
    assert predict(model.view(0), records).tolist() == [[8.0, 2.0], [4.0, 2.0]]


def test_the_stored_model_of_merged_groups_is_still_read():
    model = load(stored("merged_groups"))
    assert [SPLIT_KINDS[kind] for kind in model.tree.kind[:2]] == [SplitKind.MERGED_INTERVALS, SplitKind.MERGED]
    assert model.tree.branch_of.tolist() == [0, 0, 1, 1, 0, 0, 0, 1, 1]  # the last of each is that of missing
    assert model.cuts_of(1) == (1.5, 2.5)
    assert tree_text(model, 0).splitlines() == [
        "size <= 2.5",
        "|   colour in {red, white, green}: p (p 32)",
        "|   colour = blue or missing: q (q 32)",
        "size > 2.5 or missing: q (q 64)",
    ]
    records = table_of({"colour": ["white", None, "red"], "size": [1, 2, None]}, {"colour": model.attributes[0]})
    assert predict(model.view(0), records).tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]


def test_the_stored_model_with_linear_tests_is_still_read():
    model = load(stored("linear_tests"))
    assert model.tree.split(0).terms == (Term(0, -0.393919), Term(1, 0.919145))
    assert tree_text(model, 0).splitlines()[0] == "0.919 north - 0.394 east <= 0.7878: below (below 8)"
    records = table_of({"east": [0, 3, None], "north": [3, 0, 2]})
    assert predict(model.view(0), records).tolist() == [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]


def test_a_list_of_one_target_is_still_a_list_when_loaded():
    model = model_of(samples_of({"a": [1, 2]}, [1.0, 2.0]), cart_for_numbers(), target=("y",))
    assert load(dump(model)).target == ("y",)


def test_thresholds_as_the_programs_report_them_are_stored_only_where_they_were_kept():
    model = model_of(samples_of({"a": [1, 4]}, ["p", "q"]), cart())
    content = dump(replace(model, data_thresholds=np.array([1.0, np.nan, np.nan])))
    assert load(content).with_data_thresholds().tree.threshold[0] == 1.0
    assert load(content).tree.threshold[0] == 2.5
    assert dump(load(content)) == content
    assert b"data_threshold" not in dump(model)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("classification", classification_model),
        ("regression", regression_model),
        ("several_numbers", several_numbers_model),
        ("linear_tests", linear_model),
        ("merged_groups", merged_groups_model),
    ],
)
def test_the_same_training_still_gives_the_stored_bytes(name, make):
    assert dump(make()) == stored(name)
    assert dump(load(stored(name))) == stored(name)


def test_decisions_without_what_stood_below_are_still_read():
    content = stored("without_branch_leaves")
    earlier, now = load(content).history.steps, load(stored("classification")).history.steps
    assert dump(load(content)) == content
    for before, after in zip(earlier, now, strict=True):
        assert {**before.evidence, "branch_leaves": after.evidence["branch_leaves"]} == after.evidence
        assert "branch_leaves" not in before.evidence


def test_a_single_leaf_is_a_model_too():
    model = model_of(samples_of({"a": [1, 2]}, ["p", "p"]), cart())
    assert_same_model(load(dump(model)), model)


@pytest.mark.parametrize("cut", [6, 7, 200, -8])
def test_a_truncated_model_is_refused_by_name(cut):
    with pytest.raises(UnknownFormatError):
        load(dump(regression_model())[:cut])


def test_cuts_are_stored_with_the_attributes_and_only_where_there_are_any():
    samples = samples_of({"size": list(range(8)), "colour": ["r", "g"] * 4}, ["p"] * 4 + ["q"] * 4)
    intervals = Numeric(NumericKind.MDLP, bins_as=BinsAs.INTERVALS)
    model = model_of(with_cuts(samples, intervals), replace(id3(), numeric=intervals))
    content = dump(model)
    again = load(content)
    assert_same_model(model, again)
    assert again.tree.cuts == ((3.5,), None)
    assert (again.tree.split(0).kind, again.tree.split(0).cuts) == (SplitKind.INTERVALS, (3.5,))
    assert b'"cuts":[3.5]' in content
    assert dump(again) == content
    assert b"cuts" not in dump(model_of(samples, cart()))
