import numpy as np
import pytest

from core.config.options import Stopping
from core.criteria.impurity import gini
from core.criteria.objective import Objective
from core.growth.best_split import Candidate
from core.growth.stopping import is_terminal, is_worth_it
from core.splits.split import Split, SplitKind
from core.tables.target import Task


@pytest.mark.parametrize(
    ("limits", "node", "expected"),
    [
        ({}, (0, 2.0, 0.5), False),
        ({}, (0, 1.9, 0.5), True),
        ({}, (0, 2.0 - 1e-13, 0.5), False),
        ({}, (5, 9.0, 0.0), True),
        ({"max_depth": 2}, (1, 9.0, 0.5), False),
        ({"max_depth": 2}, (2, 9.0, 0.5), True),
        ({"min_samples_split": 9.5}, (0, 9.0, 0.5), True),
        ({"min_impurity": 0.5}, (0, 9.0, 0.5), True),
        ({"min_impurity": 0.4}, (0, 9.0, 0.5), False),
    ],
)
def test_limits_before_any_split(limits, node, expected):
    depth, weight, impurity = node
    assert is_terminal(Stopping(**limits), depth=depth, weight=weight, impurity=impurity) is expected


@pytest.mark.parametrize(
    ("limits", "gain", "score", "expected"),
    [
        ({}, 0.0, 0.0, True),
        ({}, -1e-13, -1e-13, True),
        ({"min_gain": 0.1}, 0.1, 0.0, True),
        ({"min_gain": 0.1}, 0.1 - 1e-13, 0.0, True),
        ({"min_gain": 0.1}, 0.1 - 1e-11, 9.0, False),
        ({"min_score": 0.3}, 0.1, 0.3, True),
        ({"min_score": 0.3}, 9.0, 0.29, False),
    ],
)
def test_limits_on_the_best_split(limits, gain, score, expected):
    found = Candidate(Split(0, SplitKind.THRESHOLD, 2, threshold=1.0), gain, score, 1.0, np.ones(2), 1)
    assert is_worth_it(Stopping(**limits), found, Objective(Task.CLASSIFICATION, gini)) is expected
