"""The quick ways to read a body take what the strict one takes, make the same of it, and take nothing else."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.prediction.routing import MissingPolicy
from core.records.records import EncodedRecords, encode_columns, encode_records
from service.api.predicting.bodies import PredictionBody, read_body, read_strictly, read_usual, scan_body
from service.api.schemas.predictions import PredictionField
from service.errors import InvalidBody, MalformedBody, ServiceError
from tests.core.records.test_json_scan import IGNORABLE, SCANNER, SCHEMA, assert_same, usual_records

STEADY = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

words = st.sampled_from(["清晰", "low", "a:b", 'a":b', " :", "\x00", "\ud800", "x" * 300, "", "\u2028", "null", "𝄞"])
numbers = st.one_of(
    st.integers(-(2**70), 2**70), st.floats(), st.sampled_from([10**308, 10**309, 10**400, -0.0, 1e999])
)
nests = st.integers(1, 70).map(lambda depth: json.loads("[" * depth + "]" * depth))
values = st.one_of(st.none(), st.booleans(), numbers, words, st.text(max_size=5), nests, st.just({"a": {"b": 1}}))
names = st.one_of(st.sampled_from([*SCHEMA.names, *IGNORABLE, "unknown"]), st.text(max_size=3))
records = st.one_of(usual_records, st.lists(st.dictionaries(names, values, max_size=3), max_size=3), values)
columns = st.one_of(st.dictionaries(names, st.lists(values, max_size=3), max_size=3), values)
options = {
    "missing": st.one_of(st.sampled_from([None, *map(str, MissingPolicy)]), values),
    "step": st.one_of(st.integers(-1, 3), st.sampled_from(["selected", "full", "leaves:7"]), values),
    "explain": st.one_of(st.booleans(), values),
    "ignore_unknown": st.one_of(st.booleans(), values),
    "fields": st.one_of(st.none(), st.lists(st.sampled_from([*map(str, PredictionField), "all"]), max_size=3), values),
    "unknown": values,
}
asked = st.one_of(
    st.fixed_dictionaries({"records": usual_records}, optional=options),
    st.fixed_dictionaries({}, optional={"records": records, "columns": columns, **options}),
    values,
)


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """Bodies as clients send them, and damaged in all the ways that come to mind."""
    indent = draw(st.sampled_from([None, None, None, 1]))
    text = json.dumps(draw(asked), ensure_ascii=draw(st.booleans()), indent=indent)
    body = text.encode("utf-8", "surrogatepass")
    damage = draw(st.sampled_from(["none"] * 4 + ["byte", "cut", "double", "more", "repeat", "blanks", "mark"]))
    place = draw(st.integers(0, len(body)))
    match damage:
        case "byte":
            return body[:place] + draw(st.binary(min_size=1, max_size=2)) + body[place + 1 :]
        case "cut":
            return body[:place]
        case "double":
            end = draw(st.integers(place, len(body)))
            return body[:end] + body[place:end] + body[end:]
        case "more":
            return body + draw(st.sampled_from([b" ", b"\n", b"x", b"{}", b"\0", b",", b"\xff"]))
        case "repeat":
            first, colon, rest = body.partition(b'":')
            return first + colon + b"1," + first[1:] + colon + rest if colon else body
        case "blanks":
            return body.replace(
                b":", draw(st.sampled_from([b" : ", b"\t:", b":\r\n", b"\n :"])), draw(st.integers(1, 5))
            )
        case "mark":
            return b"\xef\xbb\xbf" + body
    return body


def outcome(read: Any, body: bytes) -> Any:
    """What a reader makes of a body: the value, or the error with its places."""
    try:
        return read(body)
    except (MalformedBody, InvalidBody) as error:
        return type(error), error.detail, error.faults


def encoded(body: PredictionBody) -> EncodedRecords:
    settings = {"ignorable": IGNORABLE, "ignore_unknown": body.ignore_unknown}
    if body.records is not None:
        return encode_records(body.records, SCHEMA, **settings)
    return encode_columns(body.columns, SCHEMA, **settings)


def is_same(one: Any, other: Any) -> bool:
    """Equal, and of the same types: 1 and 1.0, or 0.0 and -0.0, are not the same."""
    return repr(one) == repr(other)


@settings(STEADY, max_examples=600)
@given(bodies())
@example(b"")
@example(b'{"records":[{"a":1,"a":1}]}')
@example(b'{"records":[{"a" :1,"a":1}]}')
@example(b'{"records":[],"records":[]}')
@example(b'{"records":[{"x":' + b"9" * 400 + b"}]}")
@example(b'{"records":[{"x":' + b"9" * 5000 + b"}]}")
@example(b'{"records":[{"x":"\\ud83d\\ude00"}]}')
@example(b'{"records":[{"x":"\\udc00"}]}')
@example(b'{"records":[{"x":"\\u0000"}]}')
@example(b'{"records":[{"x":1}]}\xff')
@example(b'{"\\u0072ecords":[{"x":1}]}')
@example(b'{"records":[],"step":1' + b"0" * 309 + b"}")
@example(b'{"records":[],"step":9223372036854775808}')
@example(b'{"columns":{"records":[{"x":1}]}}')
@example(b'{"step":"\\"records\\":[","records":[{"x":1}]}')
def test_the_quick_ways_and_the_strict_way_agree(body: bytes) -> None:
    strictly = outcome(read_strictly, body)
    assert is_same(outcome(read_body, body), strictly)
    usual = read_usual(body)
    assert usual is None or is_same(usual, strictly)
    scanned = scan_body(body, SCANNER)
    if scanned is not None:
        assert isinstance(strictly, PredictionBody)
        around, found = scanned
        assert around.records == ([] if strictly.records is not None else None)
        assert around.columns == ({} if strictly.columns is not None else None)
        for name in ("missing", "step", "explain", "ignore_unknown", "fields"):
            assert is_same(getattr(around, name), getattr(strictly, name))
        assert_same(found, encoded(strictly))


@settings(STEADY, max_examples=100)
@given(usual_records, st.sampled_from([None, (",", ":")]), st.booleans())
def test_what_clients_usually_send_is_read_quickly(sent: list[dict[str, Any]], separators: Any, is_ascii: bool) -> None:
    body = json.dumps({"records": sent, "step": 1}, ensure_ascii=is_ascii, separators=separators).encode()
    assert scan_body(body, SCANNER) is not None
    if all(not isinstance(cell, int) or abs(cell) < 2**63 for record in sent for cell in record.values()):
        assert read_usual(body) is not None


@pytest.mark.parametrize(
    ("body", "places"),
    [
        (b'{"records":[{"x":1,"x":2}]}', [("records", 0, "x")]),
        (b'{"records":[{"x":NaN},{"x":-Infinity}]}', [("records", 0, "x"), ("records", 1, "x")]),
        (b'{"records":[{"id":1e999}]}', [("records", 0, "id")]),
        (b'{"records":[{"id":"\\u0000"}]}', [("records", 0, "id")]),
        (b'{"records":[{"id":' + b"1" * 310 + b"}]}", [("records", 0, "id")]),
        (b'{"records":[1,{"x":1},[]]}', [("records", 0), ("records", 2)]),
        (b'{"records":[],"fields":["label","lable",3]}', [("fields", 1), ("fields", 2)]),
        (b'{"records":[],"fields":[]}', [("fields",)]),
        (b'{"records":[],"step":-1,"explain":1}', [("step",), ("explain",)]),
        (b"", [()]),
    ],
)
def test_every_fault_is_named_with_its_place(body: bytes, places: list[tuple[str | int, ...]]) -> None:
    with pytest.raises(ServiceError) as error:
        read_body(body)
    assert [fault.path for fault in error.value.faults] == places
