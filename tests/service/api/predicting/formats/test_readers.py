"""Every format says the same records: those that JSON would say."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from core.records.columns import RecordBlock
from core.records.json_scan import RecordScanner
from core.records.records import EncodedRecords, encode_records
from core.tables.errors import RecordsDoNotFit
from core.tables.schema import Attribute, Kind, Schema
from service.api.predicting.formats import blocks
from service.api.predicting.formats.arrow_stream import read_arrow_stream
from service.api.predicting.formats.blocks import Wanted, checked
from service.api.predicting.formats.csv_table import read_csv_records
from service.api.predicting.formats.json_lines import read_json_lines, scan_lines
from service.errors import MalformedBody
from service.kernel_cache import KernelCache
from tests.examples import examples
from tests.service.api.predicting.formats.written import as_arrow, as_csv, as_lines, stream_of

SCHEMA = Schema(
    (
        Attribute("size", Kind.NUMERIC),
        Attribute("纹理", Kind.CATEGORICAL, ("清晰", "稍糊", 'a "b", c')),
        Attribute("grade", Kind.ORDINAL, ("low", "high")),
        Attribute("rings", Kind.CATEGORICAL, ("3", "4", "2.5")),
        Attribute("ripe", Kind.CATEGORICAL, ("true", "false")),
    )
)
WANTED = Wanted(SCHEMA, frozenset({"note"}), ignore_unknown=False)
TYPES = {
    "size": pa.float64(),
    "纹理": pa.string(),
    "grade": pa.dictionary(pa.int8(), pa.string()),
    "rings": pa.float64(),
    "ripe": pa.bool_(),
}
TOKENS = ("", "?", "NA")

RECORDS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "size": st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53),
            "纹理": st.none() | st.sampled_from(["清晰", "稍糊", 'a "b", c', "模糊", "new\nline"]),
            "grade": st.none() | st.sampled_from(["low", "high", "higher"]),
            "rings": st.none() | st.sampled_from([3, 4, 2.5, 7]),
            "ripe": st.none() | st.booleans(),
            "note": st.just("unused"),
        },
    ),
    max_size=12,
)


def read(body: bytes, media: str, wanted: Wanted = WANTED) -> list[RecordBlock]:
    readers = {
        "ndjson": lambda: read_json_lines(body, wanted),
        "csv": lambda: read_csv_records(body, wanted, TOKENS),
        "arrow": lambda: read_arrow_stream(body, wanted),
    }
    return list(checked(readers[media]).blocks)


def encoded(blocks: list[RecordBlock]) -> Iterator[tuple[list[float], list[int]]]:
    """Each record's cells and states."""
    for block in blocks:
        yield from rows_of(block.encoded(SCHEMA))


def rows_of(found: EncodedRecords) -> Iterator[tuple[list[float], list[int]]]:
    cells = np.column_stack([np.asarray(column, dtype=np.float64) for column in found.table.columns])
    states = np.zeros(cells.shape, dtype=np.uint8) if found.states is None else found.states
    for row in range(found.table.n_rows):
        yield np.nan_to_num(cells[row], nan=-1e300).tolist(), states[row].tolist()


@given(RECORDS)
@examples(100, deadline=None)
def test_all_formats_say_what_json_says(records: list[dict[str, Any]]) -> None:
    said = encode_records(records, SCHEMA, ignorable=WANTED.ignorable, ignore_unknown=False)
    expected = list(rows_of(said))
    assert list(encoded(read(as_lines(records), "ndjson"))) == expected
    assert list(encoded(read(as_csv(records, [*SCHEMA.names, "note"]), "csv"))) == expected
    for rows_per_batch in (1, 5, 100):
        assert list(encoded(read(as_arrow(records, TYPES, rows_per_batch=rows_per_batch), "arrow"))) == expected


NUMBER_TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
NUMBER_TYPES += [pa.float16(), pa.float32(), pa.float64(), pa.dictionary(pa.int32(), pa.float64())]
TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.uint8(), pa.large_string())]


@pytest.mark.parametrize("type_", NUMBER_TYPES, ids=str)
def test_arrow_numbers_of_any_width(type_: pa.DataType) -> None:
    records = [{"size": 3, "rings": 3}, {"size": None, "rings": None}, {"size": 7, "rings": 7}]
    found = list(encoded(read(as_arrow(records, {"size": type_, "rings": type_}), "arrow")))
    assert [(cells[0], cells[3]) for cells, _ in found] == [(3.0, 0.0), (-1e300, -1.0), (7.0, -1.0)]
    assert [(states[0], states[3]) for _, states in found] == [(0, 0), (1, 1), (0, 2)]


@pytest.mark.parametrize("type_", TEXT_TYPES, ids=str)
def test_arrow_text_of_any_kind(type_: pa.DataType) -> None:
    records = [{"纹理": "稍糊"}, {"纹理": None}, {"纹理": "unseen"}, {"纹理": "清晰"}]
    found = list(encoded(read(as_arrow(records, {"纹理": type_}), "arrow")))
    assert [(cells[1], states[1]) for cells, states in found] == [(1.0, 0), (-1.0, 1), (-1.0, 2), (0.0, 0)]


def test_arrow_columns_of_nothing_but_nulls_are_missing_whatever_their_type() -> None:
    table = pa.table({"size": pa.nulls(3, pa.string()), "纹理": pa.nulls(3), "ripe": pa.nulls(3, pa.list_(pa.int8()))})
    assert [states for _, states in encoded(read(stream_of(table), "arrow"))] == [[1, 1, 1, 1, 1]] * 3


def test_arrow_dictionaries_may_change_between_batches() -> None:
    schema = pa.schema({"grade": pa.dictionary(pa.int32(), pa.string())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for words in (["low", "high"], ["high", "low"], ["low", "high", "other"]):
            array = pa.DictionaryArray.from_arrays(pa.array([0, None, len(words) - 1], pa.int32()), pa.array(words))
            writer.write_batch(pa.record_batch([array], schema=schema))
    found = list(encoded(read(sink.getvalue().to_pybytes(), "arrow")))
    assert [int(cells[2]) for cells, _ in found] == [0, -1, 1, 1, -1, 0, 0, -1, -1]
    assert [states[2] for _, states in found] == [0, 1, 0, 0, 1, 0, 0, 1, 2]


def test_a_null_inside_a_dictionary_is_missing() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["low", None]))
    found = list(encoded(read(stream_of(pa.table({"grade": array})), "arrow")))
    assert [states[2] for _, states in found] == [0, 1]


def test_csv_cells_are_read_as_in_a_dataset() -> None:
    body = '\ufeffsize,ripe,rings\r\n 1.5 ,true,3\r\n?,NA,3.0\r\n\r\n1e3,True,"4"\r\n'.encode()
    found = list(encoded(read(body, "csv")))
    assert [(cells[0], cells[4], cells[3]) for cells, _ in found] == [(1.5, 0, 0), (-1e300, -1, -1), (1000.0, -1, 1)]
    assert [states for _, states in found] == [[0, 1, 1, 0, 0], [1, 1, 1, 2, 1], [0, 1, 1, 0, 2]]


def test_a_token_is_missing_even_where_a_category_is_called_so() -> None:
    wanted = Wanted(Schema((Attribute("state", Kind.CATEGORICAL, ("NA", "CA")),)), (), ignore_unknown=False)
    (block,) = read_csv_records(b"state\nNA\nCA\n", wanted, TOKENS)
    assert block.columns["state"].cells.tolist() == [-1, 1]
    (block,) = read_csv_records(b"state\nNA\nCA\n", wanted, ())
    assert block.columns["state"].cells.tolist() == [0, 1]


@pytest.mark.parametrize("media", ["ndjson", "csv", "arrow"])
def test_a_body_without_records_has_none(media: str) -> None:
    body = {"ndjson": b" \n\n", "csv": b"size\n", "arrow": as_arrow([], TYPES)}[media]
    assert [block.n_rows for block in read(body, media)] == [0]


def places(body: bytes, media: str, error: type[Exception] = RecordsDoNotFit, wanted: Wanted = WANTED) -> list[Any]:
    with pytest.raises(error) as caught:
        read(body, media, wanted)
    return [(fault.line, fault.path) for fault in caught.value.faults]


def test_faults_name_their_lines_in_ndjson() -> None:
    body = b'{"size": "big"}\n\n{"size": 1}\n{"sise": 1, "grade": 5}\n'
    assert places(body, "ndjson") == [(4, ("sise",)), (1, ("size",)), (4, ("grade",))]


@pytest.fixture(scope="module")
def scanner(warm_kernels: KernelCache) -> RecordScanner:
    return RecordScanner(SCHEMA, WANTED.ignorable)


@given(RECORDS)
@examples(100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_compiled_code_reads_the_same_lines(scanner: RecordScanner, records: list[dict[str, Any]]) -> None:
    body = as_lines(records)
    by_scanner = list(encoded(list(read_json_lines(body, WANTED, scanner))))
    assert by_scanner == list(encoded(list(read_json_lines(body, WANTED))))


@pytest.mark.parametrize(
    "lines",
    [
        [b'{"size": 1}', b'{"size": 2}\r', b"{}"],
        [b'{"size": 1}, {"size": 2}', b'{"size": 3}'],
        [b'{"size": 1}', b'{"size": 3}] '],
        [b'{"size": 1}', b'{"size": 3},'],
        [b'{"size": 1}{"size": 2}'],
        [b'{"grade": "a}', b'{b"}'],
        [b'{"size": 1', b'{"size": 2}'],
        [b'{"size":', b"1}"],
        [b'{"size": 1}', b"[]"],
        [b'{"size": 1, "size": 2}'],
    ],
)
def test_compiled_code_takes_no_line_that_is_not_one_record(scanner: RecordScanner, lines: list[bytes]) -> None:
    body, is_good = b"\n".join(lines), lines[-1] == b"{}"
    numbered = list(enumerate(lines, start=1))
    assert (scan_lines(numbered, scanner) is not None) is is_good
    if not is_good:
        with pytest.raises(MalformedBody):
            list(read_json_lines(body, WANTED, scanner))


def test_lines_that_are_no_objects_are_all_named() -> None:
    body = b'{"size": 1}\n[1]\n{"size": 1,}\n{"size": NaN}\n{"size": 1, "size": 2}\n{"size": 1}{"size": 2}\n\xff\n'
    found = places(body, "ndjson", MalformedBody)
    assert found == [(2, ()), (3, ()), (4, ("size",)), (5, ("size",)), (6, ()), (7, ())]


def test_faults_name_their_lines_in_csv() -> None:
    body = b'size,sise,rings\n1,2,3\n\nbig,2,3\n"1\n2",2,3\n1,2,\n'
    assert places(body, "csv") == [(1, ()), (4, ()), (5, ())]
    assert places(b"size,rings\n1\n1,2,3\n1,2\n", "csv") == [(2, ()), (3, ())]
    assert places(b"size,size\n1,2\n", "csv") == [(1, ())]


@pytest.mark.parametrize(
    ("body", "line"), [(b"", 1), (b'size\n"1', 2), (b"size\n1\n\xff\n", 3), (b"si\0ze\n1\n", 1), (b'size\n"1"2\n', 2)]
)
def test_what_is_not_csv_is_malformed(body: bytes, line: int) -> None:
    assert places(body, "csv", MalformedBody) == [(line, ())]


def test_faults_name_column_and_row_in_arrow() -> None:
    nan, inf = float("nan"), float("inf")
    table = pa.table(
        {
            "size": [1.0, nan, None, inf],
            "sise": [1, 2, 3, 4],
            "grade": pa.array([1, 2, None, 3]),
            "ripe": pa.array([[1], [], None, []], pa.list_(pa.int8())),
            "rings": [3.0, nan, None, 7.0],
        }
    )
    expected = [
        (None, ("columns", "sise")),
        (None, ("columns", "size", 1)),
        (None, ("columns", "size", 3)),
        (None, ("columns", "grade", 0)),
        (None, ("columns", "grade", 1)),
        (None, ("columns", "grade", 3)),
        (None, ("columns", "rings", 1)),
        (None, ("columns", "ripe")),
    ]
    assert places(stream_of(table), "arrow") == expected
    assert set(places(stream_of(table, rows_per_batch=2), "arrow")) == set(expected)


def test_an_arrow_column_twice_is_refused() -> None:
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["size", "size"])
    assert places(stream_of(table), "arrow") == [(None, ("columns", "size"))]


@pytest.mark.parametrize("media", ["ndjson", "csv", "arrow"])
def test_unknown_names_are_dropped_on_request(media: str) -> None:
    wanted = Wanted(SCHEMA, (), ignore_unknown=True)
    records = [{"size": 1, "other": "x"}]
    table = stream_of(pa.table({"size": [1], "other": [[["x"]]]}))
    body = {"ndjson": as_lines(records), "csv": as_csv(records, ["size", "other"]), "arrow": table}[media]
    assert len(read(body, media, wanted)) == 1
    assert len(places(body, media)) == 1


@pytest.mark.parametrize("media", ["ndjson", "csv", "arrow"])
def test_the_first_hundred_faults_are_reported(media: str) -> None:
    records = [{"size": "x"}] * 250
    bad_numbers = stream_of(pa.table({"size": [float("nan")] * 250}), rows_per_batch=60)
    body = {"ndjson": as_lines(records), "csv": as_csv(records, ["size"]), "arrow": bad_numbers}[media]
    found = places(body, media)
    assert len(found) == len(set(found)) == 100


@pytest.mark.parametrize("media", ["ndjson", "csv", "arrow"])
def test_faults_far_behind_are_found_before_anything_is_handed_over(
    media: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("json_lines", "arrow_stream"):
        monkeypatch.setattr(f"service.api.predicting.formats.{module}.ROWS_PER_BLOCK", 10)
    monkeypatch.setattr("service.usecases.datasets.read_csv.ROWS_PER_BLOCK", 10)
    records: list[dict[str, Any]] = [{"size": 1.0}] * 99
    wrong = [*records, {"size": "x"}]
    last = stream_of(pa.table({"size": [1.0] * 99 + [float("nan")]}))
    good = {"ndjson": as_lines(records), "csv": as_csv(records, ["size"]), "arrow": as_arrow(records, TYPES)}[media]
    bad = {"ndjson": as_lines(wrong), "csv": as_csv(wrong, ["size"]), "arrow": last}[media]
    assert [block.n_rows for block in read(good, media)] == [10] * 9 + [9]
    assert len(places(bad, media)) == 1
    monkeypatch.setattr(blocks, "KEPT_BYTES", 100)
    assert [block.n_rows for block in read(good, media)] == [10] * 9 + [9]
    assert len(places(bad, media)) == 1


STREAM = as_arrow([{"size": i / 7, "纹理": "清晰", "grade": "low"} for i in range(20)], TYPES, rows_per_batch=5)


def test_an_arrow_stream_that_breaks_off_is_refused() -> None:
    whole, n_refused = [0, 5, 10, 15, 20], 0
    for length in range(0, len(STREAM), 13):
        try:
            (block,) = read(STREAM[:length], "arrow")
        except MalformedBody:
            n_refused += 1
        else:
            assert block.n_rows in whole  # between two batches, where a stream may end
    assert n_refused > 0.9 * len(STREAM) / 13


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "not a whole Arrow IPC stream"),
        (b"size\n1\n", "not a whole Arrow IPC stream"),
        (STREAM + b"more", "ends at byte"),
        (STREAM + STREAM, "ends at byte"),
        (stream_of(pa.table({"size": [1.0] * 500}), compression="zstd"), "compressed"),
        (stream_of(pa.table({"grade": pa.array(["low"] * 500).dictionary_encode()}), compression="lz4"), "compressed"),
        (stream_of(pa.table({"size": pa.nulls(10_000_000)})), "more rows than its bytes can hold"),
        (b"ARROW1\0\0" + STREAM, "file format"),
    ],
)
def test_what_is_no_plain_arrow_stream_is_malformed(body: bytes, says: str) -> None:
    with pytest.raises(MalformedBody, match=says):
        read(body, "arrow")


def test_an_index_outside_its_dictionary_is_malformed() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 9], pa.int8()), pa.array(["low"]), safe=False)
    with pytest.raises(MalformedBody, match="dictionary"):
        read(stream_of(pa.table({"grade": array})), "arrow")


@given(st.integers(0, len(STREAM) - 1), st.integers(0, 255), st.integers(0, len(STREAM) - 1), st.integers(0, 255))
@examples(300, deadline=None)
def test_no_byte_of_a_stream_can_do_harm(one: int, by_one: int, other: int, by_other: int) -> None:
    """Whatever it becomes, it is read or refused; a crash would end the tests."""
    body = bytearray(STREAM)
    body[one], body[other] = by_one, by_other
    try:
        assert all(block.n_rows <= 8 * len(body) for block in read(bytes(body), "arrow"))
    except (MalformedBody, RecordsDoNotFit) as error:
        assert str(error)  # noqa: PT017
