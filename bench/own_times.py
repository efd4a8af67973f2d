"""How long Niwaki alone takes for a row: `python own_times.py <row> [--quick]`, run in the folder of a checkout.

It reads seeds, one a line. For each it measures the row once and writes a line of JSON, seconds by label. Without a row
it writes the names of all rows. It uses only what older versions of the bench have too, so it can measure those.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

sys.path[0] = str(Path.cwd())  # the checkout's packages, not those beside this file

from bench.timing import limit_threads  # noqa: E402

limit_threads()

from bench.findings import Measured, Setting  # noqa: E402
from bench.growing import Entry, TreeRow, one_round, warm_up  # noqa: E402
from bench.rows import ROWS  # noqa: E402

WITHOUT_RIVALS = {"rivals": (), "most_seconds": 1}  # rival servers, and the patience with a slow package

Times = dict[str, float]


def main() -> None:
    """Measure a row as often as a seed is read."""
    if len(sys.argv) == 1:
        print(json.dumps([row.name for row in ROWS]))
        return
    row: Any = next(row for row in ROWS if row.name == sys.argv[1])
    quick = "--quick" in sys.argv
    measure = times_of_growth(row, quick=quick) if isinstance(row, TreeRow) else times_of_run(row, quick=quick)
    for line in sys.stdin:
        print(json.dumps(measure(int(line))), flush=True)


def times_of_growth(row: TreeRow, *, quick: bool) -> Callable[[int], Times]:
    """Growing the row's tree from the table of a seed."""
    mine = Entry(row.ours, row.tables, "Niwaki")
    warm_up([mine])

    def measure(seed: int) -> Times:
        measured = {mine: Measured("Niwaki")}
        one_round([mine], measured, seed, quick=quick, threads=row.threads)
        return {"Niwaki": measured[mine].median}

    return measure


def times_of_run(row: Any, *, quick: bool) -> Callable[[int], Times]:
    """One round of a row that measures several things; only those with our name are kept, if there are any."""
    left_out = {name: WITHOUT_RIVALS[name] for name in WITHOUT_RIVALS.keys() & {field.name for field in fields(row)}}
    alone = replace(row, **left_out)

    def measure(_: int) -> Times:
        found = {each.label: each.median for each in alone.run(Setting(repeat=1, quick=quick)).measured if each.seconds}
        return {label: seconds for label, seconds in found.items() if label.startswith("Niwaki")} or found

    return measure


if __name__ == "__main__":
    main()
