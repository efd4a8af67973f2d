"""Reading bodies: strict JSON, and files that are written to disk while they arrive.

`StrictRoute` makes every JSON body of a router go through `parse_json`; FastAPI and pydantic get the result.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from email.message import Message
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from anyio import to_thread
from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from core.tables.errors import Fault
from core.tables.errors import Path as FaultPath
from core.tables.suggestion import quoted
from service.errors import InvalidParameter, MalformedBody, UnsupportedMediaType

DEEPEST = 64
MOST_FAULTS = 100
LONGEST_INTEGER = 400  # digits; the largest float64 has 309
INLINE_BYTES = 64 * 1024
SPOOL_BYTES = 1024 * 1024

# A body without these holds no text that cannot be stored and no number beyond float64, so its value is not searched:
# `\u0000` and lone surrogates; an exponent of three digits, or a very long sequence of digits.
SUSPICIOUS = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])|[eE]\+?[0-9]{3}|[0-9]{200}")


class StrictRoute(APIRoute):
    """A route that accepts JSON only if it is strict, and refuses text that no database can store."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        takes_json = self.body_field is not None

        async def read_strictly(request: Request) -> Response:
            refuse_nul(request)
            if takes_json:
                request = StrictRequest(request.scope, request.receive)
                await request.json()
            return await handle(request)

        return read_strictly


class StrictRequest(Request):
    """A request whose JSON body is read by `parse_json`; an empty body becomes None, for the route to judge."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            body = await self.body()
            if body:
                require_media_type(self, "application/json")
            self._json = await parse_off_loop(body) if body else None
        return self._json


def refuse_nul(request: Request) -> None:
    """Refuse a path or a query with the character NUL, which no database can store."""
    if "\0" not in request.scope["path"] and b"%00" not in request.scope["query_string"]:
        return
    for location, parameters in (("path", request.path_params), ("query", request.query_params)):
        for name, value in parameters.items():
            if "\0" in f"{name}{value}":
                raise InvalidParameter(name.replace("\0", "␀"), "holds the character NUL", location=location)


def media_type(request: Request) -> str:
    """The Content-Type without its parameters, in lower case; every `application/…+json` is JSON."""
    message = _content_type(request)
    kind = message.get_content_type() if "content-type" in message else ""
    return "application/json" if re.fullmatch(r"application/.+\+json", kind) else kind


def require_media_type(request: Request, *taken: str) -> str:
    """The body's media type, or UnsupportedMediaType if it is not one of `taken`, or not UTF-8."""
    kind = media_type(request)
    if kind not in taken:
        sent = f"Content-Type {kind}" if kind else "a body without Content-Type"
        raise UnsupportedMediaType(f"{sent} is not taken here; send {' or '.join(taken)}")
    charset = _content_type(request).get_content_charset("utf-8")
    if charset not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMediaType(f"the charset {charset} is not taken; send UTF-8")
    return kind


def _content_type(request: Request) -> Message:
    message = Message()
    if "content-type" in request.headers:
        message["content-type"] = request.headers["content-type"]
    return message


async def body_to_disk(request: Request, folder: Path) -> IO[bytes]:
    """The body as an open file at its beginning, which is stored in `folder` above a megabyte. The caller closes it."""
    file: IO[bytes] = SpooledTemporaryFile(max_size=SPOOL_BYTES, dir=str(folder))  # noqa: SIM115
    try:
        waiting = bytearray()
        async for chunk in request.stream():
            waiting += chunk
            if len(waiting) >= SPOOL_BYTES:
                await to_thread.run_sync(file.write, bytes(waiting))
                waiting.clear()
        file.write(waiting)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


async def read_form(request: Request, *, largest_field: int) -> FormData:
    """The parts of a multipart body; files above a megabyte are stored on disk. The caller closes it."""
    try:
        return await request.form(max_files=2, max_fields=2, max_part_size=largest_field)
    except HTTPException as error:
        raise MalformedBody(f"the form cannot be read: {error.detail}") from error


async def parse_off_loop(body: bytes) -> Any:
    """`parse_json`, in a thread if the body is so large that it would hold up other requests."""
    return parse_json(body) if len(body) <= INLINE_BYTES else await to_thread.run_sync(parse_json, body)


def parse_json(body: bytes) -> Any:
    """The value of a JSON text in UTF-8, or MalformedBody.

    Refused besides what the grammar refuses: repeated keys, NaN, Infinity, numbers beyond float64, the character NUL
    and lone surrogates (no database stores them), and nesting deeper than 64.
    """
    text = _decoded(body)
    notes = _Notes()
    try:
        value = _loads(text, notes)
    except json.JSONDecodeError as error:
        raise MalformedBody(
            f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except RecursionError as error:
        raise _too_deep() from error
    if _is_deeper(value, DEEPEST):
        raise _too_deep()
    if notes.found or SUSPICIOUS.search(body):
        faults = tuple(islice(_faults_in(value), MOST_FAULTS))
        if faults:
            raise MalformedBody(f"the body holds what cannot be taken: {faults[0].detail}", *faults)
    return value


class _Notes:
    """Hooks of the parser that note whether there is a fault; `_faults_in` then finds it in the whole value."""

    found = False

    def constant(self, word: str) -> float:
        self.found = True
        return float(word)

    def integer(self, digits: str) -> float:
        # Python refuses to read integers of more than 4,300 digits; none beyond float64 is accepted anyway.
        return int(digits) if len(digits) <= LONGEST_INTEGER else math.inf

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        self.found = True
        return _Repeating(pairs)


class _Repeating(dict[str, Any]):
    """An object with repeated keys."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedBody(f"the body is not UTF-8: byte {error.start} cannot be read ({error.reason})") from error


def _loads(text: str, notes: _Notes) -> Any:
    hooks: dict[str, Any] = {"object_pairs_hook": notes.pairs, "parse_constant": notes.constant}
    try:
        return json.loads(text, **hooks)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=notes.integer, **hooks)


def _too_deep() -> MalformedBody:
    return MalformedBody(f"the body is nested deeper than {DEEPEST} levels")


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        level = [inner for outer in level for inner in _entries(outer) if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def _entries(container: dict[str, Any] | list[Any]) -> Any:
    return container.values() if isinstance(container, dict) else container


def _faults_in(value: Any) -> Iterator[Fault]:
    """The faults in a value, with their paths; without recursion, so that no body can exhaust the stack."""
    waiting: list[tuple[FaultPath, Any]] = [((), value)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, dict):
            for key in getattr(one, "repeated", ()):
                yield Fault(f"the key {quoted(key)} stands more than once in one object", (*path, key))
            yield from (Fault(f"a key {reason}", path) for reason in map(_bad_text, one) if reason)
            waiting.extend(((*path, key), inner) for key, inner in reversed(one.items()))
        elif isinstance(one, list):
            waiting.extend(((*path, i), inner) for i, inner in reversed(list(enumerate(one))))
        elif isinstance(one, str) and (reason := _bad_text(one)):
            yield Fault(f"text that {reason}", path)
        elif isinstance(one, int | float) and not _is_finite(one):
            yield Fault("a number must be finite and within float64; null stands for a missing one", path)


def _bad_text(text: str) -> str | None:
    if "\0" in text:
        return "holds the character NUL, which cannot be stored"
    if not text.isascii() and re.search("[\ud800-\udfff]", text):
        return "holds half of a surrogate pair, which is no character"
    return None


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False
