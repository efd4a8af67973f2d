import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tables.errors import CoreError, EmptyTable, InvalidTable
from core.tables.from_json import table_from_columns, table_from_records
from core.tables.raw_values import Declaration
from core.tables.schema import Kind
from core.tables.table import Table
from service.errors import InvalidFile
from service.store.artifacts import table_digest
from service.usecases.datasets import read_csv as module
from service.usecases.datasets.read_csv import read_csv

TOKENS = ("", "?", "NA")


def read(text: str | bytes, declared=None, tokens=TOKENS) -> Table:
    return read_csv(io.BytesIO(text.encode() if isinstance(text, str) else text), declared or {}, tokens)


def lines(error: type[Exception], text: str | bytes, declared=None) -> list[int | None]:
    with pytest.raises(error) as caught:
        read(text, declared)
    assert isinstance(caught.value, CoreError | InvalidFile)
    return [fault.line for fault in caught.value.faults]


def cells(table: Table, name: str) -> list[str | None]:
    categories = table.schema[table.schema.column(name)].categories
    return [None if code < 0 else categories[code] for code in table.values(name)]


@pytest.mark.parametrize(
    "text", ["a,b\n1,x\n?,y\n", "a,b\r\n1,x\r\n?,y", "\ufeffa,b\n1,x\n\n?,y\n\n", '"a",b\n"1",x\n"?","y"\n']
)
def test_ways_to_write_the_same_table(text):
    table = read(text)
    assert [(attribute.name, attribute.kind) for attribute in table.schema] == [
        ("a", Kind.NUMERIC),
        ("b", Kind.CATEGORICAL),
    ]
    assert cells(table, "b") == ["x", "y"]
    assert table_digest(table) == table_digest(read("a,b\n1,x\n?,y\n"))


def test_quotes():
    table = read('a,b\n"x, ""y""","two\nlines"\n plain ,z"z\n')
    assert cells(table, "a") == ['x, "y"', " plain "]
    assert cells(table, "b") == ["two\nlines", 'z"z']


def test_tokens_can_be_told():
    table = read("a\n-\nx\nNA\n", tokens=("-",))
    assert cells(table, "a") == [None, "x", "NA"]


def test_declared_kinds():
    declared = {
        "a": Declaration(Kind.CATEGORICAL),
        "b": Declaration(Kind.ORDINAL, ("lo", "hi")),
        "c": Declaration(Kind.IGNORE),
    }
    table = read("a,b,c\n01,hi,x\n1,lo,\n", declared)
    assert [attribute.kind for attribute in table.schema] == [Kind.CATEGORICAL, Kind.ORDINAL, Kind.IGNORE]
    assert cells(table, "a") == ["01", "1"]
    assert table.values("b").tolist() == [1, 0]


def test_an_empty_file_and_a_header_alone_are_no_table():
    assert lines(EmptyTable, "") == [1]
    assert lines(EmptyTable, "\ufeff") == [1]
    assert lines(EmptyTable, "\n\n") == [1]
    assert lines(EmptyTable, "a,b") == [1]
    assert lines(EmptyTable, "\n\na,b\n\n") == [3]


def test_every_ragged_row_is_named_by_its_line():
    assert lines(InvalidTable, 'a,b\n1\n"x\ny",2\n1,2,3\n\n4\n') == [2, 5, 7]


def test_ragged_rows_say_what_was_expected_and_found():
    with pytest.raises(InvalidTable, match="3 cells where the header has 2"):
        read("a,b\n1,2,3\n")


def test_at_most_100_faults_are_listed():
    assert len(lines(InvalidTable, "a,b\n" + "1\n" * 500)) == 100


@pytest.mark.parametrize("header", ["a,a", "a,", ",a", "a,b\x01", "a,b\tc", "x," + "y" * 501])
def test_bad_names_of_columns(header):
    assert lines(InvalidTable, f"\n{header}\n1,2\n") == [2]


def test_nul_is_refused_by_its_line():
    assert lines(InvalidFile, "a,b\n1,2\n1,\0\n") == [3]


def test_wrong_encodings_are_refused_by_their_line():
    assert lines(InvalidFile, "色泽,好瓜\n青绿,是\n".encode("gbk")) == [1]
    assert lines(InvalidFile, b"a\n" * 50_000 + b"\xff\n") == [50_001]


def test_utf_16_is_recognised():
    with pytest.raises(InvalidFile, match="UTF-16"):
        read("a,b\n1,2\n".encode("utf-16"))


def test_a_quote_never_closed_is_named_where_it_opens():
    assert lines(InvalidFile, 'a,b\n1,2\n3,"open\n4,5\n6,7\n') == [3]
    assert lines(InvalidFile, 'a,b\n"1\n1","2 ""\n""\n') == [3]


def test_text_after_a_closing_quote_is_refused():
    assert lines(InvalidFile, 'a,b\n1,2\n"x"y,2\n') == [3]


def test_cells_that_do_not_fit_are_named_by_line_and_column():
    declared = {"a": Declaration(Kind.NUMERIC), "b": Declaration(Kind.CATEGORICAL, ("x", "y"))}
    with pytest.raises(InvalidTable) as caught:
        read('a,b\n"1\n",x\nz,x\n2,w\n', declared)
    assert [(fault.line, fault.detail) for fault in caught.value.faults] == [
        (4, 'column "a": "z" is not a number'),
        (5, 'column "b": "w" is not one of the declared categories'),
    ]


def test_a_column_declared_but_not_there_has_a_pointer():
    with pytest.raises(InvalidTable) as caught:
        read("age,b\n1,2\n", {"agee": Declaration(Kind.NUMERIC)})
    assert [(fault.path, fault.hint) for fault in caught.value.faults] == [(("schema", "agee"), "did you mean age?")]


def test_a_cell_of_ten_megabytes():
    large = "x" * 10_000_000
    assert cells(read(f"a,b\n{large},1\n"), "a") == [large]


def test_words_that_come_late_in_a_column_of_numbers(monkeypatch):
    monkeypatch.setattr(module, "ROWS_PER_BLOCK", 2)
    table = read("a,b\n1,1\n2,2\n1,?\nx,4\n2,5\n")
    assert cells(table, "a") == ["1", "2", "1", "x", "2"]
    assert table.schema[1].kind is Kind.NUMERIC


def test_the_watermelon_table():
    data = (Path(__file__).parents[2] / "golden" / "watermelon_2.0a.csv").read_bytes()
    table = read(data)
    assert table.n_rows == 17
    assert table.schema[1].categories == ("乌黑", "青绿", "浅白")
    assert cells(table, "色泽")[0] is None


names = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=5)
words = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=4)
texts = words.filter(lambda text: text not in TOKENS).map(lambda text: f"{text}~")
numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 6))
    cells = st.one_of(numbers, texts).flatmap(
        lambda example: st.lists(
            st.none() | (numbers if isinstance(example, float) else texts), min_size=n_rows, max_size=n_rows
        )
    )
    return draw(st.dictionaries(names, cells, min_size=1, max_size=4))


@given(tables())
def test_columns_records_and_csv_of_one_table_have_one_digest(columns):
    rows = list(zip(*columns.values(), strict=True))
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(columns)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    digest = table_digest(table_from_columns(columns, {}, ()))
    assert table_digest(table_from_records(records, {}, ())) == digest
    assert table_digest(read(written.getvalue())) == digest
