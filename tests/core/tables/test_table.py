import numpy as np
import pytest

from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table, is_missing
from tests.core.building import table_of


def test_rows_and_columns_can_be_taken_in_any_order():
    table = table_of({"a": [1, 2, None], "b": ["x", None, "y"]})
    assert table.n_rows == 3
    assert table.take(np.array([2, 0])).values("b").tolist() == [1, 0]
    assert table.select(["b", "a"]).schema.names == ("b", "a")
    assert table.select([]).n_rows == 0


def test_missing_cells_are_nan_or_a_code_of_their_own():
    table = table_of({"a": [1, None], "b": [None, "x"]})
    assert [is_missing(values).tolist() for values in table.columns] == [[False, True], [True, False]]


def test_columns_of_unequal_length_are_our_own_mistake():
    schema = Schema((Attribute("a", Kind.NUMERIC), Attribute("b", Kind.NUMERIC)))
    with pytest.raises(AssertionError):
        Table(schema, (np.zeros(2), np.zeros(3)))
    with pytest.raises(AssertionError):
        Table(schema, (np.zeros(2),))
