"""What can be wrong with a table, a configuration or a record.

    CoreError
      InvalidTable      the data cannot be made into a table
        EmptyTable        there is no row, or no column
      InvalidConfig     the configuration does not fit, by itself or with this table
      RecordsDoNotFit   records handed to a model are not what it was trained on

Each carries its faults: where, what, and the way out.
"""

from collections.abc import Iterable
from dataclasses import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: `path` leads to it inside the caller's input, `line` counts from 1 in a file."""

    detail: str
    path: Path = ()
    hint: str | None = None
    line: int | None = None

    def below(self, *prefix: str | int) -> "Fault":
        """The fault with a longer path: these parts come before its own."""
        return Fault(self.detail, (*prefix, *self.path), self.hint, self.line)


class CoreError(Exception):
    """A caller's mistake that core can name."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("; ".join(fault.detail for fault in faults))
        self.faults = faults

    @classmethod
    def at(cls, *path: str | int, detail: str, hint: str | None = None) -> "CoreError":
        """The error with a single fault at a path."""
        return cls(Fault(detail, path, hint))


class InvalidTable(CoreError):
    """The data cannot be made into a table."""


class EmptyTable(InvalidTable):
    """There is no row, or no column."""


class InvalidConfig(CoreError):
    """The configuration does not fit, by itself or with this table."""


class RecordsDoNotFit(CoreError):
    """Records for a model do not fit the attributes it was trained on."""


def raise_any(error: type[CoreError], faults: Iterable[Fault]) -> None:
    """Raise `error` with all faults, or return when there are none."""
    found = tuple(faults)
    if found:
        raise error(*found)
