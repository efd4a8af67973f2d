"""What growth maximises: the decrease of an impurity; and the tolerance within which two decreases are tied."""

from dataclasses import dataclass

from core.arithmetic.arrays import FloatArray
from core.arithmetic.ties import TIE
from core.criteria.gain import impurity_decrease
from core.criteria.impurity import Impurity
from core.tables.target import Task


@dataclass(frozen=True, slots=True)
class Objective:
    """The impurity of a criterion, over class weights or moments depending on the task, with the tolerance of its ties.

    For squared error the tolerance is TIE times the root's squared error, since its unit is that of the target.
    """

    task: Task
    impurity: Impurity
    tolerance: float = TIE

    def decrease(self, branches: FloatArray, branch_weights: FloatArray) -> FloatArray:
        """How much purer the branches are than their union."""
        return impurity_decrease(self.impurity, branches, branch_weights)
