"""Starting a process that runs jobs: with nothing but the standard library, so that it can be the first thing done."""

import subprocess
import sys
from collections.abc import Mapping, Sequence


def start_child(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
    """Run `python -m service.jobs` with pipes both ways, in this environment unless told.

    A session of its own keeps the terminal's Ctrl-C away from it: only its parent decides when it ends.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "service.jobs", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,
        bufsize=0,
    )
