import json

import pytest
from fastapi import Request

from service.api.bodies import media_type, parse_json
from service.api.problems import pointer
from service.errors import MalformedBody


def pointers(body: bytes) -> list[str]:
    with pytest.raises(MalformedBody) as caught:
        parse_json(body)
    return [pointer(fault.path) for fault in caught.value.faults]


@pytest.mark.parametrize(
    "value",
    [{}, [], 3, -0.5, "纹理 🍉", None, True, {"a": [1, {"b": None}]}, 2**70, "e1000", "1" * 300],
)
def test_json_is_read_as_it_is(value):
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


def test_a_whole_surrogate_pair_is_a_character():
    assert parse_json(b'"\\ud83c\\udf49"') == "🍉"


def test_a_byte_order_mark_is_skipped():
    assert parse_json(b"\xef\xbb\xbf[1]") == [1]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[1,]", b"{'a': 1}", b"[1] 2", b"nul", b'"\x01"', b"\xff\xfe[\x001\x00]\x00"]
)
def test_what_is_not_json_is_refused(body):
    with pytest.raises(MalformedBody):
        parse_json(body)


def test_the_place_of_a_slip_is_named():
    with pytest.raises(MalformedBody, match="line 2, column 3"):
        parse_json(b'{"a": 1,\n  b: 2}')


def test_the_byte_that_is_not_utf8_is_named():
    with pytest.raises(MalformedBody, match="byte 7 "):
        parse_json(b'{"a": "\xff"}')


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e400", "1" * 400, "9" * 10_000])
def test_numbers_beyond_float64_are_refused_with_their_place(number):
    assert pointers(f'{{"a": [1, {number}]}}'.encode()) == ["#/a/1"]


def test_long_mantissas_cannot_smuggle_infinity():
    assert pointers(b"[" + b"9" * 250 + b"e99]") == ["#/0"]


def test_text_no_database_stores_is_refused_with_its_place():
    assert pointers(b'{"a": "x\\u0000", "b": "\\ud800", "c/d~": ["\\udC00"]}') == ["#/a", "#/b", "#/c~1d~0/0"]
    assert pointers(b'{"a\\u0000": 1}') == ["#"]


def test_repeated_keys_are_refused_with_their_place():
    assert pointers(b'{"x": {"a": 1, "b": 2, "a": 3}}') == ["#/x/a"]


@pytest.mark.parametrize("depth", [65, 500, 100_000])
@pytest.mark.parametrize("pair", [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_refused(depth, pair):
    opening, closing = pair
    with pytest.raises(MalformedBody, match="64 levels"):
        parse_json((opening * depth + "1" + closing * depth).encode())


def test_64_levels_are_taken():
    parse_json(b"[" * 64 + b"]" * 64)


def test_at_most_100_faults_are_listed():
    assert len(pointers(b"[" + b"NaN," * 500 + b"1]")) == 100


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("application/json", "application/json"),
        ("Application/JSON; charset=utf-8", "application/json"),
        ("application/vnd.niwaki+json", "application/json"),
        ("text/csv; header=present", "text/csv"),
        ("nonsense", "text/plain"),
        (None, ""),
    ],
)
def test_media_types(header, kind):
    headers = [(b"content-type", header.encode())] if header else []
    assert media_type(Request({"type": "http", "headers": headers})) == kind
