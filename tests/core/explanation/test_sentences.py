import csv
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.explanation.sentences import Sentences
from core.growth.held_out import labels_of
from core.library.train import records_for, table, train
from core.prediction.answers import Answering
from core.prediction.bounds import is_decided, possible_leaves
from core.prediction.predictor import Predictor
from core.prediction.routing import MissingPolicy, policy_as_grown, predict
from core.records.records import EncodedRecords, encode_records
from core.tables.table import is_missing
from tests.core.building import cart, cart_for_numbers, model_of
from tests.core.prediction.test_answers import sent as as_sent
from tests.core.prediction.test_bounds import with_holes
from tests.core.strategies import trainings
from tests.core.wild_trees import some_view
from tests.examples import examples

MELONS = Path(__file__).parents[3] / "docs" / "examples" / "watermelons.csv"
REDUCED = {
    "target": "好瓜",
    "algorithm": {"kind": "c45"},
    "division": {"kind": "random", "train": 0.7, "validation": 0.3, "test": 0},
    "pruning": {"kind": "reduced_error"},
    "seed": 22,
}


def told(trained, records, *, step=None, missing=None):
    """The sentences for records."""
    number = trained.history.selected if step is None else step
    sent, model = records_for(trained.model, records), trained.model.as_of(number)
    taken = sent if missing else model.as_trained(sent)
    policy = MissingPolicy(missing) if missing else policy_as_grown(model.tree)
    return why(model, trained.tree(number), sent, taken, policy)


def why(model, view, sent, taken, policy):
    records, predictor = as_sent(sent), Predictor(view)
    answers = Answering(predictor, model.attributes).answers(records, policy, kernels=False, taken=taken)
    return Sentences(model, predictor).all(records, taken, answers, policy)


@pytest.fixture(scope="module")
def melons():
    with MELONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] or None for row in rows] for name in rows[0] if name != "编号"}


@pytest.fixture(scope="module")
def melon(melons):
    return train(table(melons), REDUCED)


def test_a_complete_record(melon):
    whole = {"色泽": ["青绿"], "根蒂": ["蜷缩"], "敲声": ["浊响"], "纹理": ["清晰"], "脐部": ["凹陷"], "触感": ["硬滑"]}
    assert told(melon, whole) == ["是, because 纹理 = 清晰: 5 of 6.55 training samples like this are 是."]
    assert told(melon, whole, step=0) == [
        "是, because 纹理 = 清晰 and 根蒂 = 蜷缩: 4 of 4 training samples like this are 是."
    ]


def test_several_paths_and_what_could_change_the_answer(melon):
    assert told(melon, {"敲声": ["浊响"], "触感": ["硬滑"]}) == [
        "是 with probability 0.60: 纹理 is not known, so every branch counts by its share of the training data: "
        "54.5 % with 纹理 = 清晰, where 是 has 0.76; "
        "36.4 % with 纹理 = 稍糊 and 敲声 = 浊响, where 是 has 0.50; "
        "9.1 % with 纹理 = 模糊, where 是 has 0. "
        "纹理 could change it: with 纹理 = 模糊 the answer would be 否. "
        "None of 色泽, 根蒂 and 脐部 would change it by itself."
    ]


def test_what_is_missing_but_not_asked_changes_nothing(melon):
    assert told(melon, {"纹理": ["模糊"], "敲声": ["沉闷"], "触感": ["硬滑"], "根蒂": ["蜷缩"]}) == [
        "否, because 纹理 = 模糊: 1.09 of 1.09 training samples like this are 否. "
        "Whatever 色泽 and 脐部 are, the answer stays 否."
    ]


def test_other_policies_say_how_a_test_was_passed(melon):
    record = {"敲声": ["浊响"], "触感": ["硬滑"]}
    (last,) = told(melon, record, missing="last_node")
    assert last.startswith(
        "是, because 纹理, which is asked next, is not known: 6 of 12 training samples like this are 是. 纹理 could"
    )
    (majority,) = told(melon, record, missing="majority_branch")
    assert majority.startswith(
        "是, because 纹理 = 清晰 (not known; 54.5 % of the training data goes this way): 5 of 6.55 training samples"
    )


@pytest.mark.parametrize(
    ("missing", "beginning"),
    [
        (
            "surrogate",
            "是, because 纹理 = 清晰 (not known; 54.5 % of the training data goes this way) and 根蒂 in {蜷缩, 硬挺} "
            "(not known; 触感 = 硬滑 stands in): 4 of 4 training samples like this are 是. 色泽 could change it most: "
            "with 色泽 = 浅白 the answer would be 否.",
        ),
        (
            "majority",
            "是, because 纹理 = 清晰 (not known; filled in as in training) and 根蒂 = 蜷缩 (not known; filled in as in "
            "training): 4 of 4 training samples like this are 是. 根蒂 could change it most: with 根蒂 in {稍蜷, 硬挺} "
            "the answer would be 否.",
        ),
    ],
)
def test_models_trained_with_stand_ins_or_filled_values_say_so(melons, missing, beginning):
    order = {**REDUCED, "algorithm": {"kind": "cart", "missing": missing}, "pruning": {"kind": "none"}}
    (sentence,) = told(train(table(melons), order), {"敲声": ["浊响"], "触感": ["硬滑"]})
    assert sentence.startswith(beginning)


def test_the_cheapest_class_is_told_from_the_likeliest(melons):
    order = {**REDUCED, "pruning": {"kind": "none"}, "misclassification_costs": {"否": {"是": 5.0}}}
    trained = train(table(melons), order)
    (sentence,) = told(trained, {"敲声": ["浊响"]})
    assert sentence.startswith(
        "否 with probability 0.40, and 否 has the least expected cost: 根蒂 and 纹理 are not known"
    )
    assert sentence.endswith("脐部 and 触感 would change the answer by itself. Several together could.")


def test_an_empty_branch_says_whose_samples_answer():
    kinds = {"a": ("x", "never", "y")}
    data = table({"a": ["x", "x", "y"], "t": ["p", "p", "q"]}, categories=kinds)
    trained = train(data, {"target": "t", "algorithm": {"kind": "id3"}, "division": {"kind": "none"}})
    assert told(trained, {"a": ["never"]}) == [
        "p, because a = never: no training sample was like this; before the last test 2 of 3 training samples are p."
    ]


NUMBERS = {"target": "y", "algorithm": {"kind": "cart"}, "division": {"kind": "none"}, "pruning": {"kind": "none"}}


def test_numbers():
    trained = train(table({"x": [1, 2, 3, 4], "y": [1.0, 2.0, 5.0, 5.0]}), NUMBERS)
    assert told(trained, {"x": [3.5, None]}) == [
        "5, because x > 2.5: the mean of 2 training samples like this, with a standard deviation of 0.",
        "3.25: x is not known, so every branch counts by its share of the training data: "
        "50 % with x > 2.5, where the mean is 5; 25 % with x <= 1.5, where the mean is 1; "
        "25 % with 1.5 < x <= 2.5, where the mean is 2. x could change it: with x <= 1.5 the answer would be 1.",
    ]


def test_several_targets():
    trained = train(table({"x": [1, 2], "y": [1.0, 5.0], "z": [0.5, 0.5]}), {**NUMBERS, "target": ["y", "z"]})
    assert told(trained, {"x": [3.5, None]}) == [
        "y = 5, z = 0.5, because x > 1.5: the mean of 1 training sample like this, with a standard deviation of "
        "y = 0, z = 0.",
        "y = 3, z = 0.5: x is not known, so every branch counts by its share of the training data: "
        "50 % with x <= 1.5, where the mean is y = 1, z = 0.5; 50 % with x > 1.5, where the mean is y = 5, z = 0.5. "
        "x could change it: with x <= 1.5 the answer would be y = 1, z = 0.5.",
    ]


def test_a_tree_without_a_test():
    trained = train(table({"x": [1, 1], "y": ["p", "q"]}), NUMBERS)
    assert told(trained, {"x": [1, None]}) == [
        "p: 1 of 2 training samples like this is p.",
        "p: 1 of 2 training samples like this is p. Whatever x is, the answer stays p.",
    ]


def large_columns():
    chance, x = np.random.default_rng(3), np.arange(400) / 7
    colour = chance.integers(0, 40, 400)
    columns = {"x": x.tolist(), "colour": [f"a rather long name of shade {code}" for code in colour]}
    columns |= {f"{'n' * 300}{i}": chance.integers(0, 2, 400).tolist() for i in range(20)}
    return {**columns, "y": (np.round(x * 4) % 9 + colour).tolist()}


@pytest.fixture(scope="module")
def large():
    return train(table(large_columns()), NUMBERS)


def test_a_large_tree_gives_no_long_sentence(large):
    holes = {"x": [0.1, None, None], "colour": ["a rather long name of shade 3", None, "a rather long name of shade 3"]}
    for sentence in told(large, holes):
        assert len(sentence) < 3_000
    assert "more paths" in told(large, {"x": [None]})[0]


def test_a_complete_record_costs_next_to_nothing(large):
    predictor, records = Predictor(large.tree()), records_for(large.model, large_columns())
    answering, sentences = Answering(predictor, large.model.attributes), Sentences(large.model, predictor)
    answers = answering.answers(EncodedRecords(records, None), MissingPolicy.WEIGHTED, kernels=False)
    first = sentences.all(EncodedRecords(records, None), records, answers, MissingPolicy.WEIGHTED)
    started = time.process_time()
    again = sentences.all(EncodedRecords(records, None), records, answers, MissingPolicy.WEIGHTED)
    assert time.process_time() - started < 20e-6 * len(again)
    assert again == first


def test_an_unseen_value_is_told_from_a_missing_one():
    data = table({"a": ["x", "x", "y"], "b": ["u", "v", "u"], "t": ["p", "q", "q"]})
    trained = train(data, {"target": "t", "algorithm": {"kind": "id3"}, "division": {"kind": "none"}})
    schema = trained.model.attributes
    records = encode_records([{"a": "new", "b": None}], schema, ignorable=(), ignore_unknown=False)
    predictor = Predictor(trained.tree())
    answers = Answering(predictor, schema).answers(records, MissingPolicy.WEIGHTED, kernels=False)
    (sentence,) = Sentences(trained.model, predictor).all(records, records.table, answers, MissingPolicy.WEIGHTED)
    assert sentence.startswith("q with probability 0.67: b is not known and a has a value never seen, so every branch")


@examples(60)
@given(trainings(max_columns=3, max_rows=10, max_outputs=2), st.integers(0, 2**32))
def test_every_record_of_any_tree_gets_a_true_sentence(training, seed):
    samples, _ = training
    is_class = hasattr(samples.target, "classes")
    targets = "t" if is_class or samples.target.numbers.shape[1] == 1 else ("t0", "t1")
    model = model_of(samples, cart() if is_class else cart_for_numbers(), target=targets)
    view, records = model.view(0), samples.attributes
    for policy in (MissingPolicy.WEIGHTED, MissingPolicy.LAST_NODE, MissingPolicy.MAJORITY_BRANCH):
        answers = predict(view, records, policy)
        for row, sentence in enumerate(why(model, view, records, records, policy)):
            leaves = possible_leaves(view, records, row)
            has_holes = any(is_missing(values[row : row + 1])[0] for values in records.columns)
            assert ("the answer stays" in sentence) == (has_holes and is_decided(view, leaves, answers[row]))
            if is_class:
                assert sentence.startswith(model.classes[labels_of(answers[row : row + 1])[0]])


@examples(60)
@given(trainings(max_columns=3, max_rows=14), st.integers(0, 2**32))
def test_what_is_kept_for_records_like_one_is_what_would_be_said_of_each(training, seed):
    samples, algorithm = training
    chance = np.random.default_rng(seed)
    model, records = model_of(samples, algorithm), with_holes(samples.attributes, chance)
    view = some_view(chance, model.tree)
    together = why(model, view, records, records, MissingPolicy.WEIGHTED)
    for row, sentence in enumerate(together):
        alone = records.take(np.array([row]))
        assert why(model, view, alone, alone, MissingPolicy.WEIGHTED) == [sentence]
