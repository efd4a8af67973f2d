"""`python -m bench.faster <revision> [row …] [--quick] [--repeat N]`: this checkout beside another one, in turn.

Each row has a process in either checkout. They measure one after the other, round by round, on the same tables; who
begins changes from round to round. A ratio above 1 means that this checkout is faster. The spread is half the distance
between the smallest and the largest ratio of a round.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from bench.report import seconds_text
from tests.checkouts import HERE, git, worktree

PYTHON = "bench/.venv/bin/python"
ENVIRONMENTS = {  # folder: what it is made from
    ".venv": "requirements.txt",
    "bench/.venv": "bench/requirements.txt",
    "bench/.venv-mlserver": "bench/requirements-mlserver.txt",
}

Times = dict[str, float]


def main() -> int:
    """Measure the rows that were asked for, all unless named; 1 if one could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.faster", description="This checkout beside another.")
    parser.add_argument("base", help="the revision to compare with")
    parser.add_argument("rows", nargs="*", help="rows to measure, by their beginning; all unless named")
    parser.add_argument("--quick", action="store_true", help="small tables: to see that it works, not how fast")
    parser.add_argument("--repeat", type=int, default=5, help="rounds (5)")
    asked = parser.parse_args()
    names = [name for name in row_names() if not asked.rows or name.startswith(tuple(asked.rows))]
    if not names:
        parser.error(f"no row begins with {' or '.join(asked.rows)}")
    failed = []
    with (
        worktree(git("rev-parse", "--verify", f"{asked.base}^{{commit}}")) as base,
        tempfile.TemporaryDirectory() as kept,
    ):
        provide_environments(base)
        for name in names:
            try:
                rounds = measured(name, (base, HERE), Path(kept), n_rounds=asked.repeat, quick=asked.quick)
            except ChildProcessError as error:
                failed.append(name)
                print(f"{name}: {error}", flush=True)
                continue
            for line in report(rounds):
                print(f"{name:28} {line}", flush=True)
    return int(bool(failed))


def row_names() -> list[str]:
    """The rows of this checkout's bench."""
    said = subprocess.run([PYTHON, "bench/own_times.py"], cwd=HERE, check=True, stdout=subprocess.PIPE)
    names: list[str] = json.loads(said.stdout)
    return names


def provide_environments(checkout: Path) -> None:
    """Lend a checkout our environments, where it wants the same packages; the others it makes itself."""
    for folder, made_from in ENVIRONMENTS.items():
        if (checkout / made_from).read_bytes() == (HERE / made_from).read_bytes():
            (checkout / folder).symlink_to(HERE / folder)
        else:
            done = ".runtime" if folder == ".venv" else ".installed"
            subprocess.run(["make", f"{folder}/{done}"], cwd=checkout, check=True)


def measured(
    name: str, checkouts: tuple[Path, Path], kept: Path, *, n_rounds: int, quick: bool
) -> list[tuple[Times, Times]]:
    """The times of both checkouts, round by round."""
    rounds = []
    with ExitStack() as stack:
        processes = [
            stack.enter_context(measuring(name, checkout, kept / str(number), quick=quick))
            for number, checkout in enumerate(checkouts)
        ]
        for seed in range(n_rounds):
            order = (0, 1) if seed % 2 == 0 else (1, 0)
            times = {number: answer(processes[number], seed) for number in order}
            rounds.append((times[0], times[1]))
    return rounds


@contextmanager
def measuring(name: str, checkout: Path, kernels: Path, *, quick: bool) -> Iterator[subprocess.Popen[str]]:
    """A process that measures a row in a checkout, as often as it is told to; its kernels are kept in a folder."""
    script = str(HERE / "bench" / "own_times.py")
    command = [str(checkout / PYTHON), script, name, *(["--quick"] if quick else [])]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels)}
    with subprocess.Popen(
        command, cwd=checkout, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()


def answer(process: subprocess.Popen[str], seed: int) -> Times:
    """What a process measures on the table of a seed; ChildProcessError where it ends instead."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(f"{seed}\n")
        process.stdin.flush()
    except BrokenPipeError:
        pass
    line = process.stdout.readline()
    if not line:
        raise ChildProcessError("the process that measures it has ended; see above")
    times: Times = json.loads(line)
    return times


def report(rounds: list[tuple[Times, Times]]) -> Iterator[str]:
    """A line for everything that both measured: medians, and the ratio with its spread."""
    labels = [label for label in rounds[0][1] if label in rounds[0][0]]
    if not labels:
        yield "nothing that takes time is measured"
    for label in labels:
        base, here = [times[0][label] for times in rounds], [times[1][label] for times in rounds]
        ratios = [before / after for before, after in zip(base, here, strict=True)]
        spread = (max(ratios) - min(ratios)) / 2
        seconds = f"{seconds_text(median(base)):>9} -> {seconds_text(median(here)):>9}"
        yield f"{median(ratios):6.3f} ± {spread:5.3f}   {seconds}   {label}"


if __name__ == "__main__":
    sys.exit(main())
