"""The trees of a committee are those of their own samples, whoever grows them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.randomness import path_key, root_key
from core.config.as_json import chaid_from_json
from core.config.options import (
    Algorithm,
    Categorical,
    Committee,
    FeatureShare,
    LinearTests,
    MissingStrategy,
    Numeric,
    NumericKind,
    QuestTests,
)
from core.engine.definition import grow
from core.engine.engine import Engine
from core.ensembles.forest import Forest
from core.ensembles.growing import grow_committee
from core.ensembles.sampling import columns_of_tree, times_drawn, tree_samples, tree_seed
from core.growth.best_split import node_samples
from core.growth.column_draw import column_order
from core.growth.samples import Samples
from core.methods.quest import quest
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget
from tests.core.both_engines import assert_same_bytes
from tests.core.building import c45, cart, id3, samples_of
from tests.core.strategies import trainings
from tests.examples import examples

pytestmark = pytest.mark.bounds


def forest_of(samples: Samples, *members: Algorithm, seed: int = 5, **options) -> Forest:
    committee = Committee("random_forest", members, n_trees=options.pop("n_trees", 4), **options)
    return grow_committee(samples, committee, seed=seed, engine=Engine.DEFINITION)


def numbers(n_rows: int, n_columns: int, n_classes: int = 3, seed: int = 0) -> Samples:
    chance = np.random.default_rng(seed)
    columns = tuple(chance.normal(size=n_rows) for _ in range(n_columns))
    codes = chance.integers(0, n_classes, n_rows).astype(np.int32)
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(n_columns)))
    return Samples(Table(schema, columns), ClassTarget(tuple(map(str, range(n_classes))), codes), np.ones(n_rows))


def test_a_tree_of_all_columns_is_that_of_its_sample():
    samples, committee = numbers(60, 4), Committee("bagging", (cart(),), n_trees=3)
    forest = grow_committee(samples, committee, seed=9, engine=Engine.DEFINITION)
    for tree in range(3):
        wanted = grow(tree_samples(samples, committee, seed=9, tree=tree), cart(), seed=tree_seed(9, tree))
        assert_same_bytes(forest.tree(tree), wanted)


def test_counts_as_weights_give_the_tree_of_repeated_rows():
    samples, committee = numbers(50, 3), Committee("bagging", (cart(),), n_trees=1)
    repeated = np.repeat(samples.rows, times_drawn(committee, 50, seed=2, tree=0))
    taken = Samples(samples.attributes.take(repeated), samples.target.take(repeated), samples.weights[repeated])
    forest = grow_committee(samples, committee, seed=2, engine=Engine.DEFINITION)
    assert_same_bytes(forest.tree(0), grow(taken, cart(), seed=tree_seed(2, 0)))


@pytest.mark.parametrize("features_per_tree", [None, 5])
def test_every_node_asks_one_of_the_columns_that_it_drew(features_per_tree):
    samples, committee = (
        numbers(300, 8),
        Committee("random_forest", (cart(),), n_trees=3, max_features=2, features_per_tree=features_per_tree),
    )
    forest = grow_committee(samples, committee, seed=1, engine=Engine.DEFINITION)
    for number in range(3):
        tree, columns = forest.tree(number), columns_of_tree(committee, 8, seed=1, tree=number)
        keys = {0: root_key(tree_seed(1, number))}
        for node in range(len(tree)):
            children = tree.children(node)
            if len(children) > 0:
                drawn = columns[column_order(keys[node], len(columns))[:2]]
                assert tree.column[node] in drawn
                keys |= {int(child): path_key(keys[node], branch) for branch, child in enumerate(children)}
        assert len(set(tree.column[tree.column >= 0].tolist())) == len(columns)


def test_where_no_drawn_column_has_a_split_the_next_ones_are_asked():
    columns = {f"constant{number}": [1.0] * 8 for number in range(9)} | {"x": [float(row) for row in range(8)]}
    samples = samples_of(columns, ["a", "b"] * 4)
    tree = forest_of(samples, cart(), n_trees=1, max_features=1, bootstrap=False).tree(0)
    assert set(tree.column.tolist()) == {-1, 9}
    assert (tree.impurity[tree.column == -1] == 0).all()


def test_spent_columns_are_not_drawn():
    samples = samples_of(
        {name: [value] * 2 + ["u", "v"] * 7 for name, value in {"p": "u", "q": "v", "r": "u"}.items()},
        ["a", "b", "c", "d"] * 4,
    )
    tree = forest_of(samples, id3(), n_trees=1, max_features=2, bootstrap=False).tree(0)
    for node in range(len(tree)):
        below = tree.column[node + 1 : node + tree.size[node]]
        assert tree.column[node] < 0 or tree.column[node] not in below


MEMBERS = {
    "id3 with gains": id3(),
    "c45": c45(min_samples_leaf=2),
    "cart": cart(),
    "extra trees": replace(cart(), numeric=Numeric(NumericKind.RANDOM, draws=1)),
    "distribution": replace(cart(), missing=MissingStrategy.DISTRIBUTION),
    "surrogates": replace(cart(), missing=MissingStrategy.SURROGATE),
    "quest": Algorithm("quest", cart().criterion, Categorical.TWO_GROUPS, quest=QuestTests()),
    "multivariate": replace(cart(), kind="multivariate", categorical=Categorical.ONE_HOT, linear=LinearTests()),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_every_base_grows_a_forest_that_knows_its_rows(name):
    chance = np.random.default_rng(1)
    x, colour = chance.normal(size=200), chance.integers(0, 3, 200)
    columns = {
        "x": np.where(chance.random(200) < 0.1, np.nan, x),
        **{f"noise{number}": chance.normal(size=200) for number in range(4)},
    }
    schema = Schema(
        (*(Attribute(each, Kind.NUMERIC) for each in columns), Attribute("c", Kind.CATEGORICAL, tuple("rgb")))
    )
    table = Table(schema, (*columns.values(), colour.astype(np.int32)))
    target = ClassTarget(("a", "b"), ((x > 0) ^ (colour == 1)).astype(np.int32))
    samples, algorithm = Samples(table, target, np.ones(200)), MEMBERS[name]
    forest = forest_of(samples, algorithm, n_trees=10, max_features=FeatureShare.SQRT)
    assert all(len(forest.tree(number)) > 3 for number in range(10))
    asked = {int(column) for number in range(10) for column in forest.tree(number).column}
    assert {0, 5} <= asked


def test_chaid_in_a_committee_has_its_own_intervals():
    samples = numbers(400, 4, n_classes=2)
    target = ClassTarget(("a", "b"), (samples.attributes.columns[2] > 0.3).astype(np.int32))
    chaid = chaid_from_json({"kind": "chaid", "stopping": {"min_samples_split": 30, "min_samples_leaf": 10}})
    forest = forest_of(replace(samples, target=target), cart(), chaid, max_features=2)
    assert forest.member.tolist() == [0, 1, 0, 1]
    assert forest.cuts[0] == ()
    assert all(cuts is not None for cuts in forest.cuts[1])
    assert 2 in forest.tree(1).column


def test_a_quest_node_shares_its_alpha_among_the_columns_drawn():
    samples = numbers(40, 5)
    node = node_samples(samples, samples.rows, samples.weights)
    every = quest.tests_of(samples, node)
    drawn = quest.tests_of(samples, replace(node, undrawn=frozenset({0, 3})))
    assert drawn == [every[1], every[2], every[4]]
    assert quest.unsplit(samples, drawn[0], len(drawn)).adjusted_p_value == pytest.approx(
        min(1.0, 3 * 10.0 ** drawn[0].association.log10_p_value)
    )


@given(trainings(max_outputs=2), st.integers(0, 3))
@examples(60)
def test_threads_change_nothing(training, seed):
    samples, algorithm = training
    committee = Committee("random_forest", (algorithm,), n_trees=3, max_features=FeatureShare.SQRT)
    one, other = (
        grow_committee(samples, committee, seed=seed, engine=Engine.DEFINITION, threads=threads) for threads in (1, 2)
    )
    for tree in range(3):
        assert_same_bytes(one.tree(tree), other.tree(tree))


def test_costs_belong_to_every_member():
    costs = np.array([[0.0, 5.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    committee = Committee("bagging", (cart(),), n_trees=2)
    forest = grow_committee(numbers(40, 2), committee, seed=0, costs=costs, engine=Engine.DEFINITION)
    assert forest.tree(1).costs is costs


def test_progress_rises_to_the_end():
    heard: list[float] = []
    committee = Committee("bagging", (cart(),), n_trees=5)
    grow_committee(numbers(80, 3), committee, seed=0, engine=Engine.DEFINITION, watch=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == pytest.approx(1.0)
