"""Imports stand at the top of a module, except where a process that starts must not wait for them."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CORE = sorted((ROOT / "core").rglob("*.py"))
SERVICE = sorted((ROOT / "service").rglob("*.py"))

# A process that runs one command, or starts another one first, imports what that command needs when it is known.
SERVICE_THAT_STARTS = {
    "service/__main__.py",
    "service/jobs/child.py",
    "service/jobs/worker.py",
    "service/kernel_cache.py",
}


def inner_imports(path: Path) -> Iterator[tuple[ast.ImportFrom, str]]:
    """Imports of our own modules inside functions, with their last line."""
    source = path.read_text()
    lines = source.splitlines()
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("core.", "service.")):
                    assert node.end_lineno is not None
                    yield node, lines[node.end_lineno - 1]


@functools.cache
def imports_numba(module: str) -> bool:
    """Whether importing this module of core imports Numba, by what stands at the top of it and of what it imports."""
    path = ROOT / (module.replace(".", "/") + ".py")
    if not path.exists():
        return False
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(module=str(parent)):
                names = [parent, *(f"{parent}.{alias.name}" for alias in node.names)]
            case _:
                continue
        if any(name.split(".")[0] == "numba" or (name.startswith("core.") and imports_numba(name)) for name in names):
            return True
    return False


def test_only_numba_is_imported_late_in_core() -> None:
    problems = []
    for path in CORE:
        here = path.relative_to(ROOT)
        for node, line in inner_imports(path):
            names = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
            if not any(map(imports_numba, names)):
                problems.append(f"{here}: {line.strip()} could stand at the top")
            if imports_numba(".".join(here.with_suffix("").parts)):
                problems.append(f"{here}: {line.strip()} could stand at the top, Numba is imported there already")
            if "# imports Numba" not in line:
                problems.append(f"{here}: {line.strip()} does not say why it is inside a function")
    assert problems == []


def test_only_what_starts_imports_late_in_the_service() -> None:
    found = {str(path.relative_to(ROOT)) for path in SERVICE if any(inner_imports(path))}
    assert found == SERVICE_THAT_STARTS
