"""Middleware of all requests: an id, one log line, metrics, the limit of the body, and answers to unexpected errors."""

import re
import secrets
import time
from collections.abc import Callable

import anyio
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.metrics import Metrics
from service.api.problems import INTERNAL, METHODS, problem_response
from service.api.raw_headers import raw_header
from service.errors import BodyTooLarge
from service.logs import log_event

SANE_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
CLIENT_WENT_AWAY = 499  # never sent; used in logs and metrics

DRAINED_BYTES = 64 * 1024 * 1024
DRAINED_SECONDS = 20.0
IDLE_SECONDS = 2.0


class RequestContext:
    """Gives each request an id, one log line and its metrics; unexpected errors become an answer."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        status = 0
        body_bytes = 0

        async def count(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((b"x-request-id", request_id.encode()))
            await send(message)

        async def measure() -> Message:
            nonlocal body_bytes
            message = await receive()
            body_bytes += len(message.get("body", b""))
            return message

        began = time.perf_counter()
        self.metrics.in_flight.inc()
        try:
            await self.app(scope, measure, count)
        except ClientDisconnect:
            status = CLIENT_WENT_AWAY
        except Exception as error:
            log_event("unexpected_error", level="error", error=error, request_id=request_id, path=scope["path"])
            if status:  # a part is sent: only a broken connection can show that it is incomplete
                status = INTERNAL.status
                raise
            await _unexpected(scope)(scope, receive, count)
        finally:
            self.metrics.in_flight.dec()
            self._record(scope, status, time.perf_counter() - began, body_bytes)

    def _record(self, scope: Scope, status: int, seconds: float, body_bytes: int) -> None:
        template = route_template(scope)
        # A client may invent methods, which must not add metrics.
        method = scope["method"] if scope["method"] in METHODS else "other"
        self.metrics.observe_request(method, template, status, seconds, body_bytes)
        log_event(
            "request",
            method=scope["method"],
            path=scope["path"],
            route=template,
            status=status,
            ms=round(1000 * seconds, 2),
            request_id=scope["state"]["request_id"],
        )


def route_template(scope: Scope) -> str:
    """The path as the routes write it, such as /v1/datasets/{dataset_id}; `unknown` where no route matched."""
    return getattr(scope.get("route"), "path", None) or "unknown"


def _request_id(scope: Scope) -> str:
    sent = raw_header(scope, b"x-request-id") or ""
    return sent if SANE_ID.fullmatch(sent) else f"req_{secrets.token_hex(8)}"


def _unexpected(scope: Scope) -> ASGIApp:
    return problem_response(
        scope, INTERNAL, "something went wrong in the service; its logs have it under the request_id"
    )


class BodyLimit:
    """Refuses a body beyond the limit when it is read, and reads the rest of an unread body before an answer ends.

    A client that sends first and reads afterwards would otherwise find a broken connection instead of the answer.
    """

    def __init__(self, app: ASGIApp, limit_of: Callable[[Scope], int]) -> None:
        self.app = app
        self.limit_of = limit_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _LimitedBody(scope, receive, self.limit_of(scope))

        async def send_and_drain(message: Message) -> None:
            is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
            if is_last and not body.is_read:
                await send({**message, "more_body": True})
                await body.drain()
                message = {"type": "http.response.body", "body": b"", "more_body": False}
            await send(message)

        await self.app(scope, body.receive, send_and_drain)


class _LimitedBody:
    """A request's body, whose bytes are counted while they arrive."""

    def __init__(self, scope: Scope, receive: Receive, limit: int) -> None:
        declared = raw_header(scope, b"content-length") or ""
        self.declared = int(declared) if declared.isdecimal() else 0
        self.is_read = not self.declared and raw_header(scope, b"transfer-encoding") is None
        self.limit = limit
        self.n_bytes = 0
        self._receive = receive

    async def receive(self) -> Message:
        if self.declared > self.limit:
            raise BodyTooLarge(self.limit)
        message = await self._next()
        if self.n_bytes > self.limit:
            raise BodyTooLarge(self.limit)
        return message

    async def drain(self) -> None:
        """Read and discard the rest of the body, within limits of time and size."""
        with anyio.move_on_after(DRAINED_SECONDS):
            while not self.is_read and self.n_bytes <= self.limit + DRAINED_BYTES:
                with anyio.move_on_after(IDLE_SECONDS) as idle:
                    await self._next()
                if idle.cancelled_caught:
                    return

    async def _next(self) -> Message:
        message = await self._receive()
        self.n_bytes += len(message.get("body", b""))
        self.is_read = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message
