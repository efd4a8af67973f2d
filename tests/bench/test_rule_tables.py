import pytest

from bench.public_tables import TABLES
from bench.rule_tables import training_figures

pytestmark = pytest.mark.usefixtures("warm_kernels")  # trees of larger tables are grown by kernels


@pytest.mark.parametrize("name", TABLES)
def test_rules_are_fewer_than_leaves_and_at_most_a_point_worse_than_the_tree(name):
    figures = training_figures(TABLES[name]())
    assert figures.n_rules <= figures.n_leaves
    assert figures.rules_error <= figures.tree_error + 0.01
