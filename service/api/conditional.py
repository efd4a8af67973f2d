"""Conditional requests: ETag and If-None-Match."""

from typing import Any

from fastapi import Request, Response

from service.api.openapi import answers_with

# For `responses=` of routes that answer with an ETag.
WITH_ETAG: dict[int | str, dict[str, Any]] = {
    **answers_with(
        200, ETag="Identifies the content. Send it as `If-None-Match` to check whether the content has changed."
    ),
    304: {"description": "The copy identified by `If-None-Match` is up to date."},
}


def is_unchanged(request: Request, response: Response, digest: str) -> bool:
    """Set the ETag of an answer, and return whether the client already has that content.

    If so, the route returns `not_modified(response)`.
    """
    etag = f'"{digest}"'
    response.headers["ETag"] = etag
    sent = ",".join(request.headers.getlist("if-none-match"))
    # A weak comparison, as RFC 9110 requires: W/"x" and "x" are the same.
    return sent.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in sent.split(","))


def not_modified(response: Response) -> Response:
    """304, with the ETag that was set on `response`."""
    return Response(status_code=304, headers={"ETag": response.headers["ETag"]})
