"""The service in this process, and the service on a real socket."""

import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from service.app import create_app
from service.settings import Settings


@asynccontextmanager
async def talking_to(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://niwaki") as client,
    ):
        yield client


@pytest.fixture
async def service(settings: Settings, anyio_backend: str) -> AsyncIterator[httpx.AsyncClient]:
    """The service on both databases, for what is stored."""
    async with talking_to(create_app(settings)) as client:
        yield client


@pytest.fixture
def edge_settings(sqlite_url: str, tmp_path: Path) -> Settings:
    return Settings(
        database_url=sqlite_url,
        data_dir=tmp_path / "data",
        embedded_worker=False,
        max_body_bytes=100_000,
        max_dataset_bytes=1_000_000,
    )


@pytest.fixture
async def edge(edge_settings: Settings, anyio_backend: str) -> AsyncIterator[httpx.AsyncClient]:
    """The service on SQLite, for what has nothing to do with storage."""
    async with talking_to(create_app(edge_settings)) as client:
        yield client


@pytest.fixture
def server(edge_settings: Settings) -> Iterator[tuple[str, int]]:
    """Host and port of the service behind uvicorn, as it is run in earnest."""
    config = uvicorn.Config(
        create_app(edge_settings), host="127.0.0.1", port=0, log_config=None, access_log=False, http="httptools"
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started and thread.is_alive():
        time.sleep(0.01)
    host, port = running.servers[0].sockets[0].getsockname()
    yield host, port
    running.should_exit = True
    thread.join()
