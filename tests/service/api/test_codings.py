"""Compressed bodies in and out, on a route that everybody knows: sending a table."""

import gzip
import io
import json
import tracemalloc
import zlib
from typing import Any

import httpx
import pyarrow as pa
import pytest

from service.api.codings import GzipEncoder, ZstdEncoder, decoded
from service.errors import MalformedBody

pytestmark = pytest.mark.anyio

TABLE = {"name": "melons", "columns": {"x": [1, 2, 3], "y": ["p", "q", "p"]}}
PLAIN = json.dumps(TABLE).encode()
MANY = {"columns": {f"column {i}": [i] for i in range(100)}}


def zstd(body: bytes) -> bytes:
    return pa.Codec("zstd").compress(body, asbytes=True)


ENCODE = {"gzip": gzip.compress, "x-gzip": gzip.compress, "zstd": zstd, "ZSTD": zstd, "identity": bytes}


async def send(edge: httpx.AsyncClient, body: bytes, coding: str, **headers: str) -> httpx.Response:
    sent = {"Content-Type": "application/json", "Content-Encoding": coding, **headers}
    return await edge.post("/v1/datasets", content=body, headers=sent)


def problem(answer: httpx.Response, status: int, word: str) -> Any:
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{word}")
    return answer.json()


@pytest.mark.parametrize("coding", ENCODE)
async def test_a_compressed_body_says_what_the_plain_one_says(edge: httpx.AsyncClient, coding: str) -> None:
    answer = await send(edge, ENCODE[coding](PLAIN), coding)
    assert answer.status_code == 201
    assert answer.json()["digest"] == (await edge.post("/v1/datasets", json=TABLE)).json()["digest"]


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
async def test_a_body_in_two_members_and_a_raw_file(edge: httpx.AsyncClient, coding: str) -> None:
    body = ENCODE[coding](b"x,y\n1,p\n") + ENCODE[coding](b"2,q\n")
    answer = await send(edge, body, coding, **{"Content-Type": "text/csv"})
    assert (answer.status_code, answer.json()["n_rows"]) == (201, 2)


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, zstd", "compress"])
async def test_other_codings_are_refused_with_those_taken(edge: httpx.AsyncClient, coding: str) -> None:
    answer = await send(edge, PLAIN, coding)
    assert "gzip" in problem(answer, 415, "unsupported_content_coding")["detail"]
    assert answer.headers["accept-encoding"] == "zstd, gzip"


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("spoil", [lambda b: b[:-3], lambda b: b[:12], lambda b: b + b"more", lambda _: PLAIN])
async def test_a_body_that_is_not_whole_is_refused(edge: httpx.AsyncClient, coding: str, spoil: Any) -> None:
    answer = await send(edge, spoil(ENCODE[coding](PLAIN)), coding)
    assert coding in problem(answer, 400, "malformed_body")["detail"]


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
async def test_the_limit_holds_for_what_a_body_becomes(edge: httpx.AsyncClient, coding: str) -> None:
    """`edge` takes tables of a million bytes."""
    bomb = ENCODE[coding](b" " * 200_000_000)
    assert len(bomb) < 400_000
    tracemalloc.start()
    try:
        answer = await send(edge, bomb, coding)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "1000000 bytes" in problem(answer, 413, "body_too_large")["detail"]
    assert peak < 5_000_000
    assert (await edge.get("/livez")).status_code == 200


def test_pieces_are_small_however_much_they_become() -> None:
    for coding in ("gzip", "zstd"):
        pieces = list(decoded(io.BytesIO(ENCODE[coding](b"a" * 3_000_000)), coding))
        assert b"".join(pieces) == b"a" * 3_000_000
        assert max(map(len, pieces)) <= 256 * 1024


def test_nothing_decodes_to_nothing() -> None:
    assert list(decoded(io.BytesIO(b""), "zstd")) == []
    with pytest.raises(MalformedBody):
        list(decoded(io.BytesIO(b"\0"), "gzip"))


def plain(answer: httpx.Response, body: bytes) -> bytes:
    if answer.headers.get("content-encoding") == "zstd":
        return b"".join(decoded(io.BytesIO(body), "zstd"))
    return gzip.decompress(body) if "content-encoding" in answer.headers else body


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [("gzip", "gzip"), ("zstd", "zstd"), ("gzip, deflate, br, zstd", "zstd"), ("br", None), ("identity", None)],
)
async def test_large_answers_are_compressed_for_who_takes_it(
    edge: httpx.AsyncClient, accepted: str, coding: str | None
) -> None:
    request = edge.build_request("POST", "/v1/datasets", json=MANY, headers={"Accept-Encoding": accepted})
    answer = await edge.send(request, stream=True)
    raw = b"".join([piece async for piece in answer.aiter_raw()])
    assert (answer.status_code, answer.headers.get("content-encoding")) == (201, coding)
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers.get("content-length") in (None, str(len(raw)))
    assert json.loads(plain(answer, raw))["n_columns"] == 100
    assert (len(raw) < 3_000) == (coding is not None)


async def test_small_answers_and_those_to_get_stay_as_they_are(edge: httpx.AsyncClient) -> None:
    small = await edge.post("/v1/datasets", json=TABLE, headers={"Accept-Encoding": "gzip"})
    assert (small.status_code, "content-encoding" in small.headers) == (201, False)
    assert int(small.headers["content-length"]) == len(small.content)
    large = (await edge.post("/v1/datasets", json=MANY)).json()
    read = await edge.get(f"/v1/datasets/{large['id']}", headers={"Accept-Encoding": "gzip"})
    assert read.json() == large
    assert ("content-encoding" in read.headers, read.headers["etag"]) == (False, f'"{large["digest"]}"')


@pytest.mark.parametrize(("encoder", "coding"), [(GzipEncoder, "gzip"), (ZstdEncoder, "zstd")])
def test_streams_that_grow(encoder: Any, coding: str) -> None:
    stream = encoder()
    parts = [stream.more(b"a" * 1_000_000), stream.more(b""), stream.more(b"b" * 10), stream.last(b"c")]
    assert b"".join(decoded(io.BytesIO(b"".join(parts)), coding)) == b"a" * 1_000_000 + b"b" * 10 + b"c"
    assert sum(map(len, parts)) < 10_000


def test_gzip_is_what_zlib_calls_gzip() -> None:
    assert zlib.decompress(GzipEncoder().last(b"melon"), wbits=31) == b"melon"
