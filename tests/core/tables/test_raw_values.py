import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tables.raw_values import (
    Codes,
    Declaration,
    TextColumn,
    category_text,
    column_of_values,
    decimal_number,
    declaration_faults,
    name_faults,
)
from core.tables.schema import Kind


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("青绿", "青绿"),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (3.0, "3"),
        (-0.0, "0"),
        (1.5, "1.5"),
        (1e-7, "1e-07"),
    ],
)
def test_category_text(value, text):
    assert category_text(value) == text


@given(st.integers(-(2**80), 2**80), st.floats(allow_nan=False, allow_infinity=False))
def test_equal_numbers_have_equal_texts(whole, number):
    assert category_text(float(whole)) == category_text(int(float(whole)))
    assert float(category_text(number)) == number


@pytest.mark.parametrize(
    ("values", "kind", "categories"),
    [
        ([1, 2.5, None], Kind.NUMERIC, ()),
        ([2**60, 10**300], Kind.NUMERIC, ()),
        (["b", "a", None, "b"], Kind.CATEGORICAL, ("b", "a")),
        (["1", "2"], Kind.CATEGORICAL, ("1", "2")),
        ([True, False, None], Kind.CATEGORICAL, ("true", "false")),
        ([None, None], Kind.CATEGORICAL, ()),
    ],
)
def test_kinds_of_json_columns(values, kind, categories):
    column = column_of_values(values, None, ())
    assert (column.kind, column.categories, column.faults) == (kind, categories, ())
    assert len(column.cells) == len(values)


def test_missing_json_cells():
    assert np.isnan(column_of_values([1, None], None, ()).cells).tolist() == [False, True]
    assert column_of_values(["x", None, ""], None, ()).cells.tolist() == [0, -1, 1]


def test_tokens_are_missing_in_json_only_when_told():
    assert column_of_values([1, "NA", 2], None, {"NA"}).kind is Kind.NUMERIC
    assert np.isnan(column_of_values([1, -999], None, {"-999"}).cells).tolist() == [False, True]


@pytest.mark.parametrize(
    ("values", "row", "detail"),
    [
        ([1, None, "x"], 2, "text in a column that begins with numbers"),
        ([None, "x", 1], 2, "numbers in a column that begins with text"),
        ([1, True], 1, "truth values in a column that begins with numbers"),
        ([0.5, [1]], 1, "a cell must be text"),
        ([{}, 1], 0, "a cell must be text"),
    ],
)
def test_mixtures_are_refused_with_their_row(values, row, detail):
    [fault] = column_of_values(values, None, ()).faults
    assert fault.path == (row,)
    assert fault.detail.startswith(detail)


def test_a_declared_categorical_reads_everything_as_text():
    column = column_of_values([3, 1.5, True, "x", None, 3.0], Declaration(Kind.CATEGORICAL), ())
    assert column.categories == ("3", "1.5", "true", "x")
    assert column.cells.tolist() == [0, 1, 2, 3, -1, 0]


def test_a_declared_numeric_takes_numbers_only():
    faults = column_of_values([1, "2", False], Declaration(Kind.NUMERIC), ()).faults
    assert [fault.path for fault in faults] == [(1,), (2,)]
    [fault] = column_of_values([1, 10**400], Declaration(Kind.NUMERIC), ()).faults
    assert fault.path == (1,)


def test_declared_categories_keep_their_order_and_refuse_others():
    order = Declaration(Kind.ORDINAL, ("low", "middle", "high"))
    column = column_of_values(["high", "low", None], order, ())
    assert (column.kind, column.categories, column.cells.tolist()) == (Kind.ORDINAL, order.categories, [2, 0, -1])
    [fault] = column_of_values(["hihg"], order, ()).faults
    assert (fault.path, fault.hint) == ((0,), "did you mean high?")


def test_declarations_must_fit_the_table():
    declared = {
        "纹里": Declaration(Kind.NUMERIC),
        "a": Declaration(Kind.CATEGORICAL, ("x", "x")),
        "b": Declaration(Kind.ORDINAL, ("NA", "y")),
    }
    faults = declaration_faults(declared, ["纹理", "a", "b"], {"NA"})
    assert [fault.path for fault in faults] == [
        ("schema", "纹里"),
        ("schema", "a", "categories", 1),
        ("schema", "b", "order", 0),
    ]
    assert faults[0].hint == "did you mean 纹理?"


def test_names_of_columns():
    assert name_faults(["纹理", "🍉", "a b", "x" * 500]) == []
    bad = ["a", "", "a", "b\0", "c\n", "x" * 501]
    assert [fault.path for fault in name_faults(bad)] == [(1,), (2,), (3,), (4,), (5,)]
    assert "columns 1 and 3" in name_faults(bad)[1].detail
    assert len(name_faults([str(column) for column in range(100_001)])) == 1


@pytest.mark.parametrize("text", ["1", "-1.5", "+2", ".5", "5.", "1e3", "1E-3", " 7 ", "\t8"])
def test_decimal_numbers(text):
    assert decimal_number(text) == float(text)


@pytest.mark.parametrize(
    "text", ["", "x", "nan", "inf", "-Infinity", "1_000", "0x10", "1,5", "１２", "1e999", "1 2", "--1"]
)
def test_what_is_no_decimal_number(text):
    assert decimal_number(text) is None


def text_column(*blocks, declaration=None, tokens=("", "?", "NA")):
    column = TextColumn(declaration, tokens)
    for block in blocks:
        column.add(block)
    return column


def test_a_text_column_of_numbers():
    column = text_column(["1", "?"], ["", " 2.5"]).finished()
    assert column.kind is Kind.NUMERIC
    assert [None if math.isnan(cell) else cell for cell in column.cells] == [1.0, None, None, 2.5]


def test_a_text_column_of_words():
    column = text_column(["?", "NA"], ["b", "1"], ["a", "b"]).finished()
    assert (column.kind, column.categories) == (Kind.CATEGORICAL, ("b", "1", "a"))
    assert column.cells.tolist() == [-1, -1, 0, 1, 2, 0]


def test_a_text_column_without_a_known_cell():
    column = text_column(["?", "NA"], [""]).finished()
    assert (column.kind, column.categories, column.cells.tolist()) == (Kind.CATEGORICAL, (), [-1, -1, -1])


def test_words_after_numbers_ask_for_the_column_once_more():
    assert text_column(["1"], ["x"], ["2"]).must_be_reread
    assert not text_column(["?"], ["x"], ["2"]).must_be_reread
    assert not text_column(["1", "x"], ["2"]).must_be_reread


def test_a_token_may_hold_anything():
    column = text_column(["1", "缺", "n_a"], tokens=("缺", "n_a")).finished()
    assert column.kind is Kind.NUMERIC


def test_text_that_does_not_fit_its_declaration():
    numeric = text_column(["1", "x"], ["?", "y"], declaration=Declaration(Kind.NUMERIC)).finished()
    assert [fault.path for fault in numeric.faults] == [(1,), (3,)]
    ordinal = text_column(["lo"], ["hi", "no"], declaration=Declaration(Kind.ORDINAL, ("lo", "hi"))).finished()
    assert [fault.path for fault in ordinal.faults] == [(2,)]


@given(st.lists(st.none() | st.text(max_size=3)))
def test_codes_say_what_the_cells_said(cells):
    codes = Codes(None, ())
    encoded = codes.encode(cells)
    assert [None if code < 0 else codes.categories[code] for code in encoded] == cells
    assert codes.categories == list(dict.fromkeys(cell for cell in cells if cell is not None))
