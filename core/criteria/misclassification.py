"""The cost of answering one class when another is true.

    costs[actual, predicted]        0 on the diagonal, 1 where none is given

The answer to class shares p is the class of least expected cost, sum_k p_k costs[k, j]; ties go to the earlier class.
With every cost 1 that is the majority class. Breiman et al. 1984, section 4.4.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.sums import matrix_product
from core.arithmetic.ties import TIE
from core.tables.errors import Fault
from core.tables.suggestion import did_you_mean, quoted

MisclassificationCosts = Mapping[str, Mapping[str, float]]
PATH = "misclassification_costs"


def cost_matrix(costs: MisclassificationCosts, classes: tuple[str, ...]) -> FloatArray:
    """`[actual, predicted]`: the cost of each answer; every class named is one of the classes."""
    matrix = np.ones((len(classes), len(classes))) - np.eye(len(classes))
    for actual, row in costs.items():
        for predicted, cost in row.items():
            matrix[classes.index(actual), classes.index(predicted)] = cost
    return matrix


def cheapest_classes(shares: FloatArray, costs: FloatArray) -> RowArray:
    """The class of least expected cost for each row of shares, ties to the earlier one."""
    expected = matrix_product(shares, costs)
    return np.argmax(expected <= expected.min(axis=1, keepdims=True) + TIE * max(1.0, float(costs.max())), axis=1)


def cost_faults(costs: MisclassificationCosts, classes: tuple[str, ...]) -> Iterator[Fault]:
    """A fault for each cost of an unknown class, and for each cost of a right answer."""
    for actual, row in costs.items():
        if actual not in classes:
            yield Fault(f"{quoted(actual)} is not a class", (PATH, actual), did_you_mean(actual, classes))
        for predicted, cost in row.items():
            if predicted not in classes:
                hint = did_you_mean(predicted, classes)
                yield Fault(f"{quoted(predicted)} is not a class", (PATH, actual, predicted), hint)
            elif predicted == actual and cost != 0:
                yield Fault("a right answer costs nothing", (PATH, actual, predicted), "leave it out, or say 0")
