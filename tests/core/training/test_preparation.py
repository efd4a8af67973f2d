from dataclasses import replace

import numpy as np
import pytest

from core.config.columns import attribute_names
from core.config.options import (
    ColumnDivision,
    DatasetsDivision,
    NoDivision,
    RandomDivision,
    ReducedErrorPruning,
    TrainingConfig,
)
from core.tables.errors import InvalidConfig
from core.tables.parts import Part
from core.tables.schema import Attribute, Kind
from core.tables.target import ClassTarget, NumberTarget
from core.training.preparation import prepare, recoded, with_class_weights
from tests.core.building import cart, cart_for_numbers, samples_of, table_of
from tests.golden_tables import golden_table

CONFIG = TrainingConfig(target="y", algorithm=cart(), division=NoDivision())


def test_rows_without_a_target_are_left_out_and_counted():
    table = table_of({"a": [1, 2, 3, 4], "y": ["p", None, "q", None]})
    prepared = prepare(table, CONFIG, {})
    assert prepared.train.attributes.columns[0].tolist() == [1, 3]
    assert prepared.warnings == ("2 rows are left out: the target is missing",)


def test_rows_without_weight_are_left_out_and_counted():
    table = table_of({"a": [1, 2, 3, 4], "w": [1.0, 0.0, 2.0, 0.0], "y": ["p", "p", "q", None]})
    prepared = prepare(table, replace(CONFIG, sample_weight="w"), {})
    assert prepared.train.weights.tolist() == [1.0, 2.0]
    assert prepared.train.attributes.schema.names == ("a",)
    assert len(prepared.warnings) == 2
    assert prepared.warnings[0].startswith("1 row is left out")
    assert prepared.warnings[1] == "1 row is left out: the weight is 0"


def test_missing_numbers_to_predict_are_left_out_too():
    table = table_of({"a": [1, 2, 3], "y": [1.5, None, 2.5]})
    prepared = prepare(table, replace(CONFIG, algorithm=cart_for_numbers()), {})
    assert isinstance(prepared.train.target, NumberTarget)
    assert prepared.train.target.numbers.ravel().tolist() == [1.5, 2.5]
    assert prepared.warnings == ("1 row is left out: the target is missing",)


def test_a_row_trains_only_if_every_target_is_known():
    table = table_of({"a": [1, 2, 3, 4], "y": [1.5, None, 2.5, None], "z": [1.0, 2.0, None, 4.0]})
    config = replace(CONFIG, target=("z", "y"), algorithm=cart_for_numbers())
    prepared = prepare(table, config, {})
    assert attribute_names(table.schema, config) == ("a",)
    assert prepared.train.target.numbers.tolist() == [[1.0, 1.5]]
    assert prepared.warnings == ("3 rows are left out: a target is missing",)


def test_rows_aside_need_every_target_too():
    table = table_of({"a": [1, 2], "y": [1.5, 2.0], "z": [1.0, 2.0]})
    other = table_of({"a": [3, 4], "y": [1.5, None], "z": [1.0, 2.0]})
    config = replace(CONFIG, target=("y", "z"), algorithm=cart_for_numbers(), division=DatasetsDivision("ds_1", None))
    prepared = prepare(table, config, {Part.VALIDATION: other})
    assert prepared.parts[Part.VALIDATION].target.numbers.tolist() == [[1.5, 1.0]]
    assert prepared.warnings[0].startswith("1 row is left out: in the validation dataset, a target is missing")


def test_nothing_left_out_is_no_warning():
    assert prepare(table_of({"a": [1, 2], "y": ["p", "q"]}), CONFIG, {}).warnings == ()


def test_a_single_class_is_a_warning():
    table = table_of({"a": [1, 2], "y": ["p", "p"]})
    assert prepare(table, CONFIG, {}).warnings == ("all training rows have one class: the tree is a single leaf",)


def test_a_column_says_which_part_a_row_belongs_to():
    parts = ["train", "test", None, "train", "test"]
    table = table_of({"a": [1, 2, 3, 4, 5], "part": parts, "y": ["p", "q", "p", "q", None]})
    prepared = prepare(table, replace(CONFIG, division=ColumnDivision("part")), {})
    assert prepared.train.attributes.columns[0].tolist() == [1, 4]
    assert prepared.parts[Part.TEST].attributes.columns[0].tolist() == [2]
    assert prepared.parts[Part.VALIDATION] is None
    assert prepared.train.attributes.schema.names == ("a",)
    assert "1 row is left out: part does not say which part" in prepared.warnings


def test_all_rows_train_without_a_division():
    prepared = prepare(golden_table("watermelon_2.0"), replace(CONFIG, target="好瓜"), {})
    assert len(prepared.train) == 17
    assert prepared.parts[Part.VALIDATION] is prepared.parts[Part.TEST] is None


def test_a_random_division_is_stratified_by_class_unless_told():
    table = table_of({"a": list(range(40)), "y": ["p"] * 30 + ["q"] * 10})
    prepared = prepare(table, replace(CONFIG, division=RandomDivision()), {})
    counts = {part: np.bincount(s.target.codes, minlength=2).tolist() for part, s in prepared.parts.items()}
    assert counts == {Part.TRAIN: [18, 6], Part.VALIDATION: [6, 2], Part.TEST: [6, 2]}
    free = prepare(table, replace(CONFIG, division=RandomDivision(stratified=False)), {})
    assert [len(free.parts[part]) for part in Part] == [24, 8, 8]


def test_rows_left_out_are_not_divided():
    table = table_of({"a": list(range(10)), "y": ["p"] * 5 + [None] * 5})
    prepared = prepare(table, replace(CONFIG, division=RandomDivision()), {})
    assert [len(prepared.parts[part]) for part in Part] == [3, 1, 1]


def test_other_datasets_validate_and_test_with_the_codes_of_the_training_data():
    table = table_of({"a": ["x", "y", "z"], "n": [1, 2, 3], "y": ["p", "q", "p"]})
    other = table_of({"y": ["q", "q", "p", None], "extra": [0] * 4, "n": [9, 8, 7, 6], "a": ["z", "new", "x", "x"]})
    config = replace(CONFIG, division=DatasetsDivision(validation="ds_1"))
    prepared = prepare(table, config, {Part.VALIDATION: other})
    assert len(prepared.warnings) == 1
    assert prepared.warnings[0].startswith("1 row is left out: in the validation dataset")
    aside = prepared.parts[Part.VALIDATION]
    assert aside.attributes.schema.names == ("a", "n")
    assert aside.attributes.values("a").tolist() == [2, -1, 0]  # a category never trained is missing
    assert aside.attributes.values("a").dtype == np.int32
    assert aside.attributes.values("n").tolist() == [9, 8, 7]
    assert aside.target.classes == ("p", "q")
    assert aside.target.codes.tolist() == [1, 1, 0]


def test_a_numeric_target_becomes_classes_in_order_of_first_appearance():
    table = table_of({"a": [1, 2, 3, 4, 5], "y": [2.0, 0.5, None, 2.0, 1.0]})
    target = prepare(table, replace(CONFIG, target_kind="categorical"), {}).train.target
    assert isinstance(target, ClassTarget)
    assert target.classes == ("2", "0.5", "1")
    assert target.codes.tolist() == [0, 1, 0, 2]


def test_declared_classes_keep_their_order():
    kinds = {"y": Attribute("y", Kind.ORDINAL, ("low", "mid", "high"))}
    target = prepare(table_of({"a": [1, 2], "y": ["high", "low"]}, kinds), CONFIG, {}).train.target
    assert target.classes == ("low", "mid", "high")
    assert target.codes.tolist() == [2, 0]


def test_no_row_to_train_on_is_refused():
    table = table_of({"a": [1, 2], "part": ["test", "test"], "y": ["p", "q"]})
    with pytest.raises(InvalidConfig, match="no row is left to train on") as error:
        prepare(table, replace(CONFIG, division=ColumnDivision("part")), {})
    assert error.value.faults[0].path == ("division",)


def test_no_row_to_validate_on_is_refused_where_it_is_needed():
    table = table_of({"a": [1, 2, 3], "y": ["p", "q", "p"]})
    config = replace(CONFIG, division=RandomDivision(), pruning=ReducedErrorPruning())
    with pytest.raises(InvalidConfig, match="the division left none") as error:
        prepare(table, config, {})
    assert error.value.faults[0].hint is not None
    prepare(table, replace(config, pruning=CONFIG.pruning), {})


def test_attributes_are_all_columns_nothing_else_uses_or_those_asked_for_in_their_order():
    kinds = {"c": Attribute("c", Kind.IGNORE, ("x",))}
    schema = table_of({"a": [1], "b": [1], "c": ["x"], "w": [1], "p": ["train"], "y": ["q"]}, kinds).schema
    config = replace(CONFIG, sample_weight="w", division=ColumnDivision("p"))
    assert attribute_names(schema, config) == ("a", "b")
    assert attribute_names(schema, replace(config, attributes=("b", "a"))) == ("b", "a")


def test_class_weights_multiply_and_default_to_1():
    samples = samples_of({"a": [1, 2, 3]}, ["p", "q", "p"], weights=[1.0, 2.0, 3.0])
    assert with_class_weights(samples, {"q": 10.0}).weights.tolist() == [1.0, 20.0, 3.0]
    assert with_class_weights(samples, None) is samples


def test_recoding_keeps_what_is_the_same_and_looks_up_the_rest():
    table = table_of({"a": ["x", None, "y"], "n": [1, None, 2]})
    wanted = table_of({"a": ["y", "x"], "n": [0, 0]}).schema
    assert recoded(table, wanted).values("a").tolist() == [1, -1, 0]
    assert recoded(table, wanted).columns[1] is table.columns[1]


def test_weights_of_classes_that_are_not_there_are_refused():
    table = table_of({"a": [1, 2, 3], "y": [0.0, 1.0, 1.0]})
    samples = prepare(table, replace(CONFIG, target_kind="categorical"), {}).train
    assert with_class_weights(samples, {"1": 5.0}).weights.tolist() == [1, 5, 5]
    with pytest.raises(InvalidConfig) as refused:
        with_class_weights(samples, {"1.0": 5.0})
    assert refused.value.faults[0].path == ("class_weights", "1.0")
