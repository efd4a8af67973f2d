import numpy as np
import pytest

from core.records.records import (
    MOST_FAULTS,
    EncodedRecords,
    State,
    encode_categories,
    encode_columns,
    encode_numbers,
    encode_records,
    reads_as_number,
)
from core.tables.errors import RecordsDoNotFit
from core.tables.schema import Attribute, Kind, Schema

SCHEMA = Schema(
    (
        Attribute("density", Kind.NUMERIC),
        Attribute("texture", Kind.CATEGORICAL, ("clear", "blurry")),
        Attribute("grade", Kind.ORDINAL, ("low", "high")),
        Attribute("rings", Kind.CATEGORICAL, ("3", "2.5")),
        Attribute("ripe", Kind.CATEGORICAL, ("true", "false")),
        Attribute("empty", Kind.CATEGORICAL, ()),
    )
)
OPTIONS = {"ignorable": ("id",), "ignore_unknown": False}


def encode(*records, **changes):
    return encode_records(list(records), SCHEMA, **{**OPTIONS, **changes})


def missing(found: EncodedRecords) -> list[list[str]]:
    return [found.names(row, State.MISSING) for row in range(found.table.n_rows)]


def unseen(found: EncodedRecords) -> list[list[str]]:
    return [found.names(row, State.UNSEEN) for row in range(found.table.n_rows)]


def faults_of(*records, **changes):
    with pytest.raises(RecordsDoNotFit) as error:
        encode(*records, **changes)
    return error.value.faults


def test_records_become_a_table_of_the_models_attributes():
    found = encode({"texture": "blurry", "density": 0.5, "grade": "high", "id": 9}, {"density": 3, "rings": 2.5})
    assert found.table.schema is SCHEMA
    assert found.table.values("density").tolist() == [0.5, 3.0]
    assert found.table.values("texture").tolist() == [1, -1]
    assert found.table.values("grade").tolist() == [1, -1]
    assert found.table.values("rings").tolist() == [-1, 1]
    assert [values.dtype for values in found.table.columns] == [np.float64, *[np.int32] * 5]


def test_left_out_and_null_are_both_missing():
    found = encode({"density": None, "texture": "clear", "grade": "low", "rings": "3", "ripe": "true"})
    assert missing(found) == [["density", "empty"]]
    assert unseen(found) == [[]]
    assert np.isnan(found.table.values("density")[0])


def test_an_unseen_category_is_reported_and_not_missing():
    found = encode({"texture": "shiny", "density": 1, "empty": "anything", "grade": "medium"})
    assert unseen(found) == [["texture", "grade", "empty"]]
    assert missing(found) == [["rings", "ripe"]]
    assert found.table.values("texture").tolist() == [-1]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [("rings", 3, 0), ("rings", 3.0, 0), ("rings", 2.5, 1), ("rings", 7, -1), ("ripe", True, 0), ("ripe", False, 1)],
)
def test_numbers_and_booleans_are_taken_where_a_category_reads_as_one(name, value, code):
    assert encode({name: value}).table.values(name).tolist() == [code]


@pytest.mark.parametrize("value", ["text", 5, 2.5, True])
def test_a_column_without_any_known_category_takes_any_plain_value_as_unseen(value):
    assert unseen(encode({"empty": value})) == [["empty"]]


@pytest.mark.parametrize(
    ("name", "value", "detail", "hint"),
    [
        ("density", "0.5", '"0.5" is not a number, and density is numeric', "send a number or null"),
        ("density", True, "true is not a number, and density is numeric", "send a number or null"),
        ("density", [1], "a list is not a number, and density is numeric", "send a number or null"),
        ("density", {"a": 1}, "a dict is not a number, and density is numeric", "send a number or null"),
        ("texture", 3, "3 is not text, and texture takes text", 'send text such as "clear"'),
        ("texture", False, "false is not text, and texture takes text", 'send text such as "clear"'),
        ("texture", ["clear"], "a list is not text, and texture takes text", 'send text such as "clear"'),
        ("grade", 1.5, "1.5 is not text, and grade takes text", 'send text such as "low"'),
        ("ripe", 1, "1 is not text, and ripe takes text", 'send text such as "true"'),
        ("rings", True, "true is not text, and rings takes text", 'send text such as "3"'),
        ("empty", {}, "a dict is not text, and empty takes text", "send text or null"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_its_place(name, value, detail, hint):
    (fault,) = faults_of({}, {name: value})
    assert fault.path == ("records", 1, name)
    assert fault.detail == detail
    assert fault.hint == hint


def test_long_text_is_shown_in_short():
    (fault,) = faults_of({"density": "x" * 10_000})
    assert len(fault.detail) < 200


def test_unknown_names_are_refused_with_the_nearest_known_one():
    one, other = faults_of({"densty": 1}, {"whatever": 2})
    assert (one.path, one.hint) == (("records", 0, "densty"), "did you mean density?")
    assert one.detail == 'not an attribute of this model: "densty"'
    assert other.path == ("records", 1, "whatever")
    assert other.hint == "ignore_unknown drops what the model does not know"


def test_unknown_names_are_dropped_on_request_and_unused_columns_always():
    assert encode({"whatever": [1], "density": 1}, ignore_unknown=True).table.n_rows == 1
    assert missing(encode({"id": "anything"}))[0] == list(SCHEMA.names)


def test_all_faults_come_together():
    faults = faults_of({"density": "a", "texture": 1}, {"density": "b", "nope": 1})
    assert {fault.path for fault in faults} == {
        ("records", 0, "density"),
        ("records", 0, "texture"),
        ("records", 1, "density"),
        ("records", 1, "nope"),
    }


def test_at_most_a_hundred_faults_are_listed():
    assert len(faults_of(*[{"density": "a", "nope": 1}] * 150)) == MOST_FAULTS == 100
    assert len(faults_of({f"no{n}": 1 for n in range(300)})) == 100


def test_no_records_are_a_table_without_rows():
    assert encode().table.n_rows == 0


def test_columns_are_read_like_records():
    found = encode_columns({"texture": ["clear", None], "density": [1, 2], "id": [7, 8]}, SCHEMA, **OPTIONS)
    same = encode({"texture": "clear", "density": 1}, {"density": 2})
    for one, other in zip(found.table.columns, same.table.columns, strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype == np.float64)
    assert np.array_equal(found.states, same.states)


def test_no_columns_are_no_rows():
    assert encode_columns({}, SCHEMA, **OPTIONS).table.n_rows == 0


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(RecordsDoNotFit) as error:
        encode_columns({"density": [1, 2], "texture": ["clear"], "grade": []}, SCHEMA, **OPTIONS)
    assert [(fault.path, fault.detail) for fault in error.value.faults] == [
        (("columns", "texture"), "has 1 values where the first column has 2"),
        (("columns", "grade"), "has 0 values where the first column has 2"),
    ]


def test_faults_in_columns_have_pointers_into_the_columns():
    with pytest.raises(RecordsDoNotFit) as error:
        encode_columns({"density": [1, "x", [2]]}, SCHEMA, **OPTIONS)
    assert [fault.path for fault in error.value.faults] == [("columns", "density", 1), ("columns", "density", 2)]
    with pytest.raises(RecordsDoNotFit) as error:
        encode_columns({"desity": [1]}, SCHEMA, **OPTIONS)
    assert error.value.faults[0].path == ("columns", "desity")
    assert error.value.faults[0].hint == "did you mean density?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", True),
        ("-2.5", True),
        ("1e-07", True),
        ("3.0", False),
        ("inf", False),
        ("nan", False),
        ("三", False),
        ("", False),
    ],
)
def test_what_reads_as_a_number(text, expected):
    assert reads_as_number(text) is expected


def test_numbers_beyond_float64_are_faults_of_the_record():
    assert encode_numbers([10**400], Attribute("a", Kind.NUMERIC))[1]
    assert encode_categories([float("inf")], Attribute("a", Kind.CATEGORICAL, ("1",)))[1]
