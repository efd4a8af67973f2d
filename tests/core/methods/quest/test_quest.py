"""QUEST, beside a slow twin written from the paper with scipy's tests, and its promise: no attribute is preferred."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.config.as_json import from_json, to_json
from core.config.options import MissingStrategy, NoDivision, QuestTests, TrainingConfig, WhenInsignificant
from core.config.presets import pruning_for, resolve
from core.criteria.significance import Significance
from core.engine.considered import candidates_by_node
from core.engine.engine import Engine, grow_with
from core.growth.best_split import best_split as textbook_split
from core.growth.best_split import node_samples, objective_of
from core.growth.samples import Samples
from core.methods.quest.quest import AttributeTests, best_split, choice, first_of
from core.methods.quest.quest import tests_of as all_tests
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table, is_missing
from core.tables.target import ClassTarget, Task
from core.training.preparation import prepare
from core.tree.tree import full_view
from tests.core.both_engines import grow, train
from tests.core.building import samples_of
from tests.core.strategies import crowded_samples
from tests.examples import examples
from tests.golden_tables import golden_samples

pytestmark = pytest.mark.bounds

QUEST = resolve("quest", {}, Task.CLASSIFICATION)
CART = resolve("cart", {}, Task.CLASSIFICATION)


def quest(**overrides):
    return resolve("quest", overrides, Task.CLASSIFICATION)


def tame(samples: Samples) -> Samples:
    """Without numbers whose squares are no numbers: the checks refuse those."""
    columns = tuple(np.clip(c, -1e9, 1e9) if c.dtype == np.float64 else c for c in samples.attributes.columns)
    return replace(samples, attributes=Table(samples.attributes.schema, columns))


def root(samples):
    return node_samples(samples, samples.rows, samples.weights)


class Published:
    """The paper's choice of an attribute at the root, with scipy, for rows of weight 1."""

    def __init__(self, samples, alpha):
        self.samples, self.alpha = samples, alpha
        self.schema = samples.attributes.schema

    def groups(self, column):
        values, classes = self.samples.attributes.columns[column], self.samples.target.codes
        known = ~is_missing(values)
        return [values[known & (classes == k)] for k in np.unique(classes[known])]

    def p_values(self):
        """Of the first test for every attribute, and of Levene's for those with an order."""
        first, second = [], {}
        for column, attribute in enumerate(self.schema):
            groups = self.groups(column)
            if attribute.has_order:
                first.append(float(stats.f_oneway(*groups).pvalue))
                second[column] = float(stats.levene(*groups, center="mean").pvalue)
            else:
                table = np.array([np.bincount(g, minlength=len(attribute.categories)) for g in groups])
                first.append(float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0], correction=False).pvalue))
        return first, second

    def chosen(self):
        first, second = self.p_values()
        if min(first) < self.alpha / len(first):
            return int(np.argmin(first))
        best = min(second, key=second.__getitem__, default=None)
        if best is not None and second[best] < self.alpha / (len(first) + len(second)):
            return best
        return int(np.argmin(first))


def noisy(seed, n_rows=60):
    """Two or three classes that shift or stretch some columns; no two columns are equally significant."""
    chance = np.random.default_rng(seed)
    classes = np.append([0, 1, 2] * 3, chance.integers(0, 3, n_rows - 9)).astype(np.int32)
    codes = np.where(chance.random(n_rows) < chance.choice([0, 0.3]), classes, chance.integers(0, 4, n_rows))
    columns = (
        chance.normal(size=n_rows) + chance.choice([0, 0.8]) * classes,
        chance.normal(size=n_rows) * (1 + chance.choice([0, 2]) * classes),
        codes.astype(np.int32),
        chance.integers(0, 5, n_rows).astype(np.int32),
    )
    schema = Schema(
        (
            Attribute("shifted", Kind.NUMERIC),
            Attribute("stretched", Kind.NUMERIC),
            Attribute("code", Kind.CATEGORICAL, tuple("abcd")),
            Attribute("grade", Kind.ORDINAL, tuple("vwxyz")),
        )
    )
    return Samples(Table(schema, columns), ClassTarget(("p", "q", "r"), classes), np.ones(n_rows))


@given(st.integers(0, 10_000))
def test_the_root_is_split_on_the_attribute_that_the_paper_chooses(seed):
    samples = noisy(seed)
    published, tests = Published(samples, 0.05), all_tests(samples, root(samples))
    first, second = published.p_values()
    for one in tests:
        assert one.association.p_value == pytest.approx(first[one.column], rel=1e-7)
        if one.levene is not None:
            assert one.levene.p_value == pytest.approx(second[one.column], rel=1e-6)
    found = best_split(samples, root(samples), QUEST, objective_of(QUEST, samples), ())
    assert found is not None
    assert found.split.column == published.chosen()


@examples(200)
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.5]), st.sampled_from(list(WhenInsignificant)))
def test_kernels_grow_the_tree_of_the_definition(seed, alpha, insignificant):
    chance = np.random.default_rng(seed)
    samples = tame(crowded_samples(chance, Task.CLASSIFICATION, max_rows=60, max_columns=6))
    stopping = {"min_samples_split": 2, "min_samples_leaf": float(chance.choice([0, 1, 3]))}
    stopping |= {"min_copy_weight": float(chance.choice([0, 0.3]))}
    tree, _ = grow(samples, quest(alpha=alpha, when_insignificant=insignificant, stopping=stopping))
    for node in np.flatnonzero(tree.size > 1):
        assert (tree.weight[tree.children(node)] > 0).all()
    assert np.isnan(tree.gain).all()


def wide(seed):
    """More columns than stand side by side in one row of lanes, in one to four classes; often nothing is missing."""
    chance = np.random.default_rng([seed, 1])
    n_rows, n_numbers = int(chance.integers(30, 250)), int(chance.integers(0, 20))
    classes = chance.integers(0, chance.integers(1, 5), n_rows).astype(np.int32)
    numbers = chance.normal(size=(n_numbers, n_rows)) * chance.choice([1, 1e-9, 1e9], (n_numbers, 1)) + 0.3 * classes
    few = chance.random(n_numbers) < 0.3
    numbers[few] = np.round(numbers[few])
    levels = chance.choice([1, 2, 3, 9], int(chance.integers(n_numbers == 0, 5)))
    codes = [np.where(chance.random(n_rows) < 0.4, classes % n, chance.integers(0, n, n_rows)) for n in levels]
    if chance.random() < 0.5:
        numbers[chance.random(numbers.shape) < 0.15] = np.nan
        codes = [np.where(chance.random(n_rows) < 0.15, -1, each) for each in codes]
    attributes = [Attribute(f"x{j}", Kind.NUMERIC) for j in range(n_numbers)]
    attributes += [Attribute(f"c{j}", Kind.CATEGORICAL, tuple(map(str, range(n)))) for j, n in enumerate(levels)]
    order = chance.permutation(len(attributes))
    columns = [*numbers, *(each.astype(np.int32) for each in codes)]
    table = Table(Schema(tuple(attributes[j] for j in order)), tuple(columns[j] for j in order))
    weights = np.ones(n_rows) if chance.random() < 0.7 else chance.choice([0.5, 1.0, 2.25], n_rows)
    return Samples(table, ClassTarget(tuple("pqrs"), classes), weights)


@examples(60)
@given(st.integers(0, 10_000), st.sampled_from([1, 4, 20]), st.sampled_from([2, 5, None]))
def test_kernels_grow_the_tree_of_the_definition_on_many_columns(seed, min_leaf, max_depth):
    stopping = {"min_samples_split": 2, "min_samples_leaf": min_leaf, "max_depth": max_depth}
    grow(wide(seed), quest(stopping=stopping))


def significant(statistic, log10_p):
    return Significance(statistic, (1.0, 9.0), log10_p)


def attributes_with(*logs):
    """Attributes by the log10 p of their first test and of Levene's, None for categories."""
    return [
        AttributeTests(column, significant(1.0, first), None if levene is None else significant(1.0, levene), 1.0)
        for column, (first, levene) in enumerate(logs)
    ]


@pytest.mark.parametrize(
    ("logs", "chosen"),
    [
        ([(-1.0, -9.0), (-1.7, None)], 1),  # 10^-1.7 is below 0.05/2, so Levene's is not asked
        ([(-1.0, -1.6), (-1.5, None)], 1),  # neither: the smallest p of the first test
        ([(-1.0, -1.8), (-1.5, None)], 0),  # Levene's is below 0.05/3
        ([(-1.0, None), (-1.5, None)], 1),
    ],
)
def test_the_first_test_goes_before_the_second(logs, chosen):
    n_ordered = sum(levene is not None for _, levene in logs)
    found = choice(attributes_with(*logs), QuestTests(), n_attributes=2, n_ordered=n_ordered)
    assert found is not None
    assert found.column == chosen


def test_ibms_programs_stop_where_nothing_is_significant():
    tests = attributes_with((-1.0, -1.6), (-1.5, None))
    stops = QuestTests(when_insignificant=WhenInsignificant.STOP)
    assert choice(tests, stops, n_attributes=2, n_ordered=1) is None
    assert choice(tests, replace(stops, alpha=0.5), n_attributes=2, n_ordered=1) is tests[1]


def test_equal_p_goes_to_the_larger_statistic_and_then_to_the_earlier_column():
    assert first_of([significant(2.0, -5.0), significant(3.0, -5.0 + 1e-10), significant(9.0, -4.9)]) == 1
    assert first_of([significant(3.0, -5.0), significant(3.0 * (1 + 1e-12), -5.0)]) == 0


def test_a_copy_of_a_column_in_other_units_is_not_chosen():
    values = np.random.default_rng(1).normal(size=40)
    samples = samples_of({"a": (values * 3.7 + 11).tolist(), "b": values.tolist()}, ["p", "q"] * 20)
    tree, _ = grow(samples, quest(stopping={"max_depth": 1}))
    assert tree.column[0] == 0


@pytest.mark.parametrize(
    ("name", "column", "statistic", "p_value"),
    [
        ("watermelon_3.0", "纹理", 7.5451, 0.02299),
        ("watermelon_2.0a", "纹理", 8.3418, 0.01544),
        ("watermelon_3.0a", "含糖率", 5.9977, 0.02709),
    ],
)
def test_roots_of_the_watermelons(name, column, statistic, p_value):
    samples = golden_samples(name)
    tree, _ = grow(samples, QUEST)
    candidates = candidates_by_node(full_view(tree), samples, QUEST)[0]
    names = samples.attributes.schema.names
    assert [names[one.split.column] for one in candidates] == list(names)  # every attribute, significant or not
    assert names[tree.column[0]] == column
    chosen = candidates[tree.column[0]]
    assert chosen.significance is not None
    assert chosen.significance.statistic == pytest.approx(statistic, abs=5e-5)
    assert chosen.significance.p_value == pytest.approx(p_value, abs=5e-6)
    assert chosen.adjusted_p_value == pytest.approx(min(1.0, len(names) * chosen.significance.p_value))
    assert all(math.isnan(one.split.threshold) and not one.split.branch_of for one in candidates if one is not chosen)


def test_the_sugar_of_watermelons_is_cut_where_good_and_bad_are_equally_likely():
    samples = golden_samples("watermelon_3.0a")
    tree, _ = grow(samples, QUEST)
    good, bad = (samples.attributes.values("含糖率")[samples.target.codes == k] for k in (0, 1))
    t = tree.threshold[0]
    densities = [len(x) * stats.norm.pdf(t, x.mean(), x.std()) for x in (good, bad)]
    assert t == pytest.approx(0.2221812, abs=5e-8)
    assert densities[0] == pytest.approx(densities[1])


@pytest.mark.parametrize("missing", list(MissingStrategy))
def test_every_way_to_treat_missing_values(missing):
    samples = noisy(3, n_rows=200)
    columns = [c.copy() for c in samples.attributes.columns]
    columns[0][::7], columns[2][::5] = np.nan, -1
    table = Table(
        Schema((*samples.attributes.schema, Attribute("y", Kind.CATEGORICAL, ("p", "q", "r")))),
        (*columns, samples.target.codes),
    )
    algorithm = quest(missing=missing)
    pruning = pruning_for(algorithm, None, has_validation=False)
    config = TrainingConfig("y", algorithm, division=NoDivision(), pruning=pruning)
    model = train(prepare(table, config, {}), config)
    assert model.history.cross_validation is not None
    assert 1 < len(model.view(model.history.selected).leaves) < len(full_view(model.tree).leaves)


def test_weights_count_as_numbers_of_rows():
    samples = noisy(5)
    doubled = replace(samples, weights=2 * samples.weights)
    once, twice = (all_tests(each, root(each)) for each in (samples, doubled))
    assert all(b.association.statistic > a.association.statistic for a, b in zip(once, twice, strict=True))
    rows = np.repeat(samples.rows, 2)
    repeated = Samples(samples.attributes.take(rows), samples.target.take(rows), np.ones(len(rows)))
    for one, other in zip(twice, all_tests(repeated, root(repeated)), strict=True):
        assert one.association.statistic == pytest.approx(other.association.statistic)
        assert one.association.degrees_of_freedom == pytest.approx(other.association.degrees_of_freedom)


def test_an_attribute_that_cannot_be_split_gives_way_to_the_next():
    columns = {"rare": [1.0] + [0.0] * 19, "x": [float(i % 10) for i in range(20)]}
    samples = samples_of(columns, ["p"] + ["q"] * 19)
    tree, _ = grow(samples, quest(stopping={"min_samples_leaf": 2, "max_depth": 1}))
    assert samples.attributes.schema.names[tree.column[0]] == "x"
    tree, _ = grow(samples, quest(stopping={"max_depth": 1}))
    assert samples.attributes.schema.names[tree.column[0]] == "rare"


def test_the_configuration_survives_json():
    config = TrainingConfig("y", quest(alpha=0.01, when_insignificant="stop", stopping={"max_depth": 4}))
    plain = to_json(config)
    assert plain["algorithm"]["alpha"] == 0.01
    assert set(plain["algorithm"]) == {"kind", "alpha", "when_insignificant", "missing", "stopping"}
    assert from_json(plain) == config


def independent(seed, n_rows=120):
    """Columns that know nothing of the two classes: numbers of many and of few values, categories of 2 to 20 levels."""
    chance = np.random.default_rng([7, seed])
    levels = (2, 5, 10, 20)
    codes = tuple(chance.integers(0, n, n_rows).astype(np.int32) for n in levels)
    columns = (chance.normal(size=n_rows), chance.integers(0, 4, n_rows).astype(np.float64), *codes)
    categories = [Attribute(f"c{n}", Kind.CATEGORICAL, tuple(map(str, range(n)))) for n in levels]
    schema = Schema((Attribute("many", Kind.NUMERIC), Attribute("few", Kind.NUMERIC), *categories))
    target = ClassTarget(("p", "q"), chance.integers(0, 2, n_rows).astype(np.int32))
    return Samples(Table(schema, columns), target, np.ones(n_rows))


def times_chosen(chooser, algorithm, n_tables):
    counts = np.zeros(6)
    for seed in range(n_tables):
        samples = independent(seed)
        found = chooser(samples, root(samples), algorithm, objective_of(algorithm, samples), ())
        counts[found.split.column] += 1
    return counts


def test_no_attribute_is_preferred_where_none_tells_anything():
    counts = times_chosen(best_split, QUEST, 600)
    assert stats.chisquare(counts).pvalue > 0.01, counts


def test_gini_prefers_attributes_of_many_values():
    counts = times_chosen(textbook_split, CART, 60)
    assert stats.chisquare(counts).pvalue < 1e-9, counts
    assert counts[[0, 5]].sum() > 0.8 * counts.sum()


def test_growth_can_be_watched_and_ended():
    class Enough(Exception):
        pass

    def stop(_):
        raise Enough

    samples = noisy(1, n_rows=20_000)
    with pytest.raises(Enough):
        grow_with(Engine.KERNELS, samples, QUEST, validation=None, seed=0, watch=stop)
    heard = []
    grow_with(Engine.KERNELS, samples, QUEST, validation=None, seed=0, watch=heard.append)
    assert heard[-1] == 1.0
