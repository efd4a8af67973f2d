"""Work that steps back for whoever answers requests."""

import os
from contextlib import suppress
from pathlib import Path

# Linux may share the processors between sessions first, and look at priorities only within one.
OWN_SESSION = Path("/proc/self/autogroup")


def step_back(nice: int) -> None:
    """Lower the priority of this process, and of its session, which it leads."""
    priority = os.nice(nice)
    with suppress(OSError):  # only Linux has it, and not every one
        OWN_SESSION.write_text(str(priority))
