"""`python -m bench.forest_memory classes|regression THREADS`: what growth takes besides a forest, as JSON."""

import argparse
import json

from bench.forests import OurForest
from bench.kinds import NUMERIC_100K, REGRESSION_100K
from bench.memory import forget_peak, status_bytes
from core.ensembles.forest import Forest

TABLES = {"classes": NUMERIC_100K, "regression": REGRESSION_100K}


def main() -> None:
    """Grow one forest; print its bytes, and the peak above the input and the forest in bytes for each cell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", choices=TABLES)
    parser.add_argument("threads", type=int)
    parser.add_argument("--quick", action=argparse.BooleanOptionalAction)
    arguments = parser.parse_args()
    ours, tables = OurForest(threads=arguments.threads), TABLES[arguments.tables]
    ours.fit(ours.prepare(tables.division(0, quick=True).train))  # compiles
    train = tables.division(1, quick=arguments.quick).train
    n_cells, rows = train.n_cells, ours.prepare(train)
    del train
    forget_peak()
    before = status_bytes("VmRSS")
    forest = ours.fit(rows)
    above = status_bytes("VmHWM") - before
    own = bytes_of(forest)
    print(json.dumps({"bytes_a_cell": (above - own) / n_cells, "forest_bytes": own}))


def bytes_of(forest: Forest) -> int:
    """The memory that a forest itself takes: that of its arrays."""
    arrays = (forest.start, forest.member, forest.n_codes, forest.branch_of, *forest.columns.values())
    return sum(each.nbytes for each in arrays)


if __name__ == "__main__":
    main()
