"""Large bodies in blocks: a body is read completely before any of it is answered, but only a limited part is kept."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from core.records.columns import RecordBlock
from core.records.records import unknown_names
from core.tables.errors import Fault
from core.tables.schema import Schema

ROWS_PER_BLOCK = 16_384
KEPT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Wanted:
    """What to read of records: a model's attributes. `ignorable` are the unused columns of its dataset."""

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


@dataclass(frozen=True)
class CheckedBlocks:
    """The blocks of a body without faults, their number and the number of their records.

    Blocks that together fit into KEPT_BYTES are kept; otherwise the body is read again, one block at a time.
    """

    blocks: Iterable[RecordBlock]
    n_blocks: int
    n_rows: int


def checked(read: Callable[[], Iterator[RecordBlock]]) -> CheckedBlocks:
    """Read a body to its end, so that it is not answered in part; a body without records has one empty block."""
    kept: list[RecordBlock] = []
    n_blocks = n_rows = n_bytes = 0
    for block in read():
        n_blocks, n_rows, n_bytes = n_blocks + 1, n_rows + block.n_rows, n_bytes + block.n_bytes
        if n_bytes <= KEPT_BYTES:
            kept.append(block)
        else:
            kept.clear()
    if not n_blocks:
        return CheckedBlocks([RecordBlock(0, {})], 1, 0)
    return CheckedBlocks(kept if n_bytes <= KEPT_BYTES else read(), n_blocks, n_rows)
