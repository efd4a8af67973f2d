"""Starting a process that runs jobs, with the standard library only, so that it can be done before other imports."""

import subprocess
import sys
from collections.abc import Mapping, Sequence


def start_child(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
    """Run `python -m service.jobs` with pipes for input and output; `environment` None means this process's own.

    It has its own session, so the terminal's Ctrl-C does not reach it: only its parent decides when it ends.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "service.jobs", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,
        bufsize=0,
    )
