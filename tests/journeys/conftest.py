"""One running service on each database, shared by all journeys."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from service.kernel_cache import KernelCache
from service.settings import Settings
from tests.conftest import TEMPLATE, run_sql, with_database
from tests.journeys.running import ENGINE_ON, QUICK_LEASE, Service, serving


@contextmanager
def service_on(kind: str, request: pytest.FixtureRequest) -> Iterator[Service]:
    factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    folder = factory.mktemp(f"service-{kind}")
    settings = Settings(data_dir=folder / "data", port=0, engine=ENGINE_ON[kind], **QUICK_LEASE)
    if kind == "sqlite":
        with serving(settings, folder / "log") as service:
            yield service
        return
    server = request.getfixturevalue("postgres_server")
    name = f"niwaki_journeys_{request.getfixturevalue('worker_id')}_{os.getpid()}_{folder.name[-1]}"
    run_sql(server, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    with serving(settings.model_copy(update={"database_url": with_database(server, name)}), folder / "log") as service:
        yield service
    run_sql(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def sqlite_service(request: pytest.FixtureRequest, warm_kernels: KernelCache) -> Iterator[Service]:
    with service_on("sqlite", request) as service:
        yield service


@pytest.fixture(scope="session")
def postgres_service(request: pytest.FixtureRequest, warm_kernels: KernelCache) -> Iterator[Service]:
    with service_on("postgres", request) as service:
        yield service


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def service(request: pytest.FixtureRequest, warm_kernels: KernelCache) -> Service:
    """A running service with its own worker, once on each database. Tests share it and use names of their own.

    Compiled code is there from the start, so that nothing waits for a compiler.
    """
    running: Service = request.getfixturevalue(f"{request.param}_service")
    return running


@pytest.fixture(params=ENGINE_ON.values())
def engine(request: pytest.FixtureRequest, warm_kernels: KernelCache) -> str:
    """Each engine, for a journey with a service of its own on one database."""
    chosen: str = request.param
    return chosen
