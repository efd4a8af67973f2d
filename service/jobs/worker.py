"""The supervisor: claims jobs and has child processes run them.

It computes nothing and imports nothing heavy, so that it starts at once and always has time for heartbeats.
"""

import asyncio
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import StoreUnavailable
from service.jobs.heartbeat import Heartbeat, Verdict
from service.jobs.processes import Child, Message
from service.jobs.retries import Backoff, Outage
from service.jobs.warm_up import WarmUp
from service.logs import log_event
from service.settings import Settings
from service.store import jobs
from service.store.ids import new_id
from service.store.jobs import Job, LeaseLost
from service.store.transactions import Database

TICK_SECONDS = 0.1  # longest wait for a child's message before a slot sees to its other duties
IDLE_SECONDS = 0.2  # between two queries for a new job
LAST_WORD_SECONDS = 1.0  # between a child's commit and its message about it
SHUTDOWN_SECONDS = 3.0  # for giving a job back; after that its lease simply runs out


def run_worker(
    settings: Settings,
    *,
    slots: int,
    first_child: "subprocess.Popen[bytes]",
    child_arguments: Sequence[str] = (),
    watch_stdin: bool = False,
) -> None:
    """Run until SIGTERM or SIGINT, or with `watch_stdin` until standard input ends: then the parent is gone.

    The first child was started before anything was imported here, so that both import at the same time.
    """
    asyncio.run(_run_until_told(settings, slots, first_child, child_arguments, watch_stdin))


async def _run_until_told(
    settings: Settings,
    slots: int,
    first_child: "subprocess.Popen[bytes]",
    child_arguments: Sequence[str],
    watch_stdin: bool,
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if watch_stdin:
        threading.Thread(target=_watch_stdin, args=(loop, stop), daemon=True).start()
    supervisor = Supervisor(settings, slots=slots, child_arguments=child_arguments, stop=stop)
    await supervisor.run(await Child.adopt(first_child))


def _watch_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    while os.read(0, 4096):
        pass
    with suppress(RuntimeError):  # the loop may have ended on its own meanwhile
        loop.call_soon_threadsafe(stop.set)


class Supervisor:
    """A number of slots, each with one child process that is ready before there is work."""

    def __init__(
        self, settings: Settings, *, slots: int, stop: asyncio.Event, child_arguments: Sequence[str] = ()
    ) -> None:
        self._settings = settings
        self._slots = slots
        self._stop = stop
        self._child_arguments = child_arguments
        self._database = Database(settings)
        self._outage = Outage()
        # One slot at a time asks for work: several idle ones would only repeat the same query.
        self._claiming = asyncio.Lock()
        self._warm_up = WarmUp(settings)
        self._has_schema = False
        self._name = f"{socket.gethostname()}:{os.getpid()}:{new_id('job')[-6:]}"

    async def run(self, first_child: Child) -> None:
        """Serve until told to stop; outages of the database are waited out."""
        log_event("worker_started", worker=self._name, slots=self._slots)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._serve_slot(first_child))
                for _ in range(self._slots - 1):
                    group.create_task(self._serve_slot())
        finally:
            await self._warm_up.end()
            await self._database.close()
        log_event("worker_stopped", worker=self._name)

    async def _wait_for_schema(self) -> None:
        # Slow to import, so imported here, while the first child does its imports too.
        from service.store.migrate import is_current

        backoff = Backoff(IDLE_SECONDS, 2.0)
        while not (self._has_schema or self._stop.is_set()):
            try:
                async with self._database.reading() as session:
                    self._has_schema = await is_current(session)
                self._outage.ends()
                if self._has_schema:
                    return
                log_event("waiting_for_migrations", worker=self._name)
            except StoreUnavailable as error:
                self._outage.begins(error)
            await self._pause(backoff.failed())

    async def _serve_slot(self, child: Child | None = None) -> None:
        """Run jobs in one child process after another, starting with `child` if it is given."""
        backoff = Backoff(1.0, 30.0)
        while not self._stop.is_set():
            child = child or await Child.start(self._settings, self._child_arguments)
            try:
                await self._wait_for_schema()
                if await self._gets_ready(child):
                    backoff.worked()
                    await self._use(child)
                elif not self._stop.is_set():
                    log_event("child_did_not_start", level="error", pid=child.pid)
                    await self._pause(backoff.failed())
            finally:
                await child.kill()
            child = None

    async def _gets_ready(self, child: Child) -> bool:
        while not self._stop.is_set():
            message = await child.next_message(TICK_SECONDS)
            if message is not None:
                if message["event"] == "ready" and not message["compiled"]:
                    await self._warm_up.begin()
                return bool(message["event"] == "ready")
        return False

    async def _use(self, child: Child) -> None:
        """Give the child one job after another, until the child or this worker has to stop."""
        while (job := await self._next_job(child)) is not None:
            log_event("job_started", job=job.id, attempt=job.attempt, pid=child.pid)
            if not await self._attend(child, job):
                return

    async def _next_job(self, child: Child) -> Job | None:
        backoff = Backoff(IDLE_SECONDS, 5.0)
        async with self._claiming:
            while child.is_alive and not self._stop.is_set():
                try:
                    job = await self._claim()
                    self._outage.ends()
                    backoff.worked()
                    if job is not None:
                        return job
                    await self._pause(IDLE_SECONDS)
                except StoreUnavailable as error:
                    self._outage.begins(error)
                    await self._pause(backoff.failed())
        return None

    async def _claim(self) -> Job | None:
        # A read asks first, so that an idle worker never holds SQLite's only write lock.
        async with self._database.reading() as session:
            if not await jobs.is_any_claimable(session):
                return None
        async with self._database.writing() as session:
            return await jobs.claim_next(
                session,
                self._name,
                lease_seconds=self._settings.lease_seconds,
                max_attempts=self._settings.max_attempts,
            )

    async def _attend(self, child: Child, job: Job) -> bool:
        """Attend a job until it ends; return whether the child can take another."""
        heartbeat = Heartbeat(self._database, self._settings, job, self._outage)
        child.send(job)
        while not self._stop.is_set():
            message = await child.next_message(TICK_SECONDS)
            if message is not None and message["event"] == "progress":
                heartbeat.stage, heartbeat.progress = message["stage"], message["progress"]
            elif message is not None:
                await self._settle(job, message)
                return not message.get("leaving", False)
            match await heartbeat.check():
                case Verdict.CANCEL:
                    await child.kill()
                    await self._write(job, "job_cancelled", lambda session: jobs.finish_cancelled(session, job))
                    return False
                case Verdict.LOST:
                    return await self._let_go(child, job)
        await self._hand_back(child, job)
        return False

    async def _let_go(self, child: Child, job: Job) -> bool:
        """Handle a lost lease; return whether the child can take another job.

        Either the child has just finished the job, or the job is no longer this worker's.
        """
        last = await child.last_message(LAST_WORD_SECONDS)
        if last is not None and last["event"] == "done":
            await self._settle(job, last)
            return not last["leaving"]
        await child.kill()
        log_event("lease_lost", level="warning", job=job.id, attempt=job.attempt)
        return False

    async def _hand_back(self, child: Child, job: Job) -> None:
        await child.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(SHUTDOWN_SECONDS):
                await self._write(job, "job_given_back", lambda session: jobs.give_back(session, job))

    async def _settle(self, job: Job, message: Message) -> None:
        """Record how a job ended, unless its child has already done so."""
        event = message["event"]
        if event == "done":
            log_event("job_succeeded", job=job.id, attempt=job.attempt)
        elif event == "failed":
            await self._write(job, "job_failed", lambda session: jobs.finish_failed(session, job, message["problem"]))
        elif event == "lost":
            await self._write(job, "job_settled", lambda session: self._settle_lost(session, job))
        elif event == "crashed":
            problem = jobs.internal_problem(
                "the training stopped because of a mistake in the service, not in the order"
            )
            await self._write(job, "job_crashed", lambda session: self._give_back_crashed(session, job, problem))
        else:
            await self._write(job, "child_died", lambda session: self._give_back_crashed(session, job, None))

    async def _settle_lost(self, session: AsyncSession, job: Job) -> None:
        """End a job that its child could not finish: cancel it if that was requested, else give it back.

        LeaseLost if the job is no longer this worker's.
        """
        if await jobs.extend_lease(session, job, self._settings.lease_seconds, stage=None, progress=0.0):
            await jobs.finish_cancelled(session, job)
        else:
            await self._give_back_crashed(session, job, None)

    async def _give_back_crashed(self, session: AsyncSession, job: Job, problem: Message | None) -> None:
        await jobs.give_back_crashed(session, job, max_attempts=self._settings.max_attempts, problem=problem)

    async def _write(self, job: Job, event: str, work: Callable[[AsyncSession], Awaitable[None]]) -> None:
        """Write an outcome; if that is not possible in time, the lease runs out and another worker takes over."""
        try:
            await self._database.write_when_back(work)
        except LeaseLost:
            event = "lease_lost"
        except StoreUnavailable as error:
            self._outage.begins(error)
            event = "outcome_not_written"
        log_event(event, job=job.id, attempt=job.attempt)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)
