"""What every library has to offer to be measured."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from bench.tables import CodeArray, Data, FloatArray


@dataclass(frozen=True)
class Contestant(ABC):
    """A library and the limits its tree has to keep; `depth` counts the tests above a leaf."""

    name: ClassVar[str]

    depth: int | None = None
    min_leaf: int = 1

    @abstractmethod
    def prepare(self, data: Data) -> Any:
        """The rows as the library holds them in memory before it trains; not measured."""

    @abstractmethod
    def fit(self, prepared: Any) -> Any:
        """One tree, from numbers as float64; measured."""

    @abstractmethod
    def n_nodes(self, model: Any) -> int:
        """How many nodes it has grown, leaves included."""

    @abstractmethod
    def predict(self, model: Any, data: Data) -> CodeArray | FloatArray:
        """The class or number of every row."""

    def why_not(self, prepared: Any) -> str:
        """What speaks against measuring it; empty when nothing does."""
        del prepared
        return ""
