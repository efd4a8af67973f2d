"""See that the net notices a changed constant in each folder of kernels.

The changes are made in a checkout of the last commit, in a temporary folder, one after the other. Only what an order
needs is compiled: the folder of compiled code is said to be complete, so that nothing is compiled ahead of time.
"""

import subprocess
import tempfile
from pathlib import Path

from tests.checkouts import HERE, environment, python_for, worktree
from tests.net.answers import QUESTIONS
from tests.net.comparing import changes, read_table
from tests.net.mutations import MUTATIONS, Mutation
from tests.net.orders import ORDERS
from tests.net.running import run_net

# Run in the checkout: makes the folder in which its compiled code is kept, and calls that complete.
CALL_COMPLETE = """
from service.kernel_cache import COMPLETE, find_cache
from service.settings import Settings

folder = find_cache(Settings()).folder
folder.mkdir(parents=True, exist_ok=True)
(folder / COMPLETE).touch()
"""
FIRST_SHOWN = 3


def mutate(word: str) -> int:
    """Make every change, or those of folders with a word in their name; 1 if one of them goes unnoticed."""
    chosen = [mutation for mutation in MUTATIONS if word in mutation.folder]
    unknown = {str(folder) for folder in folders_of_kernels()} ^ {mutation.folder for mutation in MUTATIONS}
    if unknown:
        print(f"No change is known for these folders, or they are gone: {', '.join(sorted(unknown))}")
    unnoticed = []
    with worktree("HEAD") as checkout:
        for mutation in chosen:
            found = noticed(checkout, mutation)
            told = "; ".join(found[:FIRST_SHOWN]) if found else "NOT NOTICED"
            print(f"{mutation.folder}: {mutation.new!r}: {len(found)} differences: {told}", flush=True)
            unnoticed += [] if found else [mutation]
    print(f"{len(chosen) - len(unnoticed)} of {len(chosen)} changes noticed")
    return int(bool(unnoticed or unknown))


def folders_of_kernels() -> list[Path]:
    """The folders below `core` that hold kernels."""
    core = HERE / "core"
    files = (path for path in core.rglob("kernels/**/*.py") if path.name != "__init__.py")
    return sorted({path.parent.relative_to(core) for path in files})


def noticed(checkout: Path, mutation: Mutation) -> list[str]:
    """What the net finds once a change is made: by the orders it names, and by all others if these find nothing."""
    file = checkout / "core" / mutation.file
    source = file.read_text("utf-8")
    assert source.count(mutation.old) == 1, f"{mutation.file} does not say once: {mutation.old}"
    file.write_text(source.replace(mutation.old, mutation.new), "utf-8")
    try:
        return differences_of(checkout, mutation.orders, asks=mutation.asks) or differences_of(
            checkout, tuple(order.name for order in ORDERS), asks=True
        )
    finally:
        file.write_text(source, "utf-8")


def differences_of(checkout: Path, names: tuple[str, ...], *, asks: bool) -> list[str]:
    """What differs from the table when kernels grow some orders; a run that fails differs too."""
    orders = [order for order in ORDERS if order.name in names]
    questions = [question for question in QUESTIONS if asks and question.order in names]
    with tempfile.TemporaryDirectory(prefix="niwaki-kernels-") as folder:
        settings = environment({"kernel_dir": folder, "data_dir": folder})
        subprocess.run([python_for(checkout), "-c", CALL_COMPLETE], cwd=checkout, env=settings, check=True)
        try:
            found = run_net(checkout, kernels=Path(folder), orders=orders, questions=questions, engines=["kernels"])
        except AssertionError as error:
            return [f"the run failed: {error}"]
    return changes(found, read_table())
