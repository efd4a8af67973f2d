"""The service in this process, and the service on a real socket."""

import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn

from service.app import create_app
from service.settings import Settings
from tests.service.api.trained import Workshop, talking_to, workshop_on


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
async def workshop(sqlite_url: str, tmp_path: Path, anyio_backend: str) -> AsyncIterator[Workshop]:
    """A workshop on SQLite; files about what is stored have one on both databases."""
    settings = Settings(database_url=sqlite_url, data_dir=tmp_path / "data", embedded_worker=False)
    async with workshop_on(settings) as workshop:
        yield workshop


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
