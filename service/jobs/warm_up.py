"""Compiling kernels in a separate process beside a worker, so that no training waits for it."""

import asyncio
import os
import signal
from contextlib import suppress

from service.jobs.processes import start_python
from service.logs import log_event
from service.settings import Settings


class WarmUp:
    """The process that compiles kernels for a worker. It has the lowest priority, and ends with the worker."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None

    async def begin(self) -> None:
        """Compile in the background, unless that is already running or the settings exclude kernels."""
        is_running = self._process is not None and self._process.returncode is None
        if self._settings.engine != "definition" and not is_running:
            self._process = await start_python("service", ("warm-up", "--background"), self._settings)
            log_event("warm_up_started", pid=self._process.pid)

    async def end(self) -> None:
        """Kill the process, if it is running; what it has compiled so far is kept."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
