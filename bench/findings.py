"""What a row of the report says: what was measured, and how that stands to the floor and the goal."""

from dataclasses import dataclass, field
from statistics import fmean, median


@dataclass(frozen=True)
class Setting:
    """How thoroughly to measure: on how many tables, and whether on small ones."""

    repeat: int
    quick: bool


@dataclass
class Measured:
    """One library's times, one for each run, and its trees' nodes and accuracy (R² where numbers are predicted)."""

    label: str
    seconds: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    is_of_classes: bool = True

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def mean_accuracy(self) -> float | None:
        return fmean(self.accuracy) if self.accuracy else None

    @property
    def mean_nodes(self) -> float | None:
        return fmean(self.nodes) if self.nodes else None


@dataclass(frozen=True)
class Finding:
    """A figure beside its floor and its goal; with `at_most` smaller figures are better."""

    what: str
    value: float
    floor: float
    goal: float
    at_most: bool = False

    @property
    def verdict(self) -> str:
        if self._reaches(self.goal):
            return "goal met"
        return "floor met" if self._reaches(self.floor) else "below"

    def _reaches(self, limit: float) -> bool:
        return self.value <= limit if self.at_most else self.value >= limit


@dataclass(frozen=True)
class Result:
    """A row of the report; `problem` says why nothing was measured, `is_error` that this was not foreseen."""

    name: str
    title: str
    measured: tuple[Measured, ...] = ()
    findings: tuple[Finding, ...] = ()
    problem: str = ""
    is_error: bool = False
