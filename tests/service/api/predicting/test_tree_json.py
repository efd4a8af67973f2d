"""Answers of leaves that compiled code puts together are those that are joined one by one."""

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.api.predicting.tree_json import PredictionWriter
from service.serving.loaded_models import LoadedModel
from service.settings import Settings
from service.usecases.predictions.predict import Predicted
from tests.service.api.predicting.formats.test_formats import models_of
from tests.service.api.trained import workshop_on

pytestmark = pytest.mark.anyio

TABLE: dict[str, Any] = {"size": [i % 13 + i / 7 for i in range(60)], "y": ["pqr"[i * i % 3] for i in range(60)]}


@pytest.fixture
async def loaded(sqlite_template: Path, tmp_path: Path, anyio_backend: str) -> AsyncIterator[LoadedModel]:
    shutil.copy(sqlite_template, tmp_path / "niwaki.db")
    url = f"sqlite:///{tmp_path / 'niwaki.db'}"
    async with workshop_on(Settings(data_dir=tmp_path, database_url=url, embedded_worker=False)) as workshop:
        await workshop.train(TABLE)
        yield await models_of(workshop).get("m")


@pytest.mark.parametrize(("fields", "explain"), [(None, False), (None, True), (("label",), False)])
async def test_both_ways_give_the_same_bytes(
    loaded: LoadedModel, fields: tuple[str, ...] | None, explain: bool
) -> None:
    writer = PredictionWriter(loaded, 0, fields, explain)
    every = np.array(loaded.view(0).leaves)
    assert len(every) > 3
    few = every[:1], every[:2], every, every[::-1]  # leaves that are asked for first, and some that were before
    for leaves in (np.resize(some, 120) for some in few):
        written = writer.text(Predicted(leaves, None, None), kernels=True)
        assert isinstance(written, memoryview)
        assert bytes(written) == writer.text(Predicted(leaves, None, None), kernels=False)
        assert len(json.loads(bytes(written))["predictions"]) == 120


async def test_records_that_lack_something_are_written_one_by_one(loaded: LoadedModel) -> None:
    writer = PredictionWriter(loaded, 0, None, False)
    leaves = np.resize(loaded.view(0).leaves, 120)
    written = writer.text(Predicted(leaves, [b"\1", *[b""] * 119], None), kernels=True)
    assert isinstance(written, bytes)
    first, *others = json.loads(written)["predictions"]
    assert first["missing"] == ["size"]
    assert not any(answer["missing"] for answer in others)
