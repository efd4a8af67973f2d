"""Child processes that run jobs, as their supervisor sees them.

The supervisor writes one line of JSON for each job: {"job": "job_…", "attempt": 1}. The child answers in lines:

    {"event": "ready", "compiled": true}                        it can take a job; is all code for it compiled?
    {"event": "progress", "stage": "growing", "progress": 0.4}
    {"event": "done"}                                           the job is finished in the database
    {"event": "failed", "problem": {…}}                         the order cannot be carried out; never tried again
    {"event": "crashed"}                                        a mistake of ours; tried again
    {"event": "lost"}                                           the job was no longer this attempt's to finish

The last four end a job; `"leaving": true` in one of them says that the process ends too.
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
        """Start a process; it says "ready" once everything heavy is imported."""
        return await cls.adopt(start_child(arguments, environment(settings)))

    @classmethod
    async def adopt(cls, process: "subprocess.Popen[bytes]") -> "Child":
        """Look after a process that `start_child` started."""
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
        """Hand a job over; a child that is gone says so by `next_message`."""
        assert self._process.stdin is not None
        with suppress(OSError):  # a line is far shorter than what a pipe holds, so this never waits
            self._process.stdin.write(json.dumps({"job": job.id, "attempt": job.attempt}).encode() + b"\n")

    async def next_message(self, seconds: float) -> Message | None:
        """What the child says next, DIED when it is gone, None when it says nothing for so long."""
        try:
            line = await asyncio.wait_for(self._answers.readline(), seconds)
        except TimeoutError:
            return None
        if not line.endswith(b"\n"):  # it ended, perhaps in the middle of a line
            return DIED
        message: Message = json.loads(line)
        return message

    async def last_message(self, seconds: float) -> Message | None:
        """The message that ends a job, if it comes in time; reports of progress are passed over."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await self.next_message(seconds)
                    if message is None or message["event"] != "progress":
                        return message
        except TimeoutError:
            return None

    async def kill(self) -> None:
        """End the process and all it started, whatever they are doing."""
        assert self._process.stdin is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.stdin.close()
        self._pipe.close()
        await asyncio.to_thread(self._process.wait)


async def start_python(module: str, arguments: Sequence[str], settings: Settings) -> asyncio.subprocess.Process:
    """Run `python -m module` with these settings and a pipe to its standard input.

    A session of its own keeps the terminal's Ctrl-C away from it: only its parent decides when it ends.
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
    """This process's environment, with the variables that say these settings."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    said = settings.model_dump(mode="json", exclude_none=True)
    return others | {PREFIX + name.upper(): str(value) for name, value in said.items()}
