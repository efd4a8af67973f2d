"""What can be done with the net:

    python -m tests.net check           compare this checkout with the table of digests
    python -m tests.net write           write the table anew
    python -m tests.net same <rev>      compare this checkout with another revision (make same BASE=<rev>)
    python -m tests.net processors      compare it with the table as other processors would run it (make processors)
    python -m tests.net mutate [word]   change a constant in each folder of kernels, and see that the net notices

`--cpu native` has kernels compiled for this processor. All take some minutes where kernels have to be compiled first.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.checkouts import HERE, NONE, git, run_service, worktree
from tests.net.comparing import (
    TABLE,
    changes,
    differences,
    disagreements,
    openapi_differences,
    read_table,
    without_texts,
    write_table,
)
from tests.net.mutating import mutate
from tests.net.processors import PROCESSORS
from tests.net.running import Found, run_net

KEPT = HERE / ".pytest_cache"


def main() -> int:
    """Run one command; 1 if it found a difference."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.net", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["check", "write", "same", "processors", "mutate"])
    parser.add_argument("argument", nargs="?", default="", metavar="revision or word")
    parser.add_argument("--cpu", choices=["baseline", "native"], default="baseline")
    asked = parser.parse_args()
    settings = {"cpu": asked.cpu}
    if asked.command == "mutate":
        return mutate(asked.argument)
    if asked.command == "same":
        return same(asked.argument, settings)
    if asked.command == "processors":
        return processors(asked.argument)
    found = warm_run(HERE, KEPT, settings)
    if asked.command == "write":
        write_table(found)
        print(f"written to {TABLE.relative_to(HERE)}")
        return 0
    return tell(changes(found, read_table()))


def same(revision: str, settings: Mapping[str, str]) -> int:
    """Compare this checkout with a revision: models, answers and the OpenAPI document."""
    with (
        worktree(git("rev-parse", "--verify", f"{revision}^{{commit}}")) as base,
        tempfile.TemporaryDirectory() as kept,
    ):
        openapi = without_texts(openapi_differences(openapi_of(base), openapi_of(HERE)))
        theirs = warm_run(base, Path(kept), settings)
    ours = warm_run(HERE, KEPT, settings)
    apart = [*disagreements(ours.models), *disagreements(ours.answers)]
    return tell([*differences(theirs, ours), *apart, *openapi])


def processors(word: str) -> int:
    """Compare this checkout with the table of digests on every processor, or on those with a word in their name."""
    n_apart = 0
    for processor in PROCESSORS:
        if word in processor.name:
            found = warm_run(HERE, KEPT, processor.settings, processor.variables)
            print(f"{processor.name}:", flush=True)
            n_apart += tell(changes(found, read_table()))
    return int(n_apart > 0)


def warm_run(checkout: Path, folder: Path, settings: Mapping[str, str], variables: Mapping[str, str] = NONE) -> Found:
    """Everything on a checkout, its kernels compiled before and kept in a folder."""
    where = {"kernel_dir": str(folder / "kernels"), "data_dir": str(folder)}
    run_service(checkout, "warm-up", settings={**settings, **where})
    return run_net(checkout, kernels=folder / "kernels", settings=settings, variables=variables)


def openapi_of(checkout: Path) -> Any:
    return json.loads(run_service(checkout, "openapi", settings={}))


def tell(found: list[str]) -> int:
    print("\n".join(found) if found else "no difference")
    if found:
        print(f"{len(found)} differences")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
