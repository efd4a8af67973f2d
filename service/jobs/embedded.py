"""A worker process that starts and stops with the service, so that one command runs all of Niwaki."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from service.jobs.processes import start_python
from service.jobs.retries import Backoff
from service.logs import log_event
from service.settings import Settings

STOP_SECONDS = 8.0
STEADY_SECONDS = 30.0  # a worker that ran this long did not fail at start-up


@asynccontextmanager
async def embedded_worker(settings: Settings, *, arguments: Sequence[str] = ()) -> AsyncIterator[None]:
    """Run a worker process beside this one; it is restarted when it dies, and stopped at the end."""
    worker = _Embedded(settings, arguments)
    await worker.start()
    keeper = asyncio.create_task(worker.keep_alive())
    try:
        yield
    finally:
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper
        await worker.stop()


class _Embedded:
    def __init__(self, settings: Settings, arguments: Sequence[str]) -> None:
        self._settings = settings
        # Its standard input is a pipe from this process: if this process is killed, the worker notices and exits.
        self._arguments = ("worker", "--slots", str(settings.worker_slots), "--watch-stdin", *arguments)

    async def start(self) -> None:
        self._process = await start_python("service", self._arguments, self._settings)

    async def keep_alive(self) -> None:
        loop = asyncio.get_running_loop()
        backoff = Backoff(0.5, 30.0)
        while True:
            started = loop.time()
            code = await self._process.wait()
            if loop.time() - started > STEADY_SECONDS:
                backoff.worked()
            log_event("worker_died", level="error", pid=self._process.pid, exit_code=code)
            await asyncio.sleep(backoff.failed())
            await self.start()

    async def stop(self) -> None:
        if self._process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        except TimeoutError:
            log_event("worker_did_not_stop", level="error", pid=self._process.pid)
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
