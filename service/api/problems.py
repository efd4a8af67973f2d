"""Errors as RFC 9457 problems, with their status codes.

To give a new error its problem, add it to PROBLEMS. An error that is not listed has the problem of its base class.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from core.tables import errors as core
from core.tables.errors import CoreError, Fault
from core.tables.errors import Path as FaultPath
from service import errors
from service.api.validation import body_faults, parameter_fault
from service.errors import InvalidParameter, ServiceError
from service.logs import log_event

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 100
LONGEST_TEXT = 2_000
RETRY_SECONDS = 5
PHRASES = {status.value: status.phrase for status in HTTPStatus}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """A kind of problem: its status, the word in its `type`, and what it means."""

    status: int
    word: str
    title: str
    explanation: str

    @property
    def type(self) -> str:
        """The path at which the explanation is served."""
        return f"/problems/{self.word}"


INVALID_REQUEST = ProblemKind(
    422,
    "invalid_request",
    "The request does not fit",
    "A key, a value or a parameter is not what this call takes. `errors` names each place and says what would fit.",
)
NOT_FOUND = ProblemKind(404, "not_found", "There is nothing at this address", "See /docs for the addresses there are.")
METHOD_NOT_ALLOWED = ProblemKind(
    405, "method_not_allowed", "The address does not take this method", "The header Allow lists the methods it takes."
)
INTERNAL = ProblemKind(
    500,
    "internal_error",
    "Something went wrong on our side",
    "This is a mistake in the service, not in the request. Its operators find it in the logs by the request_id.",
)
HTTP_ERROR = ProblemKind(
    400, "http_error", "The request cannot be answered", "The status and the detail say why; no more is known."
)

PROBLEMS: dict[type[Exception], ProblemKind] = {
    core.InvalidTable: ProblemKind(
        422,
        "invalid_table",
        "The data cannot be made into a table",
        "Columns of unequal length, repeated names, or values that do not fit their kind: `errors` names each place.",
    ),
    core.EmptyTable: ProblemKind(
        422, "empty_table", "The table is empty", "A dataset needs at least one column and at least one row."
    ),
    core.InvalidConfig: ProblemKind(
        422,
        "invalid_config",
        "The configuration does not fit",
        "An option is not possible, by itself or with this dataset. `errors` names each place.",
    ),
    core.RecordsDoNotFit: ProblemKind(
        422,
        "records_do_not_fit",
        "The records are not what the model was trained on",
        "A record has an attribute the model does not know, or a value of the wrong type. `errors` names each place.",
    ),
    errors.DatasetNotFound: ProblemKind(
        404, "dataset_not_found", "There is no such dataset", "GET /v1/datasets lists the datasets there are."
    ),
    errors.TrainingNotFound: ProblemKind(
        404, "training_not_found", "There is no such training", "GET /v1/trainings lists the trainings there are."
    ),
    errors.ModelNotFound: ProblemKind(
        404, "model_not_found", "There is no such model", "GET /v1/models lists the models that are ready."
    ),
    errors.StepNotFound: ProblemKind(
        404,
        "step_not_found",
        "The pruning history has no such step",
        "GET /v1/models/{model}/pruning lists the steps; 0 is the tree before pruning.",
    ),
    errors.DatasetInUse: ProblemKind(
        409,
        "dataset_in_use",
        "A training uses the dataset",
        "A queued or running training needs this dataset. Wait until it has ended, or cancel it.",
    ),
    errors.ModelNotReady: ProblemKind(
        409,
        "model_not_ready",
        "The model's training has not ended",
        "GET /v1/trainings/{id}?wait=20 answers when it has.",
    ),
    errors.NotForThisModel: ProblemKind(
        409,
        "not_for_this_model",
        "This is not for models of this kind",
        "Many trees together are not pruned, and a single tree has no proximity: `detail` says what there is instead.",
    ),
    errors.TrainingAlreadyEnded: ProblemKind(
        409, "training_already_ended", "The training has ended", "There is nothing left to cancel."
    ),
    errors.TrainingNotEnded: ProblemKind(
        409, "training_not_ended", "The training has not ended", "Cancel it first, or wait until it has ended."
    ),
    errors.MalformedBody: ProblemKind(
        400,
        "malformed_body",
        "The body cannot be read",
        "The body is not the JSON or form it says it is. JSON is UTF-8, without repeated keys, NaN or Infinity.",
    ),
    errors.InvalidBody: INVALID_REQUEST,
    errors.InvalidParameter: INVALID_REQUEST,
    errors.InvalidFile: ProblemKind(
        422, "invalid_file", "The file is not a table", "`errors` names each line and what is wrong there."
    ),
    errors.UnsupportedMediaType: ProblemKind(
        415,
        "unsupported_media_type",
        "This kind of body is not taken here",
        "Set Content-Type to one of those the call takes; /docs lists them.",
    ),
    errors.UnsupportedContentCoding: ProblemKind(
        415,
        "unsupported_content_coding",
        "This kind of compression is not taken here",
        "Content-Encoding may be gzip or zstd; the header Accept-Encoding of the answer lists what is taken.",
    ),
    errors.NotAcceptable: ProblemKind(
        406,
        "not_acceptable",
        "The answer cannot be given in this form",
        "Set Accept to one of the media types the call answers with, or leave it out; /docs lists them.",
    ),
    errors.BodyTooLarge: ProblemKind(
        413, "body_too_large", "The body is too large", "Send less, or ask the operators to raise the limit."
    ),
    errors.StoreUnavailable: ProblemKind(
        503, "store_unavailable", "The database does not answer", "Try again after the time given in Retry-After."
    ),
    errors.MigrationsPending: ProblemKind(
        503,
        "migrations_pending",
        "The database is not ready for this version",
        "Its operators run `niwaki migrate`; try again after the time given in Retry-After.",
    ),
    errors.TooBusy: ProblemKind(
        503, "too_busy", "Too much is under way", "Try again after the time given in Retry-After."
    ),
}
KINDS = {
    kind.word: kind
    for kind in (*PROBLEMS.values(), INVALID_REQUEST, NOT_FOUND, METHOD_NOT_ALLOWED, INTERNAL, HTTP_ERROR)
}


def kind_of(error: type[Exception]) -> ProblemKind:
    """The problem of an error class: its own, or that of its nearest base class."""
    return next((PROBLEMS[base] for base in error.__mro__ if base in PROBLEMS), INTERNAL)


def documented(*raised: type[Exception]) -> dict[int | str, dict[str, Any]]:
    """For `responses=` of a route: the problems that it has besides those of every route."""
    return responses_of(kind_of(error) for error in raised)


def responses_of(kinds: Iterable[ProblemKind]) -> dict[int | str, dict[str, Any]]:
    """OpenAPI responses, one for each status, whose description lists the problems by word."""
    by_status: dict[int | str, dict[str, ProblemKind]] = {}
    for kind in kinds:
        by_status.setdefault(kind.status, {})[kind.word] = kind
    return {
        status: {
            "description": "\n".join(f"`{kind.word}`: {kind.title}." for kind in same.values()),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, same in by_status.items()
    }


def install_problems(app: FastAPI) -> None:
    """Make the application answer every error that it raises with a problem."""
    app.add_exception_handler(ServiceError, _answer_error)
    app.add_exception_handler(CoreError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_validation)
    app.add_exception_handler(HTTPException, _answer_http)


def problem_response(
    scope: Scope,
    kind: ProblemKind,
    detail: str,
    found: Iterable[Mapping[str, Any]] = (),
    *,
    status: int | None = None,
    title: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The answer that reports a problem; `status` and `title` replace those of the kind."""
    answer_status = status or kind.status
    body = {
        "type": kind.type,
        "title": title or kind.title,
        "status": answer_status,
        "detail": _cut(detail),
        "instance": quote(scope["path"]),
        "request_id": scope.get("state", {}).get("request_id", ""),
        "errors": list(found)[:MOST_ERRORS],
    }
    # A client may send a lone surrogate, which cannot be sent back.
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    waiting = {"Retry-After": str(RETRY_SECONDS)} if answer_status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Response(content, answer_status, {**waiting, **(headers or {})}, MEDIA_TYPE)


def error_response(scope: Scope, error: ServiceError | CoreError) -> Response:
    """The answer to an error of the service or of `core`."""
    kind = kind_of(type(error))
    found = [_listed(fault, error) for fault in error.faults]
    detail = _summary(found) if isinstance(error, CoreError | errors.InvalidBody) else error.detail
    return problem_response(scope, kind, detail, found, headers=_headers(error))


def _headers(error: Exception) -> dict[str, str]:
    match error:
        case errors.BodyTooLarge():
            # The rest of a refused body is not read without limit: the connection ends with the answer.
            return {"Connection": "close"}
        case errors.UnsupportedContentCoding():
            return {"Accept-Encoding": ", ".join(error.taken)}
        case _:
            return {}


def pointer(path: FaultPath) -> str:
    """`#` and an RFC 6901 JSON Pointer, in plain Unicode."""
    return _cut("#" + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path))


def listed_error(
    location: str,
    detail: str,
    *,
    hint: str | None = None,
    at: str | None = None,
    parameter: str | None = None,
    line: int | None = None,
) -> dict[str, Any]:
    """An entry of `errors`; every key is there, null where it does not apply."""
    return {"in": location, "pointer": at, "parameter": parameter, "line": line, "detail": _cut(detail), "hint": hint}


def _listed(fault: Fault, error: Exception) -> dict[str, Any]:
    if isinstance(error, InvalidParameter):
        at = pointer(fault.path) if fault.path else None
        return listed_error(error.location, fault.detail, hint=fault.hint, at=at, parameter=error.parameter)
    is_in_file = isinstance(error, core.InvalidTable) and fault.line is not None
    if is_in_file or isinstance(error, errors.InvalidFile):
        return listed_error("file", fault.detail, hint=fault.hint, line=fault.line)
    at = pointer(fault.path) if fault.path or fault.line is None else None
    return listed_error("body", fault.detail, hint=fault.hint, at=at, line=fault.line)


def _summary(listed: list[dict[str, Any]]) -> str:
    """The first error in full, with its place, and how many more there are."""
    first = listed[0]
    location = f"line {first['line']}" if first["line"] is not None else first["parameter"] or first["pointer"]
    hint = f"; {first['hint']}" if first["hint"] else ""
    more = f" (and {len(listed) - 1} more, see errors)" if len(listed) > 1 else ""
    return f"{f'{location}: ' if location else ''}{first['detail']}{hint}{more}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


async def _answer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError | CoreError)
    if isinstance(error, errors.Unavailable):
        # The client is told to try again; the log tells the operators why.
        request_id = request.scope.get("state", {}).get("request_id")
        log_event("unavailable", level="warning", detail=str(error), cause=str(error.__cause__), request_id=request_id)
    return error_response(request.scope, error)


async def _answer_validation(request: Request, error: Exception) -> Response:
    """Answer faults that FastAPI found, in the service's words: first those of parameters, then those of the body."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    in_body = [{**fault, "loc": fault["loc"][1:]} for fault in found if fault["loc"][0] == "body"]
    listed = [
        listed_error(location, fault.detail, hint=fault.hint, parameter=name)
        for location, name, fault in map(parameter_fault, (fault for fault in found if fault["loc"][0] != "body"))
    ]
    faults = body_faults(in_body, error.body, _body_type(request.scope))
    listed += [listed_error("body", fault.detail, hint=fault.hint, at=pointer(fault.path)) for fault in faults]
    return problem_response(request.scope, INVALID_REQUEST, _summary(listed), listed)


def _body_type(scope: Scope) -> Any:
    field = getattr(scope.get("route"), "body_field", None)
    return None if field is None else field.field_info.annotation


async def _answer_http(request: Request, error: Exception) -> Response:
    """Answer errors of the framework: no such route, no such method, and others with a status."""
    assert isinstance(error, HTTPException)
    scope = request.scope
    if error.status_code == HTTPStatus.NOT_FOUND:
        return problem_response(scope, NOT_FOUND, f"there is nothing at {scope['path']}; /docs lists what there is")
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(_allowed_methods(scope))
        detail = f"{scope['path']} does not take {scope['method']}; it takes {allowed}"
        return problem_response(scope, METHOD_NOT_ALLOWED, detail, headers={"Allow": allowed})
    return problem_response(
        scope,
        HTTP_ERROR,
        str(error.detail),
        status=error.status_code,
        title=PHRASES.get(error.status_code),
        headers=error.headers,
    )


def _allowed_methods(scope: Scope) -> list[str]:
    """All methods of this address; the router only reports those of the first route that matches."""
    routes = scope["app"].router.routes
    return [method for method in METHODS if any(_takes(route, scope, method) for route in routes)] or ["GET"]


def _takes(route: Any, scope: Scope, method: str) -> bool:
    asked = {key: scope[key] for key in ("type", "path", "root_path", "headers", "app")} | {"method": method}
    match, _ = route.matches(asked)
    return bool(match is Match.FULL)
