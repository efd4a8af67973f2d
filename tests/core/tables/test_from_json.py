import pytest

from core.tables.errors import EmptyTable, InvalidTable
from core.tables.from_json import table_from_columns, table_from_records
from core.tables.raw_values import Declaration
from core.tables.schema import Kind


def paths(error: type[Exception], make, *arguments) -> list[tuple[object, ...]]:
    with pytest.raises(error) as caught:
        make(*arguments, {}, ())
    assert type(caught.value) is error
    return [fault.path for fault in caught.value.faults]


def test_columns_stand_in_the_order_they_are_sent():
    table = table_from_columns({"b": [1, None], "a": ["x", "y"]}, {}, ())
    assert table.schema.names == ("b", "a")
    assert table.n_rows == 2


def test_records_give_columns_in_order_of_appearance_and_absent_keys_are_missing():
    table = table_from_records([{"b": 1}, {"a": "x", "b": 2}, {}], {}, ())
    assert table.schema.names == ("b", "a")
    assert table.values("a").tolist() == [-1, 0, -1]


def test_declared_kinds_win():
    table = table_from_columns({"a": [0, 1], "b": [1, 2]}, {"a": Declaration(Kind.CATEGORICAL)}, ())
    assert [attribute.kind for attribute in table.schema] == [Kind.CATEGORICAL, Kind.NUMERIC]


def test_nothing_is_no_table():
    assert paths(EmptyTable, table_from_columns, {}) == [("columns",)]
    assert paths(EmptyTable, table_from_columns, {"a": [], "b": []}) == [("columns",)]
    assert paths(EmptyTable, table_from_records, []) == [("records",)]
    assert paths(EmptyTable, table_from_records, [{}, {}]) == [("records",)]


def test_faults_have_places():
    assert paths(InvalidTable, table_from_columns, {"a": [1, 2], "b": [1]}) == [("columns", "b")]
    assert paths(InvalidTable, table_from_columns, {"a": [1, "x"], "b": [[], 1]}) == [
        ("columns", "a", 1),
        ("columns", "b", 0),
    ]
    assert paths(InvalidTable, table_from_records, [{"a": 1}, {"a": "x"}]) == [("records", 1, "a")]
    assert paths(InvalidTable, table_from_columns, {"": [1], "a\n": [1]}) == [("columns",), ("columns",)]


def test_unequal_lengths_name_both_columns():
    with pytest.raises(InvalidTable, match='has 1 cells, but "a" has 2'):
        table_from_columns({"a": [1, 2], "b": [1]}, {}, ())
