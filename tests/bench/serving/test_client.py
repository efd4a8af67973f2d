"""The client reads whole answers, notices refusals, and counts waiting from when a request was due."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat

import pytest

from bench.serving.client import Connection, Refused, at_rate, saturate

SLOW_SECONDS = 0.05


class Handler(BaseHTTPRequestHandler):
    """Answers with the body it got: at once or slowly, whole or in chunks, or with a refusal."""

    protocol_version = "HTTP/1.1"
    lock = threading.Lock()
    under_way, most_under_way = 0, 0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/slow":
            self.take_time()
        self.send_response(422 if self.path == "/refused" else 200)
        if self.path == "/chunks":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for part in (body[:10], body[10:]):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def take_time(self) -> None:
        with self.lock:
            Handler.under_way += 1
            Handler.most_under_way = max(Handler.under_way, Handler.most_under_way)
        time.sleep(SLOW_SECONDS)
        with self.lock:
            Handler.under_way -= 1

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture
def connections(port: int) -> Iterator[list[Connection]]:
    opened = [Connection(port) for _ in range(2)]
    yield opened
    for connection in opened:
        connection.close()


def post(path: str, body: bytes = b"0123456789abcdef") -> bytes:
    return b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (path.encode(), len(body), body)


def test_one_connection_serves_many_requests(connections: list[Connection]) -> None:
    large = bytes(range(256)) * 10_000
    assert connections[0].ask(post("/", b"first")) == b"first"
    assert connections[0].ask(post("/", large)) == large
    assert b"0123456789" in connections[0].ask(post("/chunks"))
    assert connections[0].ask(post("/", b"")) == b""


def test_a_refusal_is_an_error_with_what_was_said(connections: list[Connection]) -> None:
    with pytest.raises(Refused, match=r"422 .*: too much"):
        connections[0].ask(post("/refused", b"too much"))
    assert connections[0].ask(post("/", b"next")) == b"next"


def test_all_connections_are_kept_waiting(connections: list[Connection]) -> None:
    n_answers, seconds = saturate(connections, repeat(post("/slow")), 4.5 * SLOW_SECONDS)
    assert Handler.most_under_way == 2
    assert seconds >= 4.5 * SLOW_SECONDS
    assert 0 < n_answers <= 2 * seconds / SLOW_SECONDS
    assert connections[0].ask(post("/", b"free again")) == b"free again"


def test_latency_counts_from_when_a_request_was_due(connections: list[Connection]) -> None:
    rate = 4 / SLOW_SECONDS  # twice what two connections can have
    latencies = at_rate(connections, repeat(post("/slow")), rate=rate, seconds=8 * SLOW_SECONDS)
    assert len(latencies) == 32
    assert latencies[0] >= SLOW_SECONDS
    assert max(latencies) >= 8 * SLOW_SECONDS, "the last ones waited for a connection too"
