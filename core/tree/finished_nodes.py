"""The nodes of a tree in the form in which kernels pass them to a forest."""

from dataclasses import dataclass
from typing import Any

from core.tables.target import Task


@dataclass(frozen=True)
class FinishedNodes:
    """The fields of a `Tree`, by name, without those that follow from the others to the last bit.

    The arrays may be overwritten when the next tree is grown.
    """

    task: Task
    columns: dict[str, Any]

    def __len__(self) -> int:
        return len(self.columns["size"])
