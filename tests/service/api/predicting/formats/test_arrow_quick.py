"""The quick way gives the bytes of the general one, or leaves a body to it."""

import shutil
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from core.prediction.predictor import FEW_RECORDS
from core.tables.errors import RecordsDoNotFit
from service.api.predicting import batches
from service.api.predicting.batches import Format
from service.api.predicting.formats.arrow_quick import QuickReader, answered_quickly
from service.api.predicting.formats.blocks import ROWS_PER_BLOCK
from service.errors import MalformedBody
from service.serving.loaded_models import LoadedModel
from service.settings import Settings
from service.usecases.predictions.predict import order_of
from tests.examples import examples
from tests.service.api.predicting.formats.test_formats import models_of
from tests.service.api.predicting.formats.written import stream_of
from tests.service.api.trained import Workshop, workshop_on

pytestmark = pytest.mark.anyio

N_ROWS = 300
COLOURS = ("red", 'gr"e,en', "blau-grün", "")
TABLE: dict[str, Any] = {
    "size": [i % 13 + i / 7 for i in range(60)],
    "颜色": [COLOURS[i % 4] for i in range(60)],
    "weight": [(i * i) % 17 / 3 for i in range(60)],
}
TARGETS: dict[str, dict[str, Any]] = {
    "classes": {"y": ["p" if i % 3 else "q" if i % 2 else "r" for i in range(60)]},
    "numbers": {"y": [i % 5 + i / 3 for i in range(60)]},
    "several": {"h": [i / 7 for i in range(60)], "w": [(i * i) % 5 for i in range(60)]},
}
FIELDS = (None, ("label",), ("probabilities", "bounds"), ("leaves",), ("missing", "decided"), ("mean", "count"))


@pytest.fixture(scope="module")
async def workshop(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncIterator[Workshop]:
    folder = tmp_path_factory.mktemp("quick")
    shutil.copy(sqlite_template, folder / "niwaki.db")
    settings = Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'niwaki.db'}", embedded_worker=False)
    async with workshop_on(settings) as workshop:
        for name, targets in TARGETS.items():
            target = "y" if "y" in targets else list(targets)
            await workshop.train({**TABLE, **targets}, name=name, target=target)
        yield workshop


@pytest.fixture(scope="module")
async def loaded(workshop: Workshop) -> LoadedModel:
    return await models_of(workshop).get("classes")


def columns_of(n_rows: int = N_ROWS, seed: int = 0) -> dict[str, Any]:
    chance = np.random.default_rng(seed)
    return {
        "weight": chance.normal(3, 2, n_rows),
        "颜色": [COLOURS[code] for code in chance.integers(4, size=n_rows)],
        "size": chance.normal(8, 6, n_rows),
    }


def quick(loaded: LoadedModel, body: bytes, fields: tuple[str, ...] | None = None, *, explain: bool = False) -> Any:
    found = answered_quickly(loaded, body, order_of(loaded, step="selected", policy=None), fields, explain)
    return None if found is None else bytes(found[0])


def general(loaded: LoadedModel, body: bytes, fields: tuple[str, ...] | None = None) -> bytes:
    query = QueryParams([("fields", field) for field in fields or ()])
    batch = batches.read_batch(loaded, body, Format.ARROW, query, kernels=True)
    return b"".join(batches.written(loaded, batch, Format.ARROW, kernels=True))


@pytest.mark.parametrize("model", TARGETS)
@pytest.mark.parametrize("fields", FIELDS)
async def test_both_ways_give_the_same_bytes(workshop: Workshop, model: str, fields: tuple[str, ...] | None) -> None:
    loaded = await models_of(workshop).get(model)
    is_of_classes = model == "classes"
    if fields and {"label", "probabilities", "mean"} & {*fields} and is_of_classes == ("mean" in fields):
        return  # no such part
    for seed, n_rows in enumerate((N_ROWS, N_ROWS, N_ROWS + 1, N_ROWS)):
        body = stream_of(pa.table(columns_of(n_rows, seed)))
        found = quick(loaded, body, fields)
        assert (found is None) == (fields == ("leaves",))
        if found is not None:
            assert found == general(loaded, body, fields)


async def test_answers_do_not_share_their_memory(loaded: LoadedModel) -> None:
    bodies = [stream_of(pa.table(columns_of(seed=seed))) for seed in range(2)]
    order = order_of(loaded, step="selected", policy=None)
    one, other = (answered_quickly(loaded, body, order, None, False) for body in bodies)
    assert one is not None
    assert other is not None
    assert [bytes(one[0]), bytes(other[0])] == [general(loaded, body) for body in bodies]


def replaced(name: str, column: Any) -> bytes:
    return stream_of(pa.table({**columns_of(), name: column}))


def with_value(name: str, value: Any) -> bytes:
    column = [*columns_of()[name]]
    column[7] = value
    return replaced(name, column)


UNUSUAL = {
    "a missing number": with_value("size", None),
    "a missing word": with_value("颜色", None),
    "a word never seen": with_value("颜色", "never seen"),
    "a spelling of JSON": with_value("颜色", "blau-gr\\u00fcn"),
    "no number": with_value("size", float("nan")),
    "whole numbers": replaced("size", pa.array(range(N_ROWS))),
    "a dictionary": replaced("颜色", pa.array(["red"] * N_ROWS).dictionary_encode()),
    "large text": replaced("颜色", pa.array(["red"] * N_ROWS, pa.large_string())),
    "a column more": replaced("other", [1.0] * N_ROWS),
    "a column less": stream_of(pa.table({"size": [1.0] * N_ROWS})),
    "few rows": stream_of(pa.table(columns_of(FEW_RECORDS))),
    "many rows": stream_of(pa.table(columns_of(ROWS_PER_BLOCK + 1))),
    "several batches": stream_of(pa.table(columns_of()), rows_per_batch=150),
    "no stream": b"size\n1\n",
}


@pytest.mark.parametrize("body", [pytest.param(body, id=what) for what, body in UNUSUAL.items()])
async def test_what_is_not_usual_is_left_to_the_general_way(loaded: LoadedModel, body: bytes) -> None:
    assert quick(loaded, body) is None


async def test_compressed_streams_are_refused_as_ever(loaded: LoadedModel) -> None:
    with pytest.raises(MalformedBody, match="compressed"):
        quick(loaded, stream_of(pa.table(columns_of()), compression="zstd"))


async def test_words_without_letters_are_words(loaded: LoadedModel) -> None:
    body = replaced("颜色", [""] * (N_ROWS - 1) + ["red"])
    assert quick(loaded, body) == general(loaded, body)


async def test_parts_of_a_larger_table_are_read_where_they_lie(loaded: LoadedModel) -> None:
    table = pa.table(columns_of(2 * N_ROWS)).slice(150, N_ROWS)
    body = stream_of(table)
    assert quick(loaded, body) == general(loaded, body)


STREAM = stream_of(pa.table(columns_of(120)))


@given(st.integers(0, len(STREAM) - 1), st.integers(0, 255), st.integers(0, len(STREAM) - 1), st.integers(0, 255))
@examples(400, deadline=None)
async def test_no_byte_of_a_stream_can_do_harm(
    loaded: LoadedModel, one: int, by_one: int, other: int, by_other: int
) -> None:
    """Whatever it becomes, it is read as the general way does, left to it, or refused; a crash would end the tests."""
    body = bytearray(STREAM)
    body[one], body[other] = by_one, by_other
    outcomes = []
    for way in (quick, general):
        try:
            outcomes.append(way(loaded, bytes(body)))
        except (MalformedBody, RecordsDoNotFit) as error:
            outcomes.append(type(error))
    assert outcomes[0] in (None, outcomes[1])


async def test_the_route_takes_the_quick_way(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, asked = await models_of(workshop).get("classes"), list[bytes]()
    monkeypatch.setattr(batches, "compiled_code_is_ready", lambda _: True)
    monkeypatch.setattr(batches, "_begun", partial(pytest.fail, "the general way was taken"))
    real = batches.answered_quickly
    monkeypatch.setattr(batches, "answered_quickly", lambda *said: (asked.append(said[1]), real(*said))[1])
    body = stream_of(pa.table(columns_of()))
    for limit in (batches.HERE_BYTES, 0):  # here, and in a thread
        monkeypatch.setattr(batches, "HERE_BYTES", limit)
        for params in ({}, {"fields": "label"}):
            media = str(Format.ARROW)
            answer = await workshop.client.post(
                "/v1/models/classes/predict", content=body, headers={"Content-Type": media}, params=params
            )
            assert answer.status_code == 200
            assert answer.headers["Niwaki-Digest"] == loaded.record.digest
            assert answer.content == general(loaded, body, ("label",) if params else None)
    assert asked == [body] * 4


async def test_a_schema_is_looked_at_once(loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, looked = QuickReader(loaded), list[Any]()
    real = reader._found
    monkeypatch.setattr(reader, "_found", lambda schema: (looked.append(schema), real(schema))[1])
    for seed in range(3):
        assert reader.read(stream_of(pa.table(columns_of(seed=seed)))) is not None
    assert len(looked) == 1
