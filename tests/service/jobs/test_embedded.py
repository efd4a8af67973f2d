import os
import signal
import sys
import time
from pathlib import Path

import anyio
import pytest

from service.jobs.embedded import embedded_worker
from service.settings import Settings
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from tests.service.jobs.workers import SAMPLE_WORK, eventually, is_running, kill, one_database, pids_in, start
from tests.service.store.orders import order_training, training

pytestmark = pytest.mark.anyio

HOST = """
import asyncio, sys
from service.jobs.embedded import embedded_worker
from service.settings import Settings

async def main():
    async with embedded_worker(Settings(), arguments=sys.argv[1:]):
        print("up", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"lease_seconds": 1.5, "heartbeat_seconds": 0.3})


def processes_of(settings: Settings) -> list[int]:
    """Every process that was started with this test's data directory."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            said = (folder / "environ").read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if f"NIWAKI_DATA_DIR={settings.data_dir}".encode() in said and is_running(int(folder.name)):
            found.append(int(folder.name))
    return found


@one_database
async def test_it_trains_comes_back_when_killed_and_leaves_nobody_behind(
    settings: Settings, database: Database, artifacts: Artifacts, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"

    async def train() -> None:
        ordered = await order_training(database, artifacts, configuration={"do": "finish", "notes": str(notes)})

        async def is_done() -> bool:
            return (await training(database, ordered.training_id)).status == "succeeded"

        await eventually(is_done)

    async with embedded_worker(settings, arguments=SAMPLE_WORK):
        await train()
        for pid in processes_of(settings):
            if pid not in pids_in(notes):
                kill(pid)
        await train()
        assert len(set(pids_in(notes))) == 2
        assert processes_of(settings) != []
    assert processes_of(settings) == []


@one_database
async def test_it_ends_when_the_service_is_killed(settings: Settings, tmp_path: Path) -> None:
    host = start([sys.executable, "-c", HOST, *SAMPLE_WORK], settings)
    assert host.stdout is not None
    assert host.stdout.readline() == b"up\n"
    await anyio.sleep(1.5)
    assert len(processes_of(settings)) >= 2
    os.kill(host.pid, signal.SIGKILL)
    host.communicate()

    async def all_gone() -> bool:
        return processes_of(settings) == []

    assert await eventually(all_gone, within=5.0) < 5.0


@one_database
async def test_a_quick_end_is_a_clean_end(settings: Settings) -> None:
    started = time.monotonic()
    async with embedded_worker(settings, arguments=SAMPLE_WORK):
        pass
    assert time.monotonic() - started < 5.0
    assert processes_of(settings) == []
