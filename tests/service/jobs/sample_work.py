"""Work whose behaviour the training's configuration chooses: `do`, and `notes`, a file it leaves its traces in."""

import os
import signal
from pathlib import Path

from core.tables.errors import Fault, InvalidConfig
from service.jobs import child
from service.jobs.child import Report
from service.store import trainings
from service.store.artifacts import Artifacts
from service.store.jobs import Job
from service.store.transactions import Database
from tests.service.store.orders import finish


async def work(
    database: Database, artifacts: Artifacts, *, training_id: str, job: Job, report: Report, engine: str, threads: int
) -> None:
    async with database.reading() as session:
        training = await trainings.get(session, training_id)
    assert training.model_id is not None
    leave_trace(Path(training.configuration["notes"]))
    report("growing", 0.5)
    print("something a library prints")
    do = training.configuration["do"]
    if do == "compute" or (do == "compute once" and job.attempt == 1):
        compute_for_ever()
    if do == "bad input":
        raise InvalidConfig(Fault("one class only", ("target",), "choose another column"))
    if do == "crash":
        raise ZeroDivisionError("secret internals")
    if do == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if do == "need much memory":
        child.MOST_MEMORY = 1  # the child's own limit, lowered instead of really using a gigabyte
    await finish(database, job, training.model_id)


def leave_trace(notes: Path) -> None:
    with notes.open("a") as file:
        file.write(f"{os.getpid()}\n")


def compute_for_ever() -> None:
    """Busy, and never back on the event loop."""
    number = 0
    while True:
        number += 1
