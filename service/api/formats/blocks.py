"""Large bodies in blocks: all of it is read before any of it is answered, and never all of it kept."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from core.errors import Fault
from core.record_columns import RecordBlock
from core.records import unknown_names
from core.schema import Schema

ROWS_PER_BLOCK = 16_384
KEPT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Wanted:
    """What is read of a record: a model's attributes. `ignorable` are the unused columns of its dataset."""

    attributes: Schema
    ignorable: Collection[str]
    ignore_unknown: bool

    @cached_property
    def allowed(self) -> frozenset[str]:
        """The names that a record may have."""
        return frozenset((*self.attributes.names, *self.ignorable))

    def unknown(self, names: Collection[str]) -> Iterator[Fault]:
        """A fault for each name that is refused; its path is the name."""
        if not self.ignore_unknown:
            yield from unknown_names(names, self.allowed, self.attributes, ())


def checked(read: Callable[[], Iterator[RecordBlock]]) -> Iterator[RecordBlock]:
    """The blocks of a body in which nothing is wrong: it is read to its end first, so that nothing is half answered.

    What fits into KEPT_BYTES is read once; of more only one block at a time is kept, and it is read once more.
    """
    kept: list[RecordBlock] = []
    n_bytes = 0
    for block in read():
        n_bytes += block.n_bytes
        if n_bytes <= KEPT_BYTES:
            kept.append(block)
        else:
            kept.clear()
    return iter(kept) if n_bytes <= KEPT_BYTES else read()
