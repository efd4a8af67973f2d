"""Child processes that run jobs, as their supervisor sees them.

The supervisor writes one line of JSON for each job: {"job": "job_…", "attempt": 1}. The child answers in lines:

    {"event": "ready", "compiled": true}                        it can take a job; whether all kernels are compiled
    {"event": "progress", "stage": "growing", "progress": 0.4}
    {"event": "done"}                                           the job is finished in the database
    {"event": "failed", "problem": {…}}                         the training cannot be carried out; never retried
    {"event": "crashed"}                                        a bug of the service; retried
    {"event": "lost"}                                           the attempt lost its lease, or is to be cancelled

The last four end a job; `"leaving": true` in one of them means that the process exits too.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from service.jobs.starting import start_child
from service.settings import Settings
from service.store.jobs import Job

PREFIX = "NIWAKI_"
LONGEST_LINE = 16 * 1024 * 1024

Message = dict[str, Any]
DIED: Message = {"event": "died", "leaving": True}


class Child:
    """A process of `service.jobs`, in a process group of its own."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", answers: asyncio.StreamReader, pipe: asyncio.BaseTransport
    ) -> None:
        self._process, self._answers, self._pipe = process, answers, pipe

    @classmethod
    async def start(cls, settings: Settings, arguments: Sequence[str] = ()) -> "Child":
        """Start a process; it sends "ready" once everything heavy is imported."""
        return await cls.adopt(start_child(arguments, environment(settings)))

    @classmethod
    async def adopt(cls, process: "subprocess.Popen[bytes]") -> "Child":
        """Wrap a process that `start_child` started."""
        answers = asyncio.StreamReader(limit=LONGEST_LINE)
        loop = asyncio.get_running_loop()
        pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(answers), process.stdout)
        return cls(process, answers, pipe)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, job: Job) -> None:
        """Hand a job over; if the child is gone, `next_message` says so."""
        assert self._process.stdin is not None
        with suppress(OSError):  # a line is far shorter than a pipe's buffer, so this never blocks
            self._process.stdin.write(json.dumps({"job": job.id, "attempt": job.attempt}).encode() + b"\n")

    async def next_message(self, seconds: float) -> Message | None:
        """The child's next message; DIED if the child is gone, None if there is no message in time."""
        try:
            line = await asyncio.wait_for(self._answers.readline(), seconds)
        except TimeoutError:
            return None
        if not line.endswith(b"\n"):  # the child exited, perhaps in the middle of a line
            return DIED
        message: Message = json.loads(line)
        return message

    async def last_message(self, seconds: float) -> Message | None:
        """The message that ends a job, skipping progress reports; None if it does not arrive in time."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await self.next_message(seconds)
                    if message is None or message["event"] != "progress":
                        return message
        except TimeoutError:
            return None

    async def kill(self) -> None:
        """Kill the process and all processes it started."""
        assert self._process.stdin is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.stdin.close()
        self._pipe.close()
        await asyncio.to_thread(self._process.wait)


async def start_python(module: str, arguments: Sequence[str], settings: Settings) -> asyncio.subprocess.Process:
    """Run `python -m module` with these settings and a pipe to its standard input.

    It has its own session, so the terminal's Ctrl-C does not reach it: only its parent decides when it ends.
    """
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        env=environment(settings),
        start_new_session=True,
    )


def environment(settings: Settings) -> dict[str, str]:
    """This process's environment, with the variables of these settings."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    said = settings.model_dump(mode="json", exclude_none=True)
    return others | {PREFIX + name.upper(): str(value) for name, value in said.items()}
