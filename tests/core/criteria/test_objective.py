import numpy as np
import pytest

from core.arithmetic.ties import TIE
from core.config.options import Algorithm, Categorical, Criterion, CriterionKind
from core.criteria.impurity import gini
from core.criteria.objective import Objective
from core.growth.best_split import objective_of
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import NumberTarget, Task


def test_decrease_is_that_of_the_impurity():
    objective = Objective(Task.CLASSIFICATION, gini)
    table = np.array([[2.0, 0.0], [0.0, 2.0]])
    assert objective.decrease(table, table.sum(axis=1)) == 0.5
    assert objective.tolerance == TIE


def test_ties_of_numbers_are_measured_in_the_roots_own_squared_error():
    table = Table(Schema((Attribute("a", Kind.NUMERIC),)), (np.arange(4.0),))
    samples = Samples(table, NumberTarget(1e8 + np.array([[0.0], [0.0], [1000.0], [1000.0]])), np.ones(4))
    algorithm = Algorithm("cart", Criterion(CriterionKind.SQUARED_ERROR), Categorical.TWO_GROUPS)
    assert objective_of(algorithm, samples).tolerance == pytest.approx(TIE * 250_000)
