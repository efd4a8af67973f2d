"""A record with its answer, as it is put in words."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.arithmetic.arrays import FloatArray
from core.prediction.record_walk import Reached
from core.prediction.routing import MissingPolicy
from core.records.records import Cells, State


@dataclass(frozen=True, slots=True)
class AnsweredRecord:
    """A record as the tree took it, and what came out.

    `cells` are those that were sent down: filled, where the model fills them. `holes` are the columns that came without
    a value, or with a category never seen. `reached` are the nodes that answer, with their weights.
    """

    cells: Cells
    holes: Mapping[int, State]
    reached: Reached
    answer: FloatArray
    policy: MissingPolicy
    is_decided: bool
