"""Which files of core hold code or constants that the compiler reads, found by following the compiled code itself.

It starts from every kernel in every module, wherever that stands, and follows what each function names: other
functions, constants through all imports to where they are written, and attributes of modules.
"""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import core

ROOT = Path(core.__file__).parent


def all_modules() -> list[ModuleType]:
    """Every module of core."""
    return [importlib.import_module(name) for _, name, _ in pkgutil.walk_packages(core.__path__, "core.")]


def compiled_files() -> set[str]:
    """The files, named as below core."""
    waiting = [function for module in all_modules() for value in vars(module).values() for function in code_of(value)]
    seen, files = set[int](), set[str]()
    while waiting:
        function = waiting.pop()
        if id(function) not in seen:
            seen.add(id(function))
            files.add(function.__code__.co_filename)
            files |= {file for name in names_in(function.__code__) for file in files_of_name(function.__module__, name)}
            waiting.extend(followed(function))
    return {Path(file).relative_to(ROOT).as_posix() for file in files if Path(file).is_relative_to(ROOT)}


def code_of(value: Any) -> list[FunctionType]:
    """The functions that a kernel or a formula of the compiler's is made of; none for other values."""
    from numba.core.dispatcher import Dispatcher
    from numba.extending import _Intrinsic

    if isinstance(value, Dispatcher):
        return [value.py_func]
    return [value._defn] if isinstance(value, _Intrinsic) else []


def followed(function: FunctionType) -> Iterator[FunctionType]:
    """The functions that one names or has enclosed."""
    named = [function.__globals__.get(name) for name in names_in(function.__code__)]
    modules = [value for value in named if isinstance(value, ModuleType) and value.__name__.startswith("core.")]
    attributes = [vars(module).get(name) for module in modules for name in names_in(function.__code__)]
    enclosed = [cell.cell_contents for cell in function.__closure__ or ()]
    for value in chain(named, attributes, enclosed):
        if isinstance(value, FunctionType):
            yield value
        yield from code_of(value)


def names_in(code: CodeType) -> set[str]:
    """What a function and those inside it name."""
    inner = (names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


@cache
def files_of_name(module_name: str, name: str) -> frozenset[str]:
    """Where the value of a module's name is written: its own file, and those that it comes through and from."""
    waiting, seen, found = [(module_name, name)], set[tuple[str, str]](), set[str]()
    while waiting:
        here, name = waiting.pop()
        if (here, name) in seen or not here.startswith("core."):
            continue
        seen.add((here, name))
        for statement in bindings(here).get(name, ()):
            found.add(file_of(here))
            waiting.extend(origins(here, name, statement))
    return frozenset(found)


def origins(module_name: str, name: str, statement: ast.stmt) -> set[tuple[str, str]]:
    """The names of modules that a statement makes a name of; a name of "" is the whole module."""
    if isinstance(statement, ast.ImportFrom):
        origin = imported_module(module_name, statement)
        there = {(origin, alias.name) for alias in statement.names if (alias.asname or alias.name) == name}
        return there | {(f"{origin}.{each}", "") for origin, each in there}
    if isinstance(statement, ast.Import):
        return {(alias.name, "") for alias in statement.names}
    if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
        return {(module_name, node.id) for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
    return set()


def imported_module(importer: str, statement: ast.ImportFrom) -> str:
    """The full name of the module that is imported from."""
    if statement.level == 0:
        return statement.module or ""
    package = importer.split(".")[: -statement.level]
    return ".".join([*package, *([statement.module] if statement.module else [])])


@cache
def bindings(module_name: str) -> dict[str, list[ast.stmt]]:
    """The statements of a module that give each of its names a value."""
    found = dict[str, list[ast.stmt]]()
    if not is_module(module_name):
        return found
    for statement in ast.parse(Path(file_of(module_name)).read_text()).body:
        for name in {"", *bound_names(statement)}:  # the name "" is the whole module
            found.setdefault(name, []).append(statement)
    return found


def bound_names(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.split(".")[0] for alias in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def is_module(name: str) -> bool:
    with suppress(ModuleNotFoundError):
        return find_spec(name) is not None
    return False


def file_of(module_name: str) -> str:
    return inspect.getfile(importlib.import_module(module_name))


def imports_of(file: Path) -> set[str]:
    """The files of core that a file imports from while it is loaded, as Python reads it."""
    importer, found = "core." + file.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."), set[str]()
    for statement in ast.parse(file.read_text()).body:
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            origin = imported_module(importer, statement)
            found |= {origin, *(f"{origin}.{alias.name}" for alias in statement.names)}
    paths = (name.removeprefix("core.").replace(".", "/") + ".py" for name in found if name.startswith("core."))
    return {path for path in paths if (ROOT / path).exists()}


def with_another_constant(source: str) -> str:
    """The source with its first number one higher; with one more constant where it has no number."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            lines = source.splitlines(keepends=True)
            line = lines[node.lineno - 1].encode()
            changed = line[: node.col_offset] + repr(node.value + 1).encode() + line[node.end_col_offset :]
            return "".join([*lines[: node.lineno - 1], changed.decode(), *lines[node.lineno :]])
    return source + "\nANOTHER_CONSTANT = 1\n"
