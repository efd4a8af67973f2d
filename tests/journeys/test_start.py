"""A service on a machine where nothing is compiled yet, and on one where everything is."""

import os
import sys
import time
from datetime import datetime
from pathlib import Path

from service.kernel_cache import COMPLETE, KernelCache
from service.settings import Settings
from tests.journeys.running import QUICK_LEASE, eventually, serving
from tests.service.jobs.workers import start


def settings_in(folder: Path, **more: object) -> Settings:
    return Settings(data_dir=folder / "data", port=0, engine="auto", **QUICK_LEASE, **more)


def test_nothing_waits_for_a_compiler_that_runs_in_the_background(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, kernel_dir=tmp_path / "kernels")
    with serving(settings, tmp_path / "log") as service:
        started = time.monotonic()
        dataset_id = service.noise({"auto": (600, 4)})
        trained = service.train("cold", dataset_id, "y", algorithm={"kind": "c45"})
        assert time.monotonic() - started < 15
        address = f"/v1/models/{trained['model_id']}/predict"
        assert len(service.post(address, {"columns": {"x0": [0.5] * 1000}})["predictions"]) == 1000
        (compiler,) = eventually(lambda: service.processes("warm-up"))
        assert priorities(compiler) == {19}
        assert list((tmp_path / "kernels").rglob(COMPLETE)) == []
    assert service.processes() == []
    assert "compiled_code_not_loaded" not in {event["event"] for event in service.events()}


def test_compiled_code_is_there_from_the_start(tmp_path: Path, warm_kernels: KernelCache) -> None:
    with serving(settings_in(tmp_path), tmp_path / "log") as service:
        dataset_id = service.noise({"auto": (5_000, 4)})
        training = service.train("warm", dataset_id, "y", algorithm={"kind": "cart"})
        # The definition takes half a minute; on an idle machine this takes a second.
        assert seconds(training) < 8
        assert service.processes("warm-up") == []
        (child,) = service.processes("service.jobs")
        assert priorities(child) == {os.getpriority(os.PRIO_PROCESS, service.process.pid) + 10}
    events = [event["event"] for event in service.events()]
    assert "warm_up_started" not in events
    assert "compiled_code_not_loaded" not in events


def test_a_warm_worker_computes_little_before_its_first_tree(tmp_path: Path, warm_kernels: KernelCache) -> None:
    settings = settings_in(tmp_path, embedded_worker=False)
    with serving(settings, tmp_path / "log") as service:
        training = service.order("first", service.noise({"auto": (5_000, 4)}), "y", algorithm={"kind": "cart"})
        process = start([sys.executable, "-m", "service", "worker"], settings)
        try:
            assert service.wait(training["id"])["status"] == "succeeded"
            (child,) = service.processes("service.jobs")
            # About 0.5 s and 1 s, at the same time, on an idle machine; its clock runs faster on a busy one.
            assert cpu_seconds(process.pid) < 2
            assert cpu_seconds(child) < 3
        finally:
            process.terminate()
            process.communicate(timeout=15)


def cpu_seconds(pid: int) -> float:
    """What a process has computed so far."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def priorities(pid: int) -> set[int]:
    """How far a process steps back, and its session where Linux shares processors between sessions."""
    session = Path(f"/proc/{pid}/autogroup")
    said = {int(session.read_text().split()[-1])} if session.exists() else set()
    return {os.getpriority(os.PRIO_PROCESS, pid), *said}


def seconds(training: dict[str, str]) -> float:
    """How long a training ran."""
    started, finished = (datetime.fromisoformat(training[name]) for name in ("started_at", "finished_at"))
    return (finished - started).total_seconds()
