"""All formats in and out give the answers of JSON."""

import csv
import gzip
import io
import json
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from starlette.datastructures import QueryParams

from service.api.predicting import batches
from service.serving.loaded_models import LoadedModels
from service.settings import Settings
from tests.service.api.predicting.formats.written import as_arrow, as_csv, as_lines, stream_of
from tests.service.api.trained import Workshop, workshop_on

pytestmark = pytest.mark.anyio

JSON, LINES, CSV, ARROW = (str(one) for one in batches.Format)
FORMATS = (JSON, LINES, CSV, ARROW)

COLOURS = ["red", 'gr"e,en', "blue"]
TABLE: dict[str, Any] = {
    "size": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    "颜色": [COLOURS[i % 3] for i in range(12)],
    "ripe": [i % 4 < 2 for i in range(12)],
}
TARGETS: dict[str, dict[str, Any]] = {
    "classes": {"y": ["p", 'q,"1"', "p", "r", "p", "p", 'q,"1"', "r", "r", "p", "p", 'q,"1"']},
    "numbers": {"y": [1.5, 1.0, 5.25, 5.0, 0.1, 0.2, 7.0, 3.0, 3.5, 1 / 3, 2 / 3, 0.0]},
    "several": {"h": [i / 7 for i in range(12)], "w": [(i * i) % 5 for i in range(12)]},
}
TYPES = {"size": pa.float64(), "颜色": pa.dictionary(pa.int32(), pa.string()), "ripe": pa.bool_()}
RECORDS: list[dict[str, Any]] = [
    {"size": 1.5, "颜色": "red", "ripe": True},
    {"size": None, "颜色": "blue", "ripe": False},
    {"size": 7.25, "颜色": None, "ripe": None},
    {"size": 1e300, "颜色": "never seen", "ripe": True},
    {},
    {"颜色": 'gr"e,en'},
    {"size": 12, "颜色": "blue", "ripe": True},
]


@pytest.fixture(scope="module")
async def workshop(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncIterator[Workshop]:
    """One service with three models for all tests of this file: none of them changes anything."""
    folder = tmp_path_factory.mktemp("formats")
    shutil.copy(sqlite_template, folder / "niwaki.db")
    settings = Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'niwaki.db'}", embedded_worker=False)
    async with workshop_on(settings) as workshop:
        for name, targets in TARGETS.items():
            target = "y" if "y" in targets else list(targets)
            await workshop.train({**TABLE, **targets}, name=name, target=target)
        yield workshop


def body_of(records: Sequence[Mapping[str, Any]], media: str, **options: Any) -> bytes:
    match media:
        case "application/json":
            return json.dumps({"records": records, **options}).encode()
        case "application/x-ndjson":
            return as_lines(records)
        case "text/csv":
            return as_csv(records, list(TYPES))
        case _:
            return as_arrow(records, TYPES, rows_per_batch=3)


async def ask(
    workshop: Workshop,
    model: str,
    body: bytes,
    media: str,
    accept: str | None = None,
    *,
    status: int = 200,
    params: Any = None,
    **headers: str,
) -> httpx.Response:
    sent = {"Content-Type": media, **({"Accept": accept} if accept else {}), **headers}
    answer = await workshop.client.post(f"/v1/models/{model}/predict", content=body, headers=sent, params=params)
    assert answer.status_code == status, answer.text[:2000]
    return answer


def flat(prediction: Mapping[str, Any]) -> dict[str, Any]:
    """A prediction of JSON as a row of a table."""
    found: dict[str, Any] = {}
    spread_out = {"probabilities": "probability", "mean": "mean", "spread": "spread"}
    for name, value in prediction.items():
        if name in spread_out and isinstance(value, dict):
            found |= {f"{spread_out[name]}_{key}": inner for key, inner in value.items()}
        elif name == "bounds" and isinstance(value, dict):
            found |= {f"lowest_{key}": low for key, (low, _) in value.items()}
            found |= {f"highest_{key}": high for key, (_, high) in value.items()}
        elif name == "bounds":
            found |= {"lowest": value[0], "highest": value[1]}
        elif name == "paths" and value is not None:
            found["paths"] = json.dumps(value, sort_keys=True)
        elif value is None:
            assert name in ("explanation", "paths")
        else:
            found[name] = value
    return found


def rows_of(answer: httpx.Response) -> list[dict[str, Any]]:
    """The rows of a table of answers."""
    if answer.headers["content-type"].startswith("text/csv"):
        rows = [
            {name: cell_value(name, cell) for name, cell in row.items()}
            for row in csv.DictReader(io.StringIO(answer.text))
        ]
    else:
        rows = pa.ipc.open_stream(answer.content).read_all().to_pylist()
    return [{name: resorted(name, value) for name, value in row.items()} for row in rows]


def cell_value(name: str, cell: str) -> Any:
    if name in ("missing", "unseen", "decided", "leaves"):
        return json.loads(cell)
    return cell if name in ("label", "bounds_kind", "explanation", "paths") else float(cell)


def resorted(name: str, value: Any) -> Any:
    return json.dumps(json.loads(value), sort_keys=True) if name == "paths" else value


@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize("model", TARGETS)
@pytest.mark.parametrize("sent", FORMATS)
async def test_every_format_in_and_out_says_the_same(workshop: Workshop, sent: str, model: str, explain: bool) -> None:
    expected = await workshop.predict(model, {"records": RECORDS, "explain": explain})
    options = {"explain": explain} if sent == JSON else {}
    params = None if sent == JSON else {"explain": explain}
    for shown in FORMATS:
        answer = await ask(workshop, model, body_of(RECORDS, sent, **options), sent, shown, params=params)
        assert answer.headers["content-type"].partition(";")[0] == shown
        if shown == JSON:
            assert answer.json() == expected
        elif shown == LINES:
            assert [json.loads(line) for line in answer.text.splitlines()] == expected["predictions"]
        else:
            assert rows_of(answer) == [flat(prediction) for prediction in expected["predictions"]]


async def test_blocks_make_no_difference(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {shown: await ask(workshop, "classes", body_of(RECORDS, JSON), JSON, shown) for shown in FORMATS}
    for module in ("batches", "formats.json_lines", "formats.arrow_stream"):
        monkeypatch.setattr(f"service.api.predicting.{module}.ROWS_PER_BLOCK", 2)
    monkeypatch.setattr("service.usecases.datasets.read_csv.ROWS_PER_BLOCK", 2)
    for sent in FORMATS:
        for shown in FORMATS:
            answer = await ask(workshop, "classes", body_of(RECORDS, sent), sent, shown)
            assert "content-length" not in answer.headers
            if shown == ARROW:
                assert rows_of(answer) == rows_of(whole[shown])
            else:
                assert answer.content == whole[shown].content


async def test_which_model_answered_is_told(workshop: Workshop) -> None:
    model = (await workshop.predict("numbers", {"records": []}))["model"]
    for shown in (LINES, CSV, ARROW):
        answer = await ask(workshop, "numbers", body_of(RECORDS, CSV), CSV, shown, params={"step": "full"})
        told = {name: answer.headers[f"niwaki-{name}"] for name in ("model", "version", "step", "digest")}
        assert told == {"model": model["id"], "version": "1", "step": "0", "digest": model["digest"]}
        assert "Accept" in answer.headers["vary"]
    about = pa.ipc.open_stream(answer.content).schema.metadata[b"niwaki"]
    assert json.loads(about) == {"model": {**model, "step": 0}, "task": "regression"}


@pytest.mark.parametrize("sent", FORMATS)
async def test_nothing_asked_is_nothing_answered(workshop: Workshop, sent: str) -> None:
    for shown in FORMATS:
        answer = await ask(workshop, "classes", body_of([], sent), sent, shown)
        if shown == JSON:
            assert answer.json()["predictions"] == []
        else:
            assert answer.text == "" if shown == LINES else rows_of(answer) == []
    header = (await ask(workshop, "classes", body_of([], sent), sent, CSV)).text
    assert header.startswith('label,probability_p,"probability_q,""1""",probability_r,decided,lowest_p')


async def test_options_stand_in_the_query(workshop: Workshop) -> None:
    body = {"records": RECORDS, "missing": "majority_branch", "step": 0}
    expected = (await workshop.predict("classes", body))["predictions"]
    params = {"missing": "majority_branch", "step": "0"}
    answer = await ask(workshop, "classes", body_of(RECORDS, LINES), LINES, params=params)
    assert [json.loads(line) for line in answer.text.splitlines()] == expected


ASKED: list[tuple[str, list[str], list[str]]] = [
    ("classes", ["label"], ["label"]),
    ("classes", ["leaves", "probabilities"], ["probability_p", 'probability_q,"1"', "probability_r", "leaves"]),
    ("classes", ["unseen", "paths"], ["unseen", "paths"]),
    ("numbers", ["explanation"], ["explanation"]),
    ("numbers", ["mean", "count"], ["mean", "count"]),
    ("several", ["bounds"], ["lowest_h", "lowest_w", "highest_h", "highest_w", "bounds_kind"]),
]


@pytest.mark.parametrize(("model", "fields", "columns"), ASKED)
async def test_a_part_of_the_answers(workshop: Workshop, model: str, fields: list[str], columns: list[str]) -> None:
    expected = (await workshop.predict(model, {"records": RECORDS, "fields": fields}))["predictions"]
    for shown in FORMATS:
        answer = await ask(workshop, model, body_of(RECORDS, CSV), CSV, shown, params={"fields": fields})
        if shown in (CSV, ARROW):
            assert rows_of(answer) == [flat(prediction) for prediction in expected]
            assert list(rows_of(answer)[0]) == columns
        else:
            said = answer.json()["predictions"] if shown == JSON else [json.loads(x) for x in answer.text.splitlines()]
            assert said == expected


async def test_a_part_that_the_model_does_not_have(workshop: Workshop) -> None:
    for fields in (["mean"], ["label", "lable"]):
        answer = await ask(workshop, "classes", b"size\n1\n", CSV, params={"fields": fields}, status=422)
        (fault,) = faults(answer, "invalid_request")
        assert (fault["in"], fault["parameter"]) == ("query", "fields")


async def test_missing_tokens_of_csv(workshop: Workshop) -> None:
    body = "size,颜色\n-,red\n1,NA\n".encode()
    answer = await ask(workshop, "classes", body, CSV, LINES, params={"missing_tokens": ["-", "none"]})
    said = [json.loads(line) for line in answer.text.splitlines()]
    assert [(one["missing"], one["unseen"]) for one in said] == [(["size", "ripe"], []), (["ripe"], ["颜色"])]


def faults(answer: httpx.Response, word: str) -> list[dict[str, Any]]:
    problem = answer.json()
    assert problem["type"] == f"/problems/{word}"
    assert answer.headers["content-type"] == "application/problem+json"
    found: list[dict[str, Any]] = problem["errors"]
    return found


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"missing": "weihgted"}, "missing"),
        ({"explain": "perhaps"}, "explain"),
        ({"step": "fulll"}, "step"),
        ({"missing": "surrogate"}, "missing"),
        ({"ignore_unknwon": "true"}, "ignore_unknwon"),
        ({"missing_tokens": "-"}, "missing_tokens"),
        ([("step", "0"), ("step", "1")], "step"),
    ],
)
async def test_wrong_options_are_named(workshop: Workshop, params: Any, name: str) -> None:
    answer = await ask(workshop, "classes", body_of(RECORDS, LINES), LINES, params=params, status=422)
    (fault,) = faults(answer, "invalid_request")
    assert (fault["in"], fault["parameter"]) == ("query", name)
    assert fault["detail"]


async def test_with_a_json_body_the_options_stand_in_the_body(workshop: Workshop) -> None:
    for accept in (JSON, CSV):
        body = body_of(RECORDS, JSON, step=0)
        answer = await ask(workshop, "classes", body, JSON, accept, params={"step": "0"}, status=422)
        (fault,) = faults(answer, "invalid_request")
        assert (fault["in"], fault["parameter"], fault["hint"]) == ("query", "step", "move it there")


async def test_a_step_that_is_not_there(workshop: Workshop) -> None:
    answer = await ask(workshop, "classes", body_of(RECORDS, CSV), CSV, params={"step": "999"}, status=404)
    assert answer.json()["type"] == "/problems/step_not_found"


@pytest.mark.parametrize(
    ("sent", "accept", "shown"),
    [
        (CSV, None, CSV),
        (CSV, "*/*", CSV),
        (JSON, "*/*", JSON),
        (ARROW, "application/*", ARROW),
        (CSV, "application/*", JSON),
        (LINES, "text/html, application/json;q=0.9, */*;q=0.1", JSON),
        (LINES, "text/csv;q=0.2, application/vnd.apache.arrow.stream;q=0.3", ARROW),
        (JSON, "application/json;q=0, */*", LINES),
        (JSON, "TEXT/CSV; charset=utf-8", CSV),
    ],
)
async def test_what_is_answered(workshop: Workshop, sent: str, accept: str | None, shown: str) -> None:
    body = body_of(RECORDS, sent)
    headers = {"Content-Type": sent, "Accept": accept or ""}
    answer = await workshop.client.post("/v1/models/classes/predict", content=body, headers=headers)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, shown)


async def test_what_cannot_be_answered(workshop: Workshop) -> None:
    for accept in ("text/html", "image/*, application/xml", "*/*;q=0"):
        answer = await ask(workshop, "classes", body_of(RECORDS, JSON), JSON, accept, status=406)
        assert answer.json()["type"] == "/problems/not_acceptable"
        assert all(one in answer.json()["detail"] for one in FORMATS)


@pytest.mark.parametrize(
    "media", ["text/plain", "application/x-parquet", "multipart/form-data", "text/csv; charset=gbk"]
)
async def test_what_is_not_taken(workshop: Workshop, media: str) -> None:
    answer = await ask(workshop, "classes", b"size\n1\n", media, status=415)
    assert answer.json()["type"] == "/problems/unsupported_media_type"
    assert "text/csv" in answer.json()["detail"] or "gbk" in answer.json()["detail"]


async def test_faults_name_lines_columns_and_rows(workshop: Workshop) -> None:
    lines = b'{"size": 1}\n{"size": "x", "sise": 1}\n'
    found = faults(await ask(workshop, "classes", lines, LINES, status=422), "records_do_not_fit")
    places = [(one["in"], one["line"], one["pointer"], one["parameter"]) for one in found]
    assert places == [("body", 2, "#/sise", None), ("body", 2, "#/size", None)]

    found = faults(await ask(workshop, "classes", b"size,sise\n1,1\nx,1\n", CSV, status=422), "records_do_not_fit")
    assert [(one["in"], one["line"], one["pointer"]) for one in found] == [("body", 1, None), ("body", 3, None)]
    assert found[0]["hint"] == "did you mean size?"

    table = stream_of(pa.table({"size": [1.0, float("nan")], "ripe": [b"a", b"b"]}))
    found = faults(await ask(workshop, "classes", table, ARROW, status=422), "records_do_not_fit")
    places = [(one["in"], one["line"], one["pointer"]) for one in found]
    assert places == [("body", None, "#/columns/size/1"), ("body", None, "#/columns/ripe")]


@pytest.mark.parametrize(
    ("media", "body"), [(LINES, b'{"size": 1}\n{"size"\n'), (CSV, b'size\n1\n"2'), (ARROW, b"size")]
)
async def test_bodies_that_cannot_be_read(workshop: Workshop, media: str, body: bytes) -> None:
    answer = await ask(workshop, "classes", body, media, status=400)
    found = faults(answer, "malformed_body")
    assert [(one["in"], one["line"]) for one in found] == (
        [] if media == ARROW else [("body", 2 if media == LINES else 3)]
    )
    assert "Arrow" in answer.json()["detail"] if media == ARROW else "line" in answer.json()["detail"]


@pytest.mark.parametrize("media", FORMATS)
async def test_compressed_in_and_out(workshop: Workshop, media: str) -> None:
    plain = await ask(workshop, "classes", body_of(RECORDS, media), media)
    packed = gzip.compress(body_of(RECORDS * 100, media))
    headers = {"Content-Encoding": "gzip", "Accept-Encoding": "gzip"}
    answer = await ask(workshop, "classes", packed, media, **headers)
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == ("Accept, Accept-Encoding" if media != JSON else answer.headers["vary"])
    if media in (LINES, CSV):
        head, *lines = plain.content.splitlines(keepends=True)
        expected = plain.content * 100 if media == LINES else head + b"".join(lines) * 100
        assert answer.content == expected


async def test_a_block_is_answered_when_it_is_its_turn(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that of a large batch one block of answers is in memory, however many there are."""
    answered: list[int] = []
    real = batches.answer

    def counted(loaded: Any, order: Any, records: Any, *, kernels: bool) -> Any:
        answered.append(records.table.n_rows)
        return real(loaded, order, records, kernels=kernels)

    monkeypatch.setattr(batches, "answer", counted)
    monkeypatch.setattr("service.api.predicting.formats.json_lines.ROWS_PER_BLOCK", 50)
    loaded = await models_of(workshop).get("classes")
    batch = batches.read_batch(loaded, as_lines(RECORDS * 100), batches.Format.JSON_LINES, QueryParams(), kernels=False)
    assert (batch.n_blocks, batch.n_records, answered) == (14, 700, [])
    pieces = batches.written(loaded, batch, batches.Format.CSV, kernels=False)
    for _ in range(3):  # the names of the columns, and two blocks
        next(pieces)
    assert answered == [50, 50]
    assert sum(piece.count(b"\n") for piece in pieces) == 600
    assert answered == [50] * 14


def models_of(workshop: Workshop) -> LoadedModels:
    transport = workshop.client._transport
    assert isinstance(transport, httpx.ASGITransport)
    app: Any = transport.app
    models: LoadedModels = app.state.models
    return models
