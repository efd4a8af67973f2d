from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import NoDivision, TrainingConfig
from core.config.presets import resolve
from core.drawing.text import tree_text
from core.engine.considered import candidates_by_node
from core.growth.data_thresholds import data_thresholds, lowered_candidates
from core.rules.extraction import path_rules
from core.tables.schema import Attribute, Kind
from core.tables.target import Task
from core.training.preparation import prepare
from core.tree.tree import full_view
from tests.core.both_engines import grow, train
from tests.core.building import c45, samples_of, table_of
from tests.core.strategies import crowded_samples
from tests.examples import examples
from tests.golden_tables import golden_table

pytestmark = pytest.mark.bounds


def config(**options):
    return TrainingConfig("y", resolve("c45", options, Task.CLASSIFICATION), division=NoDivision())


def trained(table, config):
    return train(prepare(table, config, {}), config)


# The second node divides 1, 2 | 7 at 4.5; the value 4 stands on the other side of the root and counts too.
ACROSS = table_of(
    {
        "a": ["l"] * 6 + ["r"] * 6,
        "x": [1, 1, 2, 7, 7, 7, 4, 4, 4, 4, 4, 4],
        "y": ["p", "p", "p", "q", "q", "q", "r", "r", "r", "r", "r", "r"],
    }
)


def test_a_threshold_is_lowered_to_a_value_of_the_whole_training_set():
    model = trained(ACROSS, config(dialect="release8"))
    assert tree_text(model, 0) == ("a = l\n|   x <= 4.5: p (p 3)\n|   x > 4.5: q (q 3)\na = r: r (r 6)\n")
    reported = model.with_data_thresholds()
    assert tree_text(reported, 0) == ("a = l\n|   x <= 4: p (p 3)\n|   x > 4: q (q 3)\na = r: r (r 6)\n")
    assert model.tree.threshold[1] == 4.5  # the tree itself goes on to divide in the middle


def test_watermelons_divide_at_values_that_some_melon_has():
    order = replace(config(dialect="release8"), target="好瓜", attributes=("密度", "含糖率"))
    model = trained(golden_table("watermelon_3.0"), order)
    # The midpoints are 0.126, 0.3815 and 0.2045.
    assert tree_text(model.with_data_thresholds(), 0) == (
        "含糖率 <= 0.103: 否 (否 5)\n"
        "含糖率 > 0.103\n"
        "|   密度 <= 0.36: 否 (否 2)\n"
        "|   密度 > 0.36\n"
        "|   |   含糖率 <= 0.198: 否 (是 1, 否 2)\n"
        "|   |   含糖率 > 0.198: 是 (是 7)\n"
    )


def test_only_the_dialect_of_the_programs_keeps_them():
    assert trained(ACROSS, config()).data_thresholds is None


@examples(100)
@given(st.integers(0, 2**32))
def test_every_threshold_is_the_largest_training_value_not_above_it_and_divides_the_same_rows(seed):
    samples = crowded_samples(np.random.default_rng(seed), Task.CLASSIFICATION, max_rows=30)
    tree, _ = grow(samples, c45())
    reported = data_thresholds(tree, samples.attributes)
    for node, (before, after) in enumerate(zip(tree.threshold, reported, strict=True)):
        column = tree.column[node]
        if np.isnan(before):
            assert np.isnan(after)
        elif samples.attributes.schema[column].kind is Kind.ORDINAL:
            assert after == before
        else:
            values = samples.attributes.columns[column]
            known = values[~np.isnan(values)]
            assert after == max(value for value in known if value <= before)
            assert ((known <= after) == (known <= before)).all()


def test_candidates_are_lowered_like_the_split_that_was_chosen():
    kinds = {"o": Attribute("o", Kind.ORDINAL, ("low", "middle", "high"))}
    samples = samples_of(
        {"x": [1, 1, 4, 4], "o": ["low", "middle", "high", "high"], "c": ["u", "v", "u", "v"]},
        ["p", "p", "q", "q"],
        kinds=kinds,
    )
    tree, _ = grow(samples, c45())
    (candidates,) = lowered_candidates(candidates_by_node(full_view(tree), samples, c45()), samples.attributes).values()
    assert [one.split.threshold for one in candidates] == pytest.approx([1.0, 1.5, np.nan], nan_ok=True)
    assert data_thresholds(tree, samples.attributes)[0] == candidates[0].split.threshold


def test_an_interval_of_a_rule_stays_an_interval():
    table = table_of({"x": [1, 1, 1, 3, 3, 3, 8, 8, 8], "y": ["p"] * 3 + ["q"] * 3 + ["p"] * 3})
    model = trained(table, config(dialect="release8", stopping={"min_samples_leaf": 1}))
    rules = path_rules(model.with_data_thresholds().view(0), model.attributes)
    middle = next(rule for rule in rules if rule.leaf not in (rules[0].leaf, rules[-1].leaf))
    assert [(c.above, c.at_most) for c in middle.conditions] == [(1.0, 3.0)]
