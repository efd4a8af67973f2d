"""Columns from raw values: what kind a column is, and its cells as numbers or codes.

A column is what its sender declares it to be. Otherwise a column of numbers is numeric and any other is categorical,
with its categories in order of appearance. A column without a known cell is categorical and has no categories.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np

from core.arithmetic.arrays import CodeArray, FloatArray
from core.tables.errors import Fault
from core.tables.schema import Attribute, Kind
from core.tables.suggestion import did_you_mean, quoted
from core.tables.table import MISSING_CODE, Column

MOST_FAULTS = 100
LONGEST_NAME = 500
MOST_COLUMNS = 100_000
UNDECLARED_CODE = -2

GROUPS: dict[type, str] = {bool: "truth values", int: "numbers", float: "numbers", str: "text"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """The sender's declaration of a column; without `categories` they are those in the data."""

    kind: Kind
    categories: tuple[str, ...] | None = None

    @property
    def categories_key(self) -> str:
        """The key under which the categories were declared."""
        return "order" if self.kind is Kind.ORDINAL else "categories"


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column as it was understood; each fault's path is the row. If there are faults, the cells are meaningless."""

    kind: Kind
    categories: tuple[str, ...]
    cells: Column
    faults: tuple[Fault, ...] = ()

    def named(self, name: str) -> Attribute:
        """The column's part of a schema."""
        return Attribute(name, self.kind, self.categories)


def category_text(value: str | float | bool) -> str:
    """A value as the text of a category: `true`, `false`, whole numbers without a point, others in the shortest form.

    Equal numbers have equal texts: 3 and 3.0 are both "3".
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if value == int(value) else repr(value)


def name_faults(names: Sequence[str]) -> list[Fault]:
    """What is wrong with names of columns; each fault's path is the column's number."""
    if len(names) > MOST_COLUMNS:
        return [Fault(f"there are {len(names)} columns, but a table has at most {MOST_COLUMNS}", (MOST_COLUMNS,))]
    first: dict[str, int] = {}
    faults = []
    for column, name in enumerate(names):
        reason = _name_reason(name)
        if reason is None and first.setdefault(name, column) != column:
            reason = f"the column name {quoted(name)} stands more than once: columns {first[name] + 1} and {column + 1}"
        if reason is not None:
            hint = "columns are separated by commas, not by tabs" if "\t" in name else None
            faults.append(Fault(reason, (column,), hint))
    return faults[:MOST_FAULTS]


def has_control_characters(text: str) -> bool:
    """Whether a text has control characters: NUL, line ends, tabs and the like."""
    return any(character < " " or "\x7f" <= character <= "\x9f" for character in text)


def _name_reason(name: str) -> str | None:
    if not name:
        return "a column has no name"
    if len(name) > LONGEST_NAME:
        return f"the column name {quoted(name)} is longer than {LONGEST_NAME} characters"
    if has_control_characters(name):
        return f"the column name {name[:LONGEST_NAME]!a} holds a control character"
    return None


def declaration_faults(
    declared: Mapping[str, Declaration], names: Sequence[str], tokens: Collection[str]
) -> list[Fault]:
    """Declared columns that are not there, and declared categories that cannot be; paths start at `schema`."""
    there = set(names)
    absent = (
        Fault("the table has no such column", ("schema", name), did_you_mean(name, names))
        for name in declared
        if name not in there
    )
    impossible = (
        fault.below("schema", name)
        for name, declaration in declared.items()
        for fault in _category_faults(declaration, tokens)
    )
    return list(islice(chain(absent, impossible), MOST_FAULTS))


def _category_faults(declaration: Declaration, tokens: Collection[str]) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, category in enumerate(declaration.categories or ()):
        path = (declaration.categories_key, index)
        if category in seen:
            yield Fault(f"{quoted(category)} stands more than once", path)
        elif category in tokens:
            hint = "leave it out here, or set missing_tokens without it"
            yield Fault(f"{quoted(category)} is also a missing token", path, hint)
        seen.add(category)


class Codes(dict[str | None, int]):
    """The code of each category: of the declared ones, or of those that appear, in order; tokens are missing."""

    def __init__(self, declared: Sequence[str] | None, tokens: Collection[str]) -> None:
        super().__init__(dict.fromkeys((None, *tokens), MISSING_CODE))
        self.is_open = declared is None
        self.categories: list[str] = []
        for category in declared or ():
            self._add(category)

    def __missing__(self, text: str) -> int:
        return self._add(text) if self.is_open else UNDECLARED_CODE

    def _add(self, category: str) -> int:
        code = self[category] = len(self.categories)
        self.categories.append(category)
        return code

    def encode(self, cells: Sequence[str | None]) -> CodeArray:
        """The codes of some cells; UNDECLARED_CODE where a cell is none of the declared categories."""
        return np.fromiter(map(self.__getitem__, cells), np.int32, len(cells))

    def undeclared(self, cells: Sequence[str | None], codes: CodeArray, first_row: int = 0) -> Iterator[Fault]:
        """A fault for each cell that is none of the declared categories."""
        for row in np.flatnonzero(codes == UNDECLARED_CODE)[:MOST_FAULTS]:
            text = str(cells[row])
            hint = did_you_mean(text, self.categories)
            yield Fault(f"{quoted(text)} is not one of the declared categories", (first_row + int(row),), hint)


def column_of_values(values: Sequence[Any], declaration: Declaration | None, tokens: Collection[str]) -> ReadColumn:
    """A column of JSON values, where None is missing, and so is what reads like a token."""
    nested = tuple(_nested(values))
    if nested:
        return ReadColumn(Kind.CATEGORICAL, (), np.empty(0), nested)
    if tokens:
        values = [None if value is not None and category_text(value) in tokens else value for value in values]
    if declaration is not None:
        return _numbers(values) if declaration.kind is Kind.NUMERIC else _categories(values, declaration)
    groups = {GROUPS[kind] for kind in set(map(type, values)) if kind in GROUPS}
    if len(groups) > 1:
        return ReadColumn(Kind.CATEGORICAL, (), np.empty(0), (_mixture(values),))
    return _numbers(values) if groups == {"numbers"} else _categories(values, Declaration(Kind.CATEGORICAL))


def _nested(values: Sequence[Any]) -> Iterator[Fault]:
    if set(map(type, values)) <= {*GROUPS, type(None)}:
        return
    wrong = (row for row, value in enumerate(values) if type(value) not in GROUPS and value is not None)
    for row in islice(wrong, MOST_FAULTS):
        yield Fault("a cell must be text, a number, true, false or null, not a list or an object", (row,))


def _mixture(values: Sequence[Any]) -> Fault:
    """The first value that is not like those before it."""
    groups = [GROUPS.get(type(value)) for value in values]
    first = next(group for group in groups if group is not None)
    row = next(row for row, group in enumerate(groups) if group not in (None, first))
    hint = 'declare its kind in "schema": categorical reads every value as text'
    return Fault(f"{groups[row]} in a column that begins with {first}", (row,), hint)


def _numbers(values: Sequence[Any]) -> ReadColumn:
    wrong = [row for row, value in enumerate(values) if isinstance(value, str | bool)]
    if wrong:
        faults = (Fault(f"must be a number, not {quoted(category_text(values[row]))}", (row,)) for row in wrong)
        return ReadColumn(Kind.NUMERIC, (), np.empty(0), tuple(islice(faults, MOST_FAULTS)))
    try:
        cells: FloatArray = np.array(values, dtype=np.float64)  # None becomes NaN
    except OverflowError:
        too_large = (row for row, value in enumerate(values) if isinstance(value, int) and not _fits(value))
        faults = (Fault("a number must be within float64", (row,)) for row in too_large)
        return ReadColumn(Kind.NUMERIC, (), np.empty(0), tuple(islice(faults, MOST_FAULTS)))
    return ReadColumn(Kind.NUMERIC, (), cells)


def _fits(number: int) -> bool:
    try:
        float(number)
    except OverflowError:
        return False
    return True


def _categories(values: Sequence[Any], declaration: Declaration) -> ReadColumn:
    codes = Codes(declaration.categories, ())
    texts = [None if value is None else category_text(value) for value in values]
    cells = codes.encode(texts)
    faults = tuple(codes.undeclared(texts, cells))
    return ReadColumn(declaration.kind, tuple(codes.categories), cells, faults)


def decimal_number(text: str) -> float | None:
    """The number that a text denotes in decimal notation, blanks around it allowed; None unless it is finite."""
    numbers = decimal_numbers([text], ())
    return None if numbers is None else float(numbers[0])


def decimal_numbers(texts: Sequence[str], tokens: Collection[str]) -> FloatArray | None:
    """All texts as numbers, NaN where one is a token; None when any other is not a finite decimal number."""
    together = "".join(texts)
    # Python also reads 1_000 and the digits of every script; a table of numbers has neither.
    if "_" in together or not together.isascii():
        texts_known = [text for text in texts if text not in tokens]
        if any("_" in text or not text.isascii() for text in texts_known):
            return None
    try:
        numbers = np.array([np.nan if text in tokens else float(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None
    n_missing = sum(text in tokens for text in texts)
    # Neither "nan" nor 1e999 is a finite number.
    is_plain = np.count_nonzero(np.isnan(numbers)) == n_missing and not np.isinf(numbers).any()
    return numbers if is_plain else None


class TextColumn:
    """A column of text cells that come in blocks of rows, as from a file.

    Numbers are kept as numbers only, to keep a large file small in memory. So when text turns up in a column that
    began with numbers, `must_be_reread` says that the column is categorical and its cells must be read again.
    """

    def __init__(self, declaration: Declaration | None, tokens: Collection[str]) -> None:
        self._declaration = declaration
        self._tokens = tokens
        self._codes = Codes(declaration.categories if declaration else None, tokens)
        self._reads_numbers = declaration is None or declaration.kind is Kind.NUMERIC
        self._blocks: list[Column] = []
        self._n_rows = 0
        self._faults: list[Fault] = []
        self._has_numbers = False
        self.must_be_reread = False

    def add(self, cells: Sequence[str]) -> None:
        """Take the next block of cells."""
        if not self.must_be_reread:
            block = self._as_numbers(cells) if self._reads_numbers else self._as_codes(cells)
            self._blocks.append(block)
        self._n_rows += len(cells)

    def _as_numbers(self, cells: Sequence[str]) -> Column:
        numbers = decimal_numbers(cells, self._tokens)
        if numbers is not None:
            self._has_numbers = self._has_numbers or not bool(np.isnan(numbers).all())
            return numbers
        if self._declaration is not None:
            self._faults.extend(self._not_numbers(cells))
            return np.full(len(cells), np.nan)
        self._reads_numbers = False
        self.must_be_reread = self._has_numbers
        # All cells so far were missing: as codes they are missing too.
        self._blocks = [np.full(len(block), MISSING_CODE, dtype=np.int32) for block in self._blocks]
        return self._as_codes(cells)

    def _not_numbers(self, cells: Sequence[str]) -> Iterator[Fault]:
        wrong = (row for row, text in enumerate(cells) if text not in self._tokens and decimal_number(text) is None)
        for row in islice(wrong, MOST_FAULTS):
            yield Fault(f"{quoted(cells[row])} is not a number", (self._n_rows + row,))

    def _as_codes(self, cells: Sequence[str]) -> CodeArray:
        codes = self._codes.encode(cells)
        if not self._codes.is_open:
            self._faults.extend(self._codes.undeclared(cells, codes, self._n_rows))
        return codes

    def finished(self) -> ReadColumn:
        """The whole column."""
        faults = tuple(self._faults[:MOST_FAULTS])
        cells: Any = np.concatenate(self._blocks)
        if self._declaration is not None:
            return ReadColumn(self._declaration.kind, tuple(self._codes.categories), cells, faults)
        if self._has_numbers:
            return ReadColumn(Kind.NUMERIC, (), cells)
        codes = cells if cells.dtype == np.int32 else np.full(len(cells), MISSING_CODE, dtype=np.int32)
        return ReadColumn(Kind.CATEGORICAL, tuple(self._codes.categories), codes)
