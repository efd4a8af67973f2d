"""The nodes of a tree as a forest takes them over from the kernels that grew it."""

from dataclasses import dataclass
from typing import Any

from core.tables.target import Task


@dataclass(frozen=True)
class FinishedNodes:
    """The fields of a `Tree`, by name, but for those that follow from the others to the last bit.

    They may stand where the next tree is grown.
    """

    task: Task
    columns: dict[str, Any]

    def __len__(self) -> int:
        return len(self.columns["size"])
