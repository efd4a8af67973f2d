"""A record with its answer, the input of explanations."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.arithmetic.arrays import FloatArray
from core.prediction.record_walk import Reached
from core.prediction.routing import MissingPolicy
from core.records.records import Cells, State


@dataclass(frozen=True, slots=True)
class AnsweredRecord:
    """A record as the tree saw it, with its answer.

    `cells` are those that were routed: filled in, if the model fills missing values. `holes` are the columns whose
    value is missing or unseen. `reached` are the nodes that answer, with their weights.
    """

    cells: Cells
    holes: Mapping[int, State]
    reached: Reached
    answer: FloatArray
    policy: MissingPolicy
    is_decided: bool
