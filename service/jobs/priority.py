"""Lowering the priority of background work, so that it yields to processes that answer requests."""

import os
from contextlib import suppress
from pathlib import Path

# Linux may divide processor time between sessions first, and compare priorities only within a session.
OWN_SESSION = Path("/proc/self/autogroup")


def step_back(nice: int) -> None:
    """Lower the priority of this process and of its session, which it leads."""
    priority = os.nice(nice)
    with suppress(OSError):  # only Linux has this file, and not every Linux
        OWN_SESSION.write_text(str(priority))
