"""Compressed bodies: requests are decompressed, and large answers are compressed for clients that accept it."""

import zlib
from collections.abc import Callable, Iterator
from io import IOBase, RawIOBase
from typing import IO, Any, cast

import anyio.lowlevel
import pyarrow as pa
from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.bodies import INLINE_BYTES, body_to_disk
from service.api.negotiation import coding_weights, preferred
from service.api.raw_headers import add_vary, raw_header
from service.errors import BodyTooLarge, MalformedBody, UnsupportedContentCoding

CODINGS = ("zstd", "gzip")  # the cheaper one first: it is used if the client has no preference
OTHER_NAMES = {"x-gzip": "gzip"}
PIECE_BYTES = 256 * 1024
SMALLEST_ANSWER = 1024
GZIP_LEVEL = 1  # 4 gives answers a tenth smaller for twice the time


class DecodedBodies:
    """Middleware that decompresses request bodies; the limit of a body also applies once it is decompressed."""

    def __init__(self, app: ASGIApp, limit_of: Callable[[Scope], int]) -> None:
        self.app = app
        self.limit_of = limit_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        coding = _content_coding(scope) if scope["type"] == "http" else "identity"
        if coding == "identity":
            await self.app(scope, receive, send)
            return
        body = _DecodedBody(coding, scope, receive, self.limit_of(scope))
        scope["headers"] = [
            line for line in scope["headers"] if line[0] not in (b"content-encoding", b"content-length")
        ]
        try:
            await self.app(scope, body.receive, send)
        finally:
            body.close()


def _content_coding(scope: Scope) -> str:
    named = (raw_header(scope, b"content-encoding") or "").strip().lower() or "identity"
    return OTHER_NAMES.get(named, named)


class _DecodedBody:
    """The decompressed body of a request: the compressed one is read completely, then decoded piece by piece."""

    def __init__(self, coding: str, scope: Scope, receive: Receive, limit: int) -> None:
        self._coding, self._scope, self._receive, self._limit = coding, scope, receive, limit
        self._file: IO[bytes] | None = None
        self._pieces: Iterator[bytes] = iter(())
        self._is_small = True
        self._n_bytes = 0
        self._is_read = False

    async def receive(self) -> Message:
        if self._is_read:
            return await self._receive()
        if self._file is None:
            await self._open()
        piece = self._next() if self._is_small else await to_thread.run_sync(self._next)
        await anyio.lowlevel.checkpoint()
        self._n_bytes += len(piece)
        if self._n_bytes > self._limit:
            raise BodyTooLarge(self._limit)
        self._is_read = not piece
        return {"type": "http.request", "body": piece, "more_body": bool(piece)}

    async def _open(self) -> None:
        if self._coding not in CODINGS:
            raise UnsupportedContentCoding(self._coding, CODINGS)
        folder = self._scope["app"].state.artifacts.temporary_folder
        self._file = await body_to_disk(Request(self._scope, self._receive), folder)
        self._is_small = self._file.seek(0, 2) <= INLINE_BYTES
        self._file.seek(0)
        self._pieces = decoded(self._file, self._coding)

    def _next(self) -> bytes:
        return next(self._pieces, b"")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def decoded(file: IO[bytes], coding: Any) -> Iterator[bytes]:
    """The content of a compressed file, at most PIECE_BYTES at a time; MalformedBody if it cannot be decompressed."""
    try:
        with pa.CompressedInputStream(pa.PythonFile(cast(IOBase, file), "r"), coding) as stream:
            while piece := stream.read(PIECE_BYTES):
                yield piece
    except OSError as error:
        raise MalformedBody(f"the body cannot be decompressed as {coding}: {error}") from error


class EncodedAnswers:
    """Middleware that compresses the answers to POST for clients that accept it.

    Answers to GET are not compressed: they have an ETag that names their bytes.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        accepted = raw_header(scope, b"accept-encoding") or ""
        offered = (*CODINGS, "identity")
        coding = preferred(offered, coding_weights(accepted, offered)) if accepted else None
        await self.app(scope, receive, _EncodedAnswer(coding, send))


class _EncodedAnswer:
    """Sends an answer; the head waits until the first part of the body shows whether compression pays."""

    def __init__(self, coding: str | None, send: Send) -> None:
        self._coding = None if coding == "identity" else coding
        self._send = send
        self._head: Message | None = None
        self._encoder: GzipEncoder | ZstdEncoder | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            add_vary(message, b"Accept-Encoding")
            self._head = message
            if self._coding is None:
                await self._send_head()
        elif message["type"] == "http.response.body" and self._coding is not None:
            await self._send_body(message.get("body", b""), is_last=not message.get("more_body", False))
        else:
            await self._send(message)

    async def _send_head(self) -> None:
        assert self._head is not None
        await self._send(self._head)
        self._head = None

    async def _send_body(self, body: bytes, *, is_last: bool) -> None:
        if self._head is not None:
            if len(body) >= SMALLEST_ANSWER or not is_last:
                self._encoder = GzipEncoder() if self._coding == "gzip" else ZstdEncoder()
                headers = MutableHeaders(scope=self._head)
                headers["Content-Encoding"] = str(self._coding)
                del headers["Content-Length"]
            await self._send_head()
        if self._encoder is not None:
            encode = self._encoder.last if is_last else self._encoder.more
            body = encode(body) if len(body) <= INLINE_BYTES else await to_thread.run_sync(encode, body)
        await self._send({"type": "http.response.body", "body": body, "more_body": not is_last})


class GzipEncoder:
    """Writes a gzip stream, piece by piece."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj(GZIP_LEVEL, wbits=zlib.MAX_WBITS | 16)

    def more(self, body: bytes) -> bytes:
        return self._stream.compress(body)

    def last(self, body: bytes) -> bytes:
        return self._stream.compress(body) + self._stream.flush()


class ZstdEncoder:
    """Writes a zstd stream, piece by piece."""

    def __init__(self) -> None:
        self._written = WrittenBytes()
        self._stream = pa.CompressedOutputStream(pa.PythonFile(self._written, "w"), "zstd")

    def more(self, body: bytes) -> bytes:
        self._stream.write(body)
        return self._written.taken()

    def last(self, body: bytes) -> bytes:
        self._stream.write(body)
        self._stream.close()
        return self._written.taken()


class WrittenBytes(RawIOBase):
    """A file that keeps written bytes only until they are taken."""

    def __init__(self) -> None:
        self._pieces: list[Any] = []

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self._pieces.append(piece)  # bytes, or an Arrow buffer that does not change
        return len(piece)

    def taken(self) -> bytes:
        """The bytes written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
