"""The service in this process, with a worker that runs only when it is asked to."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import httpx
from fastapi import FastAPI

from service.app import create_app
from service.jobs.child import carry_out
from service.kernel_cache import KernelCache, find_cache
from service.settings import Settings
from service.store import jobs
from service.store.jobs import Job
from service.store.transactions import Database
from service.usecases.trainings.run_training import run_training
from tests.service.store.orders import claim

CART = {"kind": "cart"}
Columns = Mapping[str, Any]


@cache
def kernels(cpu: str) -> KernelCache:
    """The kernels of all tests; to find them, the sources of all kernels are read."""
    return find_cache(Settings(cpu=cpu))


class Workshop:
    """A client, and what turns ordered trainings into models."""

    def __init__(self, client: httpx.AsyncClient, settings: Settings, database: Database) -> None:
        self.client, self.settings, self._database = client, settings, database

    async def call(self, method: str, path: str, *, status: int = 200, **options: Any) -> Any:
        """Call, look at the status, and hand over the JSON (or None)."""
        answer = await self.client.request(method, path, **options)
        assert answer.status_code == status, (method, path, answer.status_code, answer.text[:2000])
        return answer.json() if answer.content else None

    async def get(self, path: str, *, status: int = 200, **parameters: Any) -> Any:
        return await self.call("GET", path, status=status, params=parameters)

    async def post(self, path: str, body: Any, *, status: int = 200) -> Any:
        return await self.call("POST", path, status=status, json=body)

    async def predict(self, model: str, body: Any, *, status: int = 200) -> Any:
        return await self.post(f"/v1/models/{model}/predict", body, status=status)

    async def dataset(self, columns: Columns, **options: Any) -> str:
        """Send a table; its id."""
        return str((await self.post("/v1/datasets", {"columns": columns, **options}, status=201))["id"])

    async def order(self, dataset_id: str, *, status: int = 202, **order: Any) -> Any:
        """Order a training of `y` by CART on all rows without pruning, or as told."""
        plain = {"algorithm": CART, "division": {"kind": "none"}, "pruning": {"kind": "none"}}
        body = {"name": "m", "dataset_id": dataset_id, "target": "y", **plain, **order}
        return await self.post("/v1/trainings", body, status=status)

    async def train(self, columns: Columns, *, options: dict[str, Any] | None = None, **order: Any) -> Any:
        """The training of a table once it has ended, well or not."""
        training = await self.order(await self.dataset(columns, **(options or {})), **order)
        await self.work()
        return await self.get(f"/v1/trainings/{training['id']}")

    async def model(self, columns: Columns, *, options: dict[str, Any] | None = None, **order: Any) -> str:
        """The id of a model trained on a table."""
        training = await self.train(columns, options=options, **order)
        assert training["status"] == "succeeded", training
        return str(training["model_id"])

    async def work(self) -> None:
        """Run every queued training, as a worker does."""
        while (job := await claim(self._database)) is not None:
            outcome = await carry_out(run_training, self.settings, job, lambda _: None, kernels(self.settings.cpu))
            assert outcome["event"] != "crashed", job
            if outcome["event"] == "failed":
                await self._fail(job, outcome["problem"])

    async def _fail(self, job: Job, problem: dict[str, Any]) -> None:
        async with self._database.writing() as session:
            await jobs.finish_failed(session, job, problem)


@asynccontextmanager
async def talking_to(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application in this process."""
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://niwaki") as client,
    ):
        yield client


@asynccontextmanager
async def workshop_on(settings: Settings) -> AsyncIterator[Workshop]:
    """A workshop with its own application."""
    database = Database(settings)
    async with talking_to(create_app(settings)) as client:
        yield Workshop(client, settings, database)
    await database.close()


def places(problem: Any) -> list[str]:
    """Where a problem's errors are."""
    return [error["pointer"] for error in problem["errors"]]
