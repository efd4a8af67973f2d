"""`python -m bench.memory complete|missing`: how much memory growth takes above its input, as JSON."""

import argparse
import ctypes
import gc
import json
import re
from pathlib import Path

from bench.kinds import NUMERIC_1M, missing
from bench.ours import Ours

TABLES = {"complete": NUMERIC_1M, "missing": missing(NUMERIC_1M, 0.15)}
OURS = Ours(depth=12)


def main() -> None:
    """Grow one tree and print the peak in bytes for each cell of its table, or why there is none."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", choices=TABLES)
    parser.add_argument("--quick", action=argparse.BooleanOptionalAction)
    arguments = parser.parse_args()
    tables = TABLES[arguments.tables]
    small = OURS.prepare(tables.division(0, quick=True).train)
    if problem := OURS.why_not(small):
        print(json.dumps({"problem": problem}))
        return
    OURS.fit(small)  # compiles
    train = tables.division(1, quick=arguments.quick).train
    n_cells, rows = train.n_cells, OURS.prepare(train)
    del train, small
    forget_peak()
    before = status_bytes("VmRSS")
    OURS.fit(rows)
    print(json.dumps({"bytes_a_cell": (status_bytes("VmHWM") - before) / n_cells}))


def forget_peak() -> None:
    """Give freed memory back to the system, and start to look for the peak anew."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def status_bytes(field: str) -> int:
    """A figure from this process's status."""
    found = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return 1024 * int(found.group(1))


if __name__ == "__main__":
    main()
