"""A client that costs little: raw sockets that are kept open, and bytes that are made beforehand."""

import selectors
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence

PATIENCE_SECONDS = 60.0
CHUNK_BYTES = 1024 * 1024


class Refused(Exception):
    """An answer that is not 200."""


class Connection:
    """One connection; a request is sent once the answer to the last one has been read."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def ask(self, request: bytes) -> bytes:
        """The body of the answer."""
        self.send(request)
        return self.receive()

    def send(self, request: bytes) -> None:
        self._socket.sendall(request)

    def receive(self) -> bytes:
        """The body of the answer to what was sent; Refused when its status is another than 200."""
        head, found, body = b"", b"", b""
        while not found:
            head, found, body = (head + found + body + self._more()).partition(b"\r\n\r\n")
        body = self._chunks(body) if is_chunked(head) else self._exactly(length(head), body)
        if head.split(b" ", 2)[1] != b"200":
            raise Refused(head.split(b"\r\n", 1)[0].decode() + ": " + body[:200].decode(errors="replace"))
        return body

    def _exactly(self, n_bytes: int, begun: bytes) -> bytes:
        parts, missing = [begun], n_bytes - len(begun)
        while missing > 0:
            parts.append(self._more())
            missing -= len(parts[-1])
        return b"".join(parts)

    def _chunks(self, begun: bytes) -> bytes:
        """A chunked body as it comes; what stands between the chunks is left in it."""
        while not begun.endswith(b"0\r\n\r\n"):
            begun += self._more()
        return begun

    def _more(self) -> bytes:
        data = self._socket.recv(CHUNK_BYTES)
        if not data:
            raise ConnectionResetError("the server closed the connection")
        return data


def is_chunked(head: bytes) -> bool:
    """Whether the length of a body is not known before its end."""
    return b"transfer-encoding: chunked" in head.lower()


def length(head: bytes) -> int:
    """How many bytes of body the head of an answer announces."""
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
    return int(fields[b"content-length"])


def saturate(connections: Sequence[Connection], requests: Iterator[bytes], seconds: float) -> tuple[int, float]:
    """Keep every connection waiting for an answer for so long: how many answers there were, and in what time."""
    n_answers, started = 0, time.perf_counter()
    for connection in connections:
        connection.send(next(requests))
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection, selectors.EVENT_READ, connection)
        while time.perf_counter() < started + seconds:
            for key, _ in selector.select(PATIENCE_SECONDS):
                key.data.receive()
                n_answers += 1
                key.data.send(next(requests))
    spent = time.perf_counter() - started
    for connection in connections:
        connection.receive()
    return n_answers, spent


def at_rate(
    connections: Sequence[Connection], requests: Iterator[bytes], *, rate: float, seconds: float
) -> list[float]:
    """How long each answer took, when so many requests a second become due at even distances.

    The time counts from when a request was due: one that waits for a free connection has waited all the same.
    """
    started = time.perf_counter()
    due = deque(started + number / rate for number in range(int(rate * seconds)))
    free, sent, latencies = deque(connections), dict[Connection, float](), list[float]()
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection, selectors.EVENT_READ, connection)
        while due or sent:
            while due and free and due[0] <= time.perf_counter():
                connection = free.popleft()
                sent[connection] = due.popleft()
                connection.send(next(requests))
            patience = max(0.0, due[0] - time.perf_counter()) if due and free else PATIENCE_SECONDS
            for key, _ in selector.select(patience):
                key.data.receive()
                latencies.append(time.perf_counter() - sent.pop(key.data))
                free.append(key.data)
    return latencies
