import base64
import logging

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from sqlalchemy import text
from starlette.exceptions import HTTPException

from core.tables.errors import Fault, InvalidTable
from service.api.bodies import StrictRoute
from service.api.dependencies import WriteSession
from service.api.problems import KINDS, pointer
from service.api.schemas.common import Body, Problem, WholeNumber
from service.app import create_app
from tests.service.api.trained import talking_to

pytestmark = pytest.mark.anyio


LONG = base64.urlsafe_b64encode(b'{"after": "' + b"1" * 5_000 + b'"}').decode()


class Order(Body):
    count: WholeNumber


router = APIRouter(prefix="/test", route_class=StrictRoute)


@router.post("/orders")
async def take_order(order: Order) -> int:
    return order.count


@router.post("/optional")
async def take_optional(order: Order | None = None) -> int:
    return order.count if order else 0


@router.get("/bug")
async def meet_a_bug() -> int:
    raise RuntimeError("the secret is 42")


@router.get("/teapot")
async def be_a_teapot() -> int:
    raise HTTPException(418, "short and stout", {"X-Handle": "yes"})


@router.get("/faults/{n}")
async def find_faults(n: int) -> int:
    raise InvalidTable(*(Fault("wrong", ("records", i, "a/b")) for i in range(n)))


@router.post("/broken-commit")
async def fail_at_commit(session: WriteSession) -> str:
    """A row whose foreign key is only looked at when the transaction ends."""
    if session.get_bind().dialect.name == "sqlite":
        await session.execute(text("PRAGMA defer_foreign_keys = ON"))
    else:
        await session.execute(
            text("ALTER TABLE piece_chunks ALTER CONSTRAINT fk_piece_chunks_digest_pieces DEFERRABLE")
        )
        await session.execute(text("SET CONSTRAINTS ALL DEFERRED"))
    await session.execute(text("INSERT INTO piece_chunks (digest, number, data) VALUES ('none', 0, '')"))
    return "done"


def with_test_routes(settings) -> FastAPI:
    app = create_app(settings)
    app.include_router(router)
    return app


@pytest.fixture
async def tested(edge_settings, anyio_backend):
    async with talking_to(with_test_routes(edge_settings)) as client:
        yield client


def problem(answer: httpx.Response, status: int, word: str) -> Problem:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    found = Problem.model_validate(answer.json())
    assert (found.type, found.status) == (f"/problems/{word}", status)
    assert found.request_id == answer.headers["x-request-id"]
    assert all(
        list(error) == ["in", "pointer", "parameter", "line", "detail", "hint"] for error in answer.json()["errors"]
    )
    return found


async def test_unknown_addresses(tested):
    found = problem(await tested.get("/v1/没有"), 404, "not_found")
    assert found.instance == "/v1/%E6%B2%A1%E6%9C%89"
    problem(await tested.get("/v1/datasets/"), 404, "not_found")
    problem(await tested.get("/docs/assets/nothing.js"), 404, "not_found")


async def test_wrong_methods_say_which_are_allowed(tested):
    answer = await tested.put("/v1/datasets")
    problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, POST"
    assert (await tested.patch("/v1/datasets/ds_x")).headers["allow"] == "GET, DELETE"


async def test_malformed_bodies_say_where(tested):
    answer = await tested.post("/test/orders", content=b'{"count": }', headers={"Content-Type": "application/json"})
    assert "line 1, column 11" in problem(answer, 400, "malformed_body").detail


async def test_faults_of_a_body_have_pointers(tested):
    found = problem(await tested.post("/test/orders", json={"cont": 1}), 422, "invalid_request")
    assert [(error.pointer, error.detail, error.hint) for error in found.errors] == [
        ("#/count", "required, but missing", None),
        ("#/cont", "not a known key here", "did you mean count?"),
    ]
    assert found.detail == "#/count: required, but missing (and 1 more, see errors)"


async def test_faults_of_parameters_have_names(tested):
    found = problem(await tested.get("/v1/datasets?limit=1001"), 422, "invalid_request")
    assert [(error.location, error.parameter, error.detail) for error in found.errors] == [
        ("query", "limit", "must be at most 1000")
    ]
    found = problem(await tested.get("/test/faults/many"), 422, "invalid_request")
    assert [(error.location, error.parameter) for error in found.errors] == [("path", "n")]
    found = problem(await tested.get("/v1/datasets?cursor=nonsense"), 422, "invalid_request")
    assert [(error.location, error.parameter) for error in found.errors] == [("query", "cursor")]


@pytest.mark.parametrize(
    "cursor", ["e30", "W10", "eyJhZnRlciI6MX0", "eyJhZnRlciI6Ilx1MDAwMCJ9", "eyJhZnRlciI6Ilx1ZDgwMCJ9", LONG]
)
async def test_cursors_made_by_hand(tested, cursor):
    problem(await tested.get("/v1/datasets", params={"cursor": cursor}), 422, "invalid_request")


async def test_nul_in_an_address(tested):
    found = problem(await tested.get("/v1/datasets/ds_%00"), 422, "invalid_request")
    assert [(error.location, error.parameter) for error in found.errors] == [("path", "dataset_id")]
    problem(await tested.get("/v1/datasets?cursor=%00"), 422, "invalid_request")


async def test_an_empty_body(tested):
    found = problem(await tested.post("/test/orders"), 422, "invalid_request")
    assert found.errors[0].detail == "the body is empty, but this call needs one"
    assert (await tested.post("/test/optional")).json() == 0


async def test_bodies_of_another_kind(tested):
    problem(await tested.post("/test/orders", content=b'{"count": 1}'), 415, "unsupported_media_type")
    headers = {"Content-Type": "text/plain"}
    problem(await tested.post("/test/orders", content=b'{"count": 1}', headers=headers), 415, "unsupported_media_type")
    headers = {"Content-Type": "application/merge-patch+json; charset=UTF-8"}
    assert (await tested.post("/test/orders", content=b'{"count": 1}', headers=headers)).json() == 1


async def test_bodies_beyond_the_limit(tested):
    found = problem(await tested.post("/test/orders", json={"count": "x" * 100_000}), 413, "body_too_large")
    assert "100000 bytes" in found.detail


async def test_errors_of_the_framework(tested):
    answer = await tested.get("/test/teapot")
    found = problem(answer, 418, "http_error")
    assert (found.detail, answer.headers["x-handle"]) == ("short and stout", "yes")


async def test_unexpected_errors_keep_their_secrets(tested, caplog):
    answer = await tested.get("/test/bug", headers={"X-Request-ID": "abc-1"})
    found = problem(answer, 500, "internal_error")
    assert found.request_id == "abc-1"
    assert "secret" not in answer.text
    [record] = [record for record in caplog.records if record.getMessage() == "unexpected_error"]
    assert record.fields["request_id"] == "abc-1"
    assert "the secret is 42" in str(record.exc_info)


async def test_a_commit_that_fails_is_an_error_not_an_answer(settings, caplog):
    async with talking_to(with_test_routes(settings)) as client:
        problem(await client.post("/test/broken-commit"), 500, "internal_error")
        assert (await client.get("/v1/datasets")).json()["items"] == []


async def test_at_most_100_errors_are_listed(tested):
    found = problem(await tested.get("/test/faults/500"), 422, "invalid_table")
    assert len(found.errors) == 100
    assert found.errors[0].pointer == "#/records/0/a~1b"
    assert found.detail == "#/records/0/a~1b: wrong (and 499 more, see errors)"


@pytest.mark.parametrize("word", sorted(KINDS))
async def test_every_word_is_explained(tested, word):
    answer = (await tested.get(f"/problems/{word}")).json()
    assert answer["type"] == f"/problems/{word}"
    assert len(answer["explanation"]) > 20


async def test_unknown_words(tested):
    problem(await tested.get("/problems/bad_luck"), 404, "not_found")


@pytest.mark.parametrize(
    ("path", "expected"), [((), "#"), (("a", 0), "#/a/0"), (("a/b", "m~n", "", "纹理"), "#/a~1b/m~0n//纹理")]
)
def test_pointers(path, expected):
    assert pointer(path) == expected


@pytest.mark.parametrize("sent", ["", "a b", "x" * 129, "é", '"'])
async def test_request_ids_that_are_not_sane_are_replaced(tested, sent):
    answer = await tested.get("/livez", headers={"X-Request-ID": sent.encode()})
    assert answer.headers["x-request-id"].startswith("req_")


async def test_one_log_line_for_each_request(tested, caplog):
    caplog.set_level(logging.INFO, "niwaki")
    answer = await tested.get("/v1/datasets/ds_nothing")
    [record] = [record for record in caplog.records if record.name == "niwaki"]
    assert record.getMessage() == "request"
    fields = record.fields
    assert fields.pop("ms") >= 0
    assert fields == {
        "method": "GET",
        "path": "/v1/datasets/ds_nothing",
        "route": "/v1/datasets/{dataset_id}",
        "status": 404,
        "request_id": answer.headers["x-request-id"],
    }
