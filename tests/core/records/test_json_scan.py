"""A scan reads what a decoder and `encode_records` make of a body, or nothing."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.records.json_scan import MOST_LEFT, RecordScanner
from core.records.records import EncodedRecords, encode_columns, encode_records
from core.tables.errors import RecordsDoNotFit
from core.tables.schema import Attribute, Kind, Schema
from tests.examples import examples

SCHEMA = Schema(
    (
        Attribute("密度", Kind.NUMERIC),
        Attribute("x", Kind.NUMERIC),
        Attribute('say "so"\\', Kind.CATEGORICAL, ("清晰", "稍糊", "a\nb", "")),
        Attribute("rings", Kind.CATEGORICAL, ("3", "2.5", "-7")),
        Attribute("ripe", Kind.CATEGORICAL, ("true", "no")),
        Attribute("grade", Kind.ORDINAL, ("low", "a longer grade than eight bytes", "a longer grade than eight bits!")),
        Attribute("empty", Kind.CATEGORICAL, ()),
    )
)
IGNORABLE = ("id", "x", "编号")
OPTIONS = {"ignorable": IGNORABLE, "ignore_unknown": False}
SCANNER = RecordScanner(SCHEMA, IGNORABLE)


def assert_same(found: EncodedRecords, expected: EncodedRecords) -> None:
    for one, other in zip(found.table.columns, expected.table.columns, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other, equal_nan=one.dtype == np.float64)
    assert np.array_equal(found.states, expected.states)


def usual(attribute: Attribute) -> st.SearchStrategy:
    if attribute.is_numeric:
        return st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**70), 2**70))
    return st.one_of(st.none(), st.sampled_from([*attribute.categories, "never seen"]))


anything = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=9), st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([3, 3.0, -7, -0, 2.5, True, False, 10**400, "3", "true", [], {}, [1], {"x": 1}]),
)  # fmt: skip
usual_records = st.lists(st.fixed_dictionaries({}, optional={a.name: usual(a) for a in SCHEMA}), max_size=6)
names = st.sampled_from([*SCHEMA.names, *IGNORABLE, "unknown"])
any_records = st.lists(st.dictionaries(names, anything, max_size=5), max_size=4)
layouts = st.sampled_from(
    [{}, {"separators": (",", ":")}, {"indent": 1}, {"indent": "\t", "separators": (" ,\r", " :\n")}]
)


@pytest.mark.slow
@examples(200)
@given(st.one_of(usual_records, any_records), layouts, st.booleans())
def test_records_are_read_like_decoded_ones_or_not_at_all(records, layout, ascii_only):
    body = b" " + json.dumps(records, ensure_ascii=ascii_only, **layout).encode() + b" ,rest"
    scanned = SCANNER.records(body, 1)
    if scanned is not None:
        assert_same(scanned[0], encode_records(json.loads(json.dumps(records)), SCHEMA, **OPTIONS))
        assert body[scanned[1] :] == b" ,rest"


@examples(100)
@given(usual_records, layouts, st.booleans())
def test_what_is_usual_is_read(records, layout, ascii_only):
    scanned = SCANNER.records(json.dumps(records, ensure_ascii=ascii_only, **layout).encode(), 0)
    assert scanned is not None
    assert scanned[0].table.n_rows == len(records)


@pytest.mark.slow
@examples(150)
@given(st.data(), st.integers(0, 4), layouts, st.booleans())
def test_columns_are_read_like_decoded_ones(data, n_rows, layout, ascii_only):
    chosen = data.draw(st.lists(st.sampled_from(SCHEMA.columns), unique_by=lambda a: a.name, min_size=1))
    columns = {a.name: data.draw(st.lists(usual(a), min_size=n_rows, max_size=n_rows)) for a in chosen}
    body = json.dumps(columns, ensure_ascii=ascii_only, **layout).encode()
    scanned = SCANNER.columns(body, 0)
    assert scanned is not None
    assert_same(scanned[0], encode_columns(columns, SCHEMA, **OPTIONS))
    assert scanned[1] == len(body)


@examples(300)
@given(usual_records, st.binary(min_size=1, max_size=2), st.data())
def test_a_damaged_body_is_read_as_what_it_is_now_or_not_at_all(records, damage, data):
    body = json.dumps(records, ensure_ascii=False).encode()
    position = data.draw(st.integers(0, len(body) - 1))
    damaged = body[:position] + damage + body[position + data.draw(st.integers(0, 2)) :]
    if not damaged.startswith(b"["):
        return
    scanned = SCANNER.records(damaged, 0)
    if scanned is not None:
        decoded = json.loads(damaged[: scanned[1]].decode(), object_pairs_hook=without_repeats)
        assert_same(scanned[0], encode_records(decoded, SCHEMA, **OPTIONS))


def without_repeats(pairs):
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@pytest.mark.parametrize(
    "body",
    [
        '[{"x":1,"x":1}]',
        '[{"x":1e999}]',
        '[{"x":"1"}]',
        '[{"x":true}]',
        '[{"x":01}]',
        '[{"x":1}',
        '[{"x":1},]',
        '[{"x":1 "ripe":null}]',
        '[{"x" 1}]',
        '[{"x":nul}]',
        '[{"x":fals}]',
        '[{"unknown":1}]',
        '[{"id":"\\u0000"}]',
        '[{"id":[1]}]',
        '[{"id":1e999}]',
        '[{"id":"tab\t"}]',
        '[{"rings":3.0}]',
        '[{"rings":-0}]',
        '[{"ripe":1}]',
        '[{"grade":"l\\u006fw"}]',
        '[{"grade":"low\\',
        "[1]",
        "[[]]",
        "[{},",
        "[",
        "{}",
    ],
)
def test_what_is_not_usual_is_left_to_others(body):
    assert SCANNER.records(body.encode(), 0) is None


def test_names_that_the_model_does_not_use_are_passed_over():
    assert SCANNER.records(b'[{"id":"a\\"b","x":1}]', 0) is None  # what has escapes may hold what is refused
    records, _ = SCANNER.records('[{"id":"ä","编号":-1.5e3,"x":1},{"编号":true}]'.encode(), 0)
    assert records.table.values("x").tolist()[0] == 1.0


def test_columns_of_unequal_length_are_left_to_others():
    assert SCANNER.columns(b'{"x":[1,2],"ripe":["no"]}', 0) is None
    assert SCANNER.columns(b'{"x":[1],"ripe":["no","no"]}', 0) is None
    assert SCANNER.columns(b'{"x":[1],"x":[1]}', 0) is None
    assert SCANNER.columns(b'{"x":1}', 0) is None


def test_text_that_is_not_utf8_is_left_to_others():
    assert SCANNER.records(b'[{"id":"\xff"}]', 0) is None


def test_numbers_of_many_digits_are_read_too():
    text = "0.1000000000000000055511151231257827021181583404541015625"
    records, _ = SCANNER.records(b'[{"x":%b},{"x":5e-324}]' % text.encode(), 0)
    assert records.table.values("x").tolist() == [0.1, 5e-324]
    many = b",".join([b'{"x":%b}' % text.encode()] * (MOST_LEFT + 1))
    assert SCANNER.records(b"[%b]" % many, 0) is None


def test_faults_are_found_by_those_who_are_left_with_them():
    assert SCANNER.records(b'[{"x":"1"}]', 0) is None
    with pytest.raises(RecordsDoNotFit):
        encode_records([{"x": "1"}], SCHEMA, **OPTIONS)
