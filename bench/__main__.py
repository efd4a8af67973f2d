"""`python -m bench [row …] [--quick] [--repeat N]`; see docs/benchmarks.md."""

import argparse
import sys
import traceback

from bench.timing import limit_threads

limit_threads()

from bench.findings import Result, Setting  # noqa: E402
from bench.growing import NotMeasured  # noqa: E402
from bench.report import as_text, summary, write_json  # noqa: E402
from bench.rows import ROWS, Row  # noqa: E402


def main() -> int:
    """Measure the rows that were asked for, all unless named; 1 when one of them failed."""
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(prog="python -m bench", description="How fast trees are grown and asked.")
    parser.add_argument("rows", nargs="*", help="rows to measure, by their beginning: " + ", ".join(names))
    parser.add_argument("--quick", action="store_true", help="small tables: to see that it works, not how fast")
    parser.add_argument("--repeat", type=int, default=5, help="on how many tables (5)")
    arguments = parser.parse_args()
    setting = Setting(repeat=arguments.repeat, quick=arguments.quick)
    if setting.quick:
        print("Small tables: this shows that all rows work; the figures say nothing about floors and goals.\n")
    results = []
    for row in ROWS:
        if not arguments.rows or row.name.startswith(tuple(arguments.rows)):
            results.append(result_of(row, setting))
            print(as_text(results[-1]), flush=True)
    if not results:
        parser.error(f"no row begins with {' or '.join(arguments.rows)}")
    print(f"\n{summary(results)}\nwritten to {write_json(results, setting)}")
    return int(any(result.is_error for result in results))


def result_of(row: Row, setting: Setting) -> Result:
    """The row as measured; what goes wrong is told in its place, so that the others are measured all the same."""
    try:
        return row.run(setting)
    except NotMeasured as reason:
        return Result(row.name, row.title, problem=str(reason))
    except Exception as error:
        traceback.print_exc()
        return Result(row.name, row.title, problem=repr(error), is_error=True)


if __name__ == "__main__":
    sys.exit(main())
