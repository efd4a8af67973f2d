"""Nothing reaches a client unnamed: every error class, and every route with nonsense sent to it."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from fastapi import FastAPI

from core.tables.errors import CoreError, Fault
from service.api.problems import KINDS, MEDIA_TYPE, PROBLEMS, install_problems, kind_of
from service.api.schemas.common import Problem
from service.app import create_app
from service.errors import BodyTooLarge, InvalidParameter, ServiceError, UnsupportedContentCoding
from service.settings import Settings

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
SENT = {
    b"{": "application/json",
    b"[]": "application/json",
    b"\0": "text/csv",
    b"x": "multipart/form-data",
    b"<a/>": "text/xml",
}


def leaf_classes(*roots: type[Exception]) -> Iterator[type[Exception]]:
    for root in roots:
        below = root.__subclasses__()
        if below:
            yield from leaf_classes(*below)
        else:
            yield root


LEAVES = sorted(set(leaf_classes(CoreError, ServiceError)), key=lambda error: error.__name__)


def example_of(error: type[Exception]) -> Exception:
    if error is InvalidParameter:
        return InvalidParameter("limit", "must be at least 1")
    if error is BodyTooLarge:
        return BodyTooLarge(10)
    if error is UnsupportedContentCoding:
        return UnsupportedContentCoding("br", ("gzip",))
    if issubclass(error, CoreError):
        return error(Fault("wrong", ("a", 0), "better"))
    return error("this stands in the way", Fault("wrong", ("a", 0)))


@pytest.mark.parametrize("error", LEAVES)
def test_every_error_has_a_problem(error):
    assert error in PROBLEMS
    assert KINDS[kind_of(error).word] is kind_of(error)


def test_words_are_unique():
    assert len({kind.word for kind in KINDS.values()}) == len(KINDS)
    assert all(KINDS[kind.word] is kind for kind in PROBLEMS.values())


@pytest.mark.anyio
@pytest.mark.parametrize("error", LEAVES)
async def test_every_error_is_answered_as_its_problem(error):
    app = FastAPI()
    install_problems(app)

    @app.get("/raises")
    async def raises() -> None:
        raise example_of(error)

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://niwaki") as client:
        answer = await client.get("/raises")
    problem = Problem.model_validate(answer.json())
    kind = kind_of(error)
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert (answer.status_code, problem.status, problem.type, problem.title) == (
        kind.status,
        kind.status,
        f"/problems/{kind.word}",
        kind.title,
    )
    assert problem.detail
    assert len(problem.errors) == len(example_of(error).faults)
    assert ("retry-after" in answer.headers) == (kind.status == 503)


@pytest.fixture
async def client(settings: Settings, anyio_backend: str) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://niwaki") as client,
    ):
        yield client


@pytest.mark.anyio
async def test_every_route_answers_nonsense_with_a_problem_it_documents(client):
    paths = (await client.get("/openapi.json")).json()["paths"]
    for path, item in paths.items():
        address = path.replace("{", "no-").replace("}", "")
        for method in METHODS:
            operation = item.get(method.lower())
            for body, kind in SENT.items() if operation and "requestBody" in operation else [(b"", "")]:
                answer = await client.request(
                    method, address, content=body, headers={"Content-Type": kind} if kind else {}
                )
                if operation is None:
                    assert answer.status_code == 405, (method, path)
                else:
                    assert str(answer.status_code) in operation["responses"], (method, path, body, answer.text)
                    assert answer.status_code < 500, (method, path, body)
                if answer.status_code >= 400:
                    assert answer.headers["content-type"] == MEDIA_TYPE
                    Problem.model_validate(answer.json())
