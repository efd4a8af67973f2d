import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest

from service.settings import Settings
from service.store import models, trainings
from service.store.artifacts import Artifacts
from service.store.migrate import upgrade
from service.store.trainings import TrainingRecord
from service.store.transactions import Database
from tests.conftest import run_sql, with_database
from tests.service.jobs.workers import SAMPLE_WORK, eventually, is_running, kill, one_database, pids_in, start, worker
from tests.service.store.orders import Ordered, model_ids, order_training, training

pytestmark = pytest.mark.anyio


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Short times, so that the tests are short."""
    return settings.model_copy(update={"lease_seconds": 1.5, "heartbeat_seconds": 0.3, "max_attempts": 2})


class Orders:
    """Orders trainings of the sample work and watches them."""

    def __init__(self, database: Database, artifacts: Artifacts, notes: Path) -> None:
        self.database, self.artifacts, self.notes = database, artifacts, notes

    async def order(self, do: str) -> Ordered:
        configuration = {"do": do, "notes": str(self.notes)}
        return await order_training(self.database, self.artifacts, configuration=configuration)

    async def record(self, order: Ordered) -> TrainingRecord:
        return await training(self.database, order.training_id)

    async def until(self, order: Ordered, status: str, *, within: float = 20.0) -> float:
        async def is_so() -> bool:
            return (await self.record(order)).status == status

        return await eventually(is_so, within=within)

    async def until_child_works(self, n: int = 1) -> int:
        async def is_so() -> bool:
            return len(pids_in(self.notes)) >= n

        await eventually(is_so)
        return pids_in(self.notes)[-1]


@pytest.fixture
def orders(database: Database, artifacts: Artifacts, tmp_path: Path) -> Orders:
    return Orders(database, artifacts, tmp_path / "notes")


async def ended(pid: int, *, within: float) -> float:
    async def is_so() -> bool:
        return not is_running(pid)

    return await eventually(is_so, within=within)


async def test_trainings_run_one_after_another_in_a_warm_child(settings: Settings, orders: Orders) -> None:
    ordered = [await orders.order("finish") for _ in range(4)]
    with worker(settings):
        for order in ordered:
            await orders.until(order, "succeeded")
    records = [await orders.record(order) for order in ordered]
    assert len(set(pids_in(orders.notes))) == 1
    assert all(record.progress == 1.0 and record.finished_at is not None for record in records)
    async with orders.database.reading() as session:
        assert [item.version for item in (await models.page(session, 10, None)).items] == [4, 3, 2, 1]


@one_database
async def test_slots_run_at_the_same_time_and_show_progress(settings: Settings, orders: Orders) -> None:
    ordered = [await orders.order("compute") for _ in range(2)]
    with worker(settings, "--slots", "2"):
        await orders.until_child_works(2)

        async def both_show_progress() -> bool:
            records = [await orders.record(order) for order in ordered]
            return all((r.status, r.stage, r.progress) == ("running", "growing", 0.5) for r in records)

        await eventually(both_show_progress)


@one_database
async def test_a_long_training_keeps_its_lease(settings: Settings, orders: Orders) -> None:
    order = await orders.order("compute")
    with worker(settings), worker(settings):
        child = await orders.until_child_works()
        await anyio.sleep(2 * settings.lease_seconds)
        assert is_running(child)
        assert pids_in(orders.notes) == [child]
        assert (await orders.record(order)).status == "running"


async def test_a_running_training_is_cancelled_within_a_second(settings: Settings, orders: Orders) -> None:
    order, next_one = await orders.order("compute"), await orders.order("finish")
    with worker(settings):
        child = await orders.until_child_works()
        async with orders.database.writing() as session:
            await trainings.cancel(session, order.training_id)
        assert await orders.until(order, "cancelled") < 1.5
        assert not is_running(child)
        await orders.until(next_one, "succeeded")
    assert await model_ids(orders.database) == {next_one.model_id}
    assert (await orders.record(order)).model_id is None


@one_database
async def test_a_child_that_speaks_to_nobody_ends_quietly(settings: Settings) -> None:
    with start([sys.executable, "-m", "service.jobs", *SAMPLE_WORK], settings) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()  # as when the supervisor was killed; that standard input ended is seen later than this
        said = await anyio.to_thread.run_sync(child.stderr.read)
        assert (child.wait(10), said) == (0, b"")


@one_database
async def test_bad_input_is_never_tried_again(settings: Settings, orders: Orders) -> None:
    order = await orders.order("bad input")
    with worker(settings):
        await orders.until(order, "failed")
    assert len(pids_in(orders.notes)) == 1
    record = await orders.record(order)
    assert record.problem == {
        "type": "/problems/invalid_config",
        "title": "The configuration does not fit",
        "status": 422,
        "detail": "one class only",
        "errors": [
            {
                "in": "body",
                "pointer": "#/target",
                "parameter": None,
                "line": None,
                "detail": "one class only",
                "hint": "choose another column",
            }
        ],
    }
    assert record.model_id is None


async def test_a_crash_is_tried_again_and_then_given_up(settings: Settings, orders: Orders) -> None:
    order = await orders.order("crash")
    with worker(settings):
        await orders.until(order, "failed")
    assert len(pids_in(orders.notes)) == settings.max_attempts
    problem = (await orders.record(order)).problem
    assert problem is not None
    assert (problem["type"], problem["status"]) == ("/problems/internal_error", 500)
    assert "secret" not in json.dumps(problem)
    assert await model_ids(orders.database) == set()


@one_database
async def test_a_child_that_keeps_dying_is_given_up(settings: Settings, orders: Orders) -> None:
    order = await orders.order("die")
    with worker(settings):
        await orders.until(order, "failed")
    problem = (await orders.record(order)).problem
    assert problem is not None
    assert "the worker stopped 2 time(s) while running this training" in problem["detail"]


@one_database
async def test_a_killed_childs_training_starts_again_at_once(settings: Settings, orders: Orders) -> None:
    order = await orders.order("compute once")
    with worker(settings.model_copy(update={"lease_seconds": 600.0})):
        kill(await orders.until_child_works())
        await orders.until(order, "succeeded")
    assert len(pids_in(orders.notes)) == 2


async def test_a_killed_supervisors_training_is_taken_over(settings: Settings, orders: Orders) -> None:
    order = await orders.order("compute once")
    with worker(settings) as first:
        child = await orders.until_child_works()
        first.kill()
        await ended(child, within=3.0)
    with worker(settings):
        await orders.until(order, "succeeded")


@one_database
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, None])
async def test_a_worker_told_to_stop_gives_its_training_back(
    settings: Settings, orders: Orders, number: signal.Signals | None
) -> None:
    order = await orders.order("compute")
    with worker(settings.model_copy(update={"lease_seconds": 600.0}), "--watch-stdin") as process:
        child = await orders.until_child_works()
        started = time.monotonic()
        if number is None:
            assert process.stdin is not None
            process.stdin.close()  # as if the parent had died
            process.stdin = None
        else:
            process.send_signal(number)
        _, errors = process.communicate(timeout=10)
    assert time.monotonic() - started < 3
    assert process.returncode == 0
    assert b"Traceback" not in errors
    assert not is_running(child)
    record = await orders.record(order)
    assert (record.status, record.started_at) == ("queued", None)


@one_database
async def test_a_child_that_needed_much_memory_is_replaced(settings: Settings, orders: Orders) -> None:
    large, small = await orders.order("need much memory"), await orders.order("finish")
    with worker(settings.model_copy(update={"lease_seconds": 600.0})):
        await orders.until(large, "succeeded")
        await orders.until(small, "succeeded")
    first, second = pids_in(orders.notes)
    assert first != second


async def test_a_worker_outlives_a_database_that_is_away(postgres_server: str, tmp_path: Path) -> None:
    """The database does not exist yet when the worker starts."""
    settings = Settings(database_url=with_database(postgres_server, "niwaki_later"), data_dir=tmp_path)
    said: list[bytes] = []
    with worker(settings) as process:
        assert process.stderr is not None
        listener = threading.Thread(target=said.extend, args=(process.stderr,))
        listener.start()

        async def is_away() -> bool:
            return any(b"database_away" in line for line in said)

        await eventually(is_away, within=30)
        assert process.poll() is None
        run_sql(postgres_server, "CREATE DATABASE niwaki_later")
        try:
            upgrade(settings)
            database = Database(settings)
            orders = Orders(database, Artifacts(tmp_path), tmp_path / "notes")
            await orders.until(await orders.order("finish"), "succeeded")
            # Every connection is cut, a moment later there is work again.
            run_sql(
                postgres_server,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'niwaki_later'",
            )
            await database.close()
            await orders.until(await orders.order("finish"), "succeeded")
            await database.close()
            process.terminate()
            process.wait(timeout=10)
            listener.join(timeout=10)
        finally:
            run_sql(postgres_server, "DROP DATABASE niwaki_later WITH (FORCE)")
    events = [json.loads(line)["event"] for line in said if line.startswith(b"{")]
    assert events.count("database_back") >= 1
    assert events.count("database_away") == events.count("database_back")


def test_the_supervisor_imports_nothing_heavy() -> None:
    program = (
        "import sys, service.__main__, service.jobs.worker\n"
        "heavy = {'numpy', 'pyarrow', 'numba', 'scipy', 'fastapi', 'uvicorn', 'alembic'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_child_is_started_before_anything_heavy_is_imported() -> None:
    program = (
        "import sys, service.__main__\n"
        "heavy = {'asyncio', 'pydantic', 'sqlalchemy', 'http.client'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_process_that_runs_jobs_imports_no_compiler_and_nothing_that_answers_requests() -> None:
    program = (
        "import sys, service.jobs.child, service.usecases.trainings.run_training\n"
        "needless = {'numba', 'scipy', 'pyarrow.compute', 'fastapi', 'starlette', 'uvicorn', 'alembic'}\n"
        "assert not needless & set(sys.modules), needless & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
