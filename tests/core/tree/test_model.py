import numpy as np

from core.tree.model import training_ranges
from tests.core.building import table_of
from tests.core.stored_models import classification_model


def test_ranges_are_those_of_known_numbers():
    table = table_of({"n": [3, None, -1], "m": [None, None, None], "c": ["x", None, "y"]})
    assert training_ranges(table) == ((-1.0, 3.0), None, None)


def test_ranges_of_no_rows_are_unknown():
    assert training_ranges(table_of({"n": [1.0]}).take(np.empty(0, dtype=np.int64))) == (None,)


def test_a_model_shows_its_tree_as_of_a_step():
    model = classification_model()
    assert model.tree is model.history.tree
    assert len(model.view(0).nodes) > len(model.view(model.history.selected).nodes)
