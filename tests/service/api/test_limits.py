"""Over a real socket: what plain clients get to read."""

import http.client
import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import httpx
import pytest

from service.api import middleware

LARGE = 8_000_000  # far more than the sockets' buffers and than any limit of `server`
HEAD = b"POST /v1/datasets HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\n"
PROBLEM = "application/problem+json"


def chunks(n_bytes: int) -> Iterator[bytes]:
    for _ in range(n_bytes // 50_000):
        yield b"x" * 50_000


def assert_too_large(status: int, body: bytes, limit: int = 1_000_000) -> None:
    assert status == 413
    problem = json.loads(body)
    assert problem["type"] == "/problems/body_too_large"
    assert f"{limit} bytes" in problem["detail"]


def assert_goes_on(server: tuple[str, int]) -> None:
    assert httpx.get("http://{}:{}/livez".format(*server), trust_env=False).json() == {"status": "alive"}


@pytest.mark.parametrize("path", ["/v1/datasets", "/v1/datasets?name=x"])
def test_a_client_that_sends_first_and_reads_afterwards(server, path):
    connection = http.client.HTTPConnection(*server, timeout=20)
    connection.request("POST", path, body=b"x" * LARGE, headers={"Content-Type": "text/csv"})
    answer = connection.getresponse()
    assert_too_large(answer.status, answer.read())
    connection.close()
    assert_goes_on(server)


def test_a_stream_without_a_declared_length(server):
    connection = http.client.HTTPConnection(*server, timeout=20)
    connection.request(
        "POST", "/v1/datasets", body=chunks(LARGE), headers={"Content-Type": "text/csv"}, encode_chunked=True
    )
    answer = connection.getresponse()
    assert_too_large(answer.status, answer.read())
    connection.close()
    assert_goes_on(server)


def test_httpx(server):
    with httpx.Client(base_url="http://{}:{}".format(*server), trust_env=False) as client:
        for content in (b"x" * LARGE, chunks(LARGE)):
            answer = client.post("/v1/datasets", content=content, headers={"Content-Type": "application/json"})
            assert_too_large(answer.status_code, answer.content)
        assert client.get("/livez").status_code == 200


def test_a_client_that_closes_after_one_answer(server):
    request = urllib.request.Request("http://{}:{}/v1/datasets".format(*server), data=b"x" * LARGE, method="POST")
    request.add_header("Content-Type", "text/csv")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with pytest.raises(urllib.error.HTTPError) as caught:
        opener.open(request, timeout=20)
    assert_too_large(caught.value.code, caught.value.read())
    caught.value.close()


def test_other_refusals_are_readable_after_a_large_body_too(server):
    request = urllib.request.Request("http://{}:{}/v1/nothing".format(*server), data=b"x" * LARGE, method="POST")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with pytest.raises(urllib.error.HTTPError) as caught:
        opener.open(request, timeout=20)
    assert (caught.value.code, caught.value.headers["content-type"]) == (404, PROBLEM)
    caught.value.close()


def ask(server: tuple[str, int], request: bytes) -> tuple[bytes, float]:
    """Send only these bytes; what comes back until the other side closes, and how long it took."""
    began = time.monotonic()
    with socket.create_connection(server, timeout=20) as connection:
        connection.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received or not received.endswith(b"}"):
            part = connection.recv(65536)
            if not part:
                break
            received += part
    return received, time.monotonic() - began


def test_a_client_that_asks_before_it_sends(server):
    head = HEAD + b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n"
    received, seconds = ask(server, head % LARGE)
    assert received.startswith(b"HTTP/1.1 413 ")
    assert_too_large(413, received.partition(b"\r\n\r\n")[2])
    assert seconds < 1
    body = b"a\n1\n"
    received, _ = ask(server, head % len(body) + body)
    assert received.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 ")


def test_draining_has_an_end(server, monkeypatch):
    monkeypatch.setattr(middleware, "IDLE_SECONDS", 0.2)
    head = HEAD + b"Content-Length: 99999999999\r\n\r\n"
    began = time.monotonic()
    with socket.create_connection(server, timeout=20) as connection:
        connection.sendall(head + b"x" * 1000)
        received = b""
        while part := connection.recv(65536):
            received += part
    assert received.startswith(b"HTTP/1.1 413 ")
    assert time.monotonic() - began < 3


def test_a_client_that_goes_away_in_the_middle(server):
    head = HEAD + b"Content-Length: 1000\r\n\r\n"
    with socket.create_connection(server, timeout=20) as connection:
        connection.sendall(head + b"a,b\n")
    assert_goes_on(server)


def test_the_limit_itself_is_taken(server):
    url = "http://{}:{}/v1/datasets".format(*server)
    body = b"a\n" + b"x" * 999_997 + b"\n"
    assert httpx.post(url, content=body, headers={"Content-Type": "text/csv"}, trust_env=False).status_code == 201
    refused = httpx.post(url, content=body + b"\n", headers={"Content-Type": "text/csv"}, trust_env=False)
    assert_too_large(refused.status_code, refused.content)
