"""The process that runs jobs, one at a time.

It lives only as long as its supervisor: when its standard input ends, or its messages can no longer be written, it
exits, even in the middle of a computation.
"""

import argparse
import asyncio
import importlib
import json
import os
import queue
import resource
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from itertools import chain
from typing import Any, Protocol

from pydantic import ValidationError

from service.importing import importing
from service.jobs.faults import problem_of
from service.jobs.priority import step_back
from service.jobs.processes import Message
from service.kernel_cache import KernelCache, find_cache
from service.logs import configure_logs, log_event
from service.settings import Settings
from service.store import trainings
from service.store.artifacts import Artifacts
from service.store.jobs import Job, LeaseLost
from service.store.transactions import Database

TRAINING = "service.usecases.trainings.run_training:run_training"
MOST_MEMORY = 1024**3  # bytes; a process whose peak was higher exits after its job, which frees its memory
REPORT_SECONDS = 0.1  # between two reports from the same stage
FIRST_ORDER_SECONDS = 0.5  # a training that is already queued arrives by then, and loads only the code it needs

Report = Callable[[str, float], None]
Send = Callable[[Message], None]
Order = dict[str, Any]


class Work(Protocol):
    """A function that runs a job: it publishes the result and finishes the job in one transaction, or raises."""

    def __call__(
        self,
        database: Database,
        artifacts: Artifacts,
        *,
        training_id: str,
        job: Job,
        report: Report,
        engine: str,
        threads: int,
    ) -> Awaitable[Any]: ...


def run_jobs() -> None:
    """Import what every job needs, report `ready`, then run jobs as they arrive."""
    parser = argparse.ArgumentParser(prog="service.jobs", description="Runs the trainings a worker hands over.")
    parser.add_argument("--work", default=TRAINING, metavar="MODULE:FUNCTION", help="the function that runs a job")
    arguments = parser.parse_args()
    send = _sender()
    orders = _orders()
    try:
        settings = Settings()
    except ValidationError:
        return  # the supervisor has the same settings, and reports what is wrong with them
    step_back(settings.worker_nice)
    configure_logs(settings.log_level)
    cache = find_cache(settings)
    cache.use()
    uses_kernels = cache.is_complete and settings.engine != "definition"
    with importing():
        work = _load(arguments.work)
        if uses_kernels:
            _import_kernels()
    send({"event": "ready", "compiled": cache.is_complete})
    first = _order_within(FIRST_ORDER_SECONDS, orders)
    if first is None and uses_kernels:
        _load_kernels()
    for order in chain(() if first is None else (first,), iter(orders.get, None)):
        outcome = asyncio.run(carry_out(work, settings, Job(order["job"], order["attempt"]), send, cache))
        is_leaving = _peak_memory() > MOST_MEMORY
        send({**outcome, "leaving": is_leaving})
        if is_leaving:
            return


async def carry_out(work: Work, settings: Settings, job: Job, send: Send, cache: KernelCache) -> Message:
    """Run one job and return the message that says how it ended."""
    engine = "auto_cold" if settings.engine == "auto" and not cache.is_complete else settings.engine
    database = Database(settings)
    try:
        async with database.reading() as session:
            training_id = await trainings.id_of_job(session, job.id)
        artifacts = Artifacts(settings.data_dir)
        await work(
            database,
            artifacts,
            training_id=training_id,
            job=job,
            report=_reporter(send),
            engine=engine,
            threads=settings.threads,
        )
    except LeaseLost:
        return {"event": "lost"}
    except Exception as error:
        problem = problem_of(error)
        if problem is not None:
            return {"event": "failed", "problem": problem}
        log_event("training_crashed", level="error", error=error, job=job.id, attempt=job.attempt)
        return {"event": "crashed"}
    finally:
        await database.close()
    return {"event": "done"}


def _order_within(seconds: float, orders: "queue.SimpleQueue[Order]") -> Order | None:
    """The next order, or None if none arrives in time."""
    try:
        return orders.get(timeout=seconds)
    except queue.Empty:
        return None


def _import_kernels() -> None:
    """Import the modules of the kernels that growing calls, without loading their compiled code yet."""
    import core.growth.kernels.lists.grow_fast
    import core.prediction.kernels.routing  # noqa: F401


def _load_kernels() -> None:
    """Load the usual compiled code before there is a training."""
    from core.warm_up.every_kernel import run_usual_kernels

    run_usual_kernels()


def _reporter(send: Send) -> Report:
    """A function that reports progress to the supervisor, within a stage at most once per REPORT_SECONDS."""
    last_stage, next_time = "", 0.0

    def report(stage: str, progress: float) -> None:
        nonlocal last_stage, next_time
        now = time.monotonic()
        if stage != last_stage or now >= next_time:
            last_stage, next_time = stage, now + REPORT_SECONDS
            send({"event": "progress", "stage": str(stage), "progress": float(progress)})

    return report


def _sender() -> Send:
    """A function that sends messages on standard output; everything else that is printed goes to standard error."""
    descriptor = os.dup(1)
    os.dup2(2, 1)
    lock = threading.Lock()

    def send(message: Message) -> None:
        line = json.dumps(message, ensure_ascii=False).encode() + b"\n"
        with lock:
            try:
                while line:
                    line = line[os.write(descriptor, line) :]
            except BrokenPipeError:
                _end_without_supervisor()

    return send


def _orders() -> "queue.SimpleQueue[Order]":
    """A queue of incoming orders, read by a thread that ends the process when the supervisor is gone."""
    orders: queue.SimpleQueue[Order] = queue.SimpleQueue()

    def read() -> None:
        rest = b""
        while data := os.read(0, 65536):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                orders.put(json.loads(line))
        _end_without_supervisor()

    threading.Thread(target=read, daemon=True).start()
    return orders


def _end_without_supervisor() -> None:
    """Exit at once and silently; another worker takes the job over when its lease has run out."""
    os._exit(0)


def _load(path: str) -> Work:
    module, _, function = path.partition(":")
    work: Work = getattr(importlib.import_module(module), function)
    return work


def _peak_memory() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
