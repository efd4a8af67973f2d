import hashlib
import io
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from service.store.artifacts import Artifacts, read_table, table_digest, write_table
from tests.service.store.orders import melons


def assert_same(one: Table, other: Table) -> None:
    assert one.schema == other.schema
    for first, second in zip(one.columns, other.columns, strict=True):
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    n_rows = draw(st.integers(1, 8))
    names = draw(st.lists(st.text(min_size=1, max_size=5).filter(is_storable), min_size=1, max_size=4, unique=True))
    attributes, columns = [], []
    for name in names:
        kind = draw(st.sampled_from(Kind))
        if kind is Kind.NUMERIC:
            attributes.append(Attribute(name, kind))
            columns.append(np.array(draw(st.lists(st.floats(), min_size=n_rows, max_size=n_rows))))
        else:
            categories = tuple(draw(st.lists(st.text(max_size=4).filter(is_storable), max_size=4, unique=True)))
            attributes.append(Attribute(name, kind, categories))
            codes = st.integers(-1, len(categories) - 1)
            columns.append(np.array(draw(st.lists(codes, min_size=n_rows, max_size=n_rows)), dtype=np.int32))
    return Table(Schema(tuple(attributes)), tuple(columns))


def is_storable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


@given(tables())
def test_a_written_table_is_read_back(tmp_path_factory: pytest.TempPathFactory, table: Table) -> None:
    path = tmp_path_factory.getbasetemp() / "table.arrow"
    with path.open("wb") as file:
        write_table(table, file)
    again = read_table(path)
    assert_same(again, table)
    assert table_digest(again) == table_digest(table)


def test_many_rows_are_read_back(tmp_path: Path) -> None:
    table = melons(*np.arange((1 << 20) + 5, dtype=np.float64))
    with (tmp_path / "t.arrow").open("wb") as file:
        write_table(table, file)
    assert_same(read_table(tmp_path / "t.arrow"), table)


def test_others_can_read_the_file() -> None:
    file = io.BytesIO()
    write_table(melons(), file)
    stored = pa.ipc.open_file(file.getvalue()).read_all()
    assert stored.column("纹理").to_pylist() == ["清晰", None, "模糊"]
    assert stored.column("密度").to_pylist() == [0.697, None, 0.243]
    assert stored.column("纹理").chunk(0).dictionary.to_pylist() == ["清晰", "稍糊", "模糊"]


def test_the_digest_is_that_of_the_documented_bytes() -> None:
    schema = Schema((Attribute("n", Kind.NUMERIC), Attribute("色", Kind.CATEGORICAL, ("a", "b"))))
    table = Table(schema, (np.array([1.5, np.nan, -0.0]), np.array([1, -1, 0], dtype=np.int32)))
    said = (
        b"niwaki-table-1\n"
        + b'{"n_rows":3,"columns":[{"name":"n","kind":"numeric","categories":[]},'
        + '{"name":"色","kind":"categorical","categories":["a","b"]}]}\n'.encode()
        + struct.pack("<dQd", 1.5, 0x7FF8000000000000, 0.0)
        + struct.pack("<iii", 1, -1, 0)
    )
    assert table_digest(table) == "sha256:" + hashlib.sha256(said).hexdigest()


def test_the_digest_ignores_how_numbers_are_laid_out() -> None:
    numbers = np.array([1.0, np.nan, 3.0, 4.0])
    strange_nan = numbers.copy()
    strange_nan[1] = np.frombuffer(b"\x01\x00\x00\x00\x00\x00\xf8\xff", dtype="<f8")[0]
    schema = Schema((Attribute("n", Kind.NUMERIC),))
    digests = {
        table_digest(Table(schema, (values,)))
        for values in (numbers, strange_nan, np.repeat(numbers, 2)[::2], numbers.astype(">f8").astype(np.float64))
    }
    assert len(digests) == 1


@pytest.mark.parametrize("change", ["name", "kind", "categories", "cell", "rows"])
def test_the_digest_notices_every_change(change: str) -> None:
    schema = Schema((Attribute("a", Kind.CATEGORICAL, ("x", "y")),))
    codes = np.array([0, 1, -1], dtype=np.int32)
    changed = {
        "name": Table(Schema((Attribute("b", Kind.CATEGORICAL, ("x", "y")),)), (codes,)),
        "kind": Table(Schema((Attribute("a", Kind.ORDINAL, ("x", "y")),)), (codes,)),
        "categories": Table(Schema((Attribute("a", Kind.CATEGORICAL, ("x", "z")),)), (codes,)),
        "cell": Table(schema, (np.array([0, 1, 1], dtype=np.int32),)),
        "rows": Table(schema, (codes[:2],)),
    }
    assert table_digest(changed[change]) != table_digest(Table(schema, (codes,)))


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    artifacts = Artifacts(tmp_path)
    impossible = Table(Schema((Attribute("\ud800", Kind.NUMERIC),)), (np.array([1.0]),))
    with pytest.raises(UnicodeEncodeError):
        artifacts.write_temporary(impossible)
    assert list(artifacts.temporary_folder.iterdir()) == []


def test_a_discarded_file_is_gone(tmp_path: Path) -> None:
    artifacts = Artifacts(tmp_path)
    temporary = artifacts.write_temporary(melons())
    artifacts.discard(temporary)
    artifacts.discard(temporary)
    assert list(artifacts.temporary_folder.iterdir()) == []
