import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.presets import resolve
from core.engine.considered import candidates_by_node
from core.engine.engine import Engine, grow_with
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.methods.chaid.merging import ways_with_floating, ways_without_order
from core.prediction.bounds import possible_leaves
from core.prediction.routing import MissingPolicy, leaves_reached, predict
from core.rules.extraction import path_rules, rule_text
from core.splits.split import SplitKind
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget, NumberTarget, Task
from core.tree.conditions import branch_condition, holds, says
from core.tree.tree import full_view
from tests.core.both_engines import grow
from tests.core.building import samples_of, table_of
from tests.core.chaid_reference import reference_of_numbers, reference_of_table
from tests.examples import examples
from tests.golden_tables import golden_samples

pytestmark = pytest.mark.bounds


def chaid(task=Task.CLASSIFICATION, **options):
    return resolve("chaid", options, task)


def grown(samples, **options):
    algorithm = chaid(samples.target.task, **options)
    samples = with_cuts(samples, algorithm.numeric, numbers_only=True)
    tree, _ = grow(samples, algorithm)
    return tree, samples, algorithm


def root_candidates(samples, **options):
    tree, samples, algorithm = grown(samples, **{"alpha": 1.0, **options})
    found = candidates_by_node(full_view(tree), samples, algorithm)
    return {samples.attributes.schema[one.split.column].name: one for one in found.get(0, [])}


SMALL = {"min_samples_split": 2, "min_samples_leaf": 1}


def mixed_samples(seed, n_rows=400, *, numbers=False, holes=0.1):
    """Categories, an ordinal and numbers that the target depends on, with holes that say something too."""
    chance = np.random.default_rng(seed)
    nominal = chance.integers(0, 7, n_rows).astype(np.int32)
    ordinal = chance.integers(0, 5, n_rows).astype(np.int32)
    number = np.round(chance.normal(size=n_rows), 2)
    noise = chance.normal(size=n_rows)
    signal = np.isin(nominal, (1, 4, 5)) * 1.5 + (ordinal > 2) + (number > 0.3) * 1.2 + chance.normal(size=n_rows)
    nominal[chance.random(n_rows) < holes * (signal > 1.5)] = -1
    ordinal[chance.random(n_rows) < holes] = -1
    number[chance.random(n_rows) < holes] = np.nan
    schema = Schema(
        (
            Attribute("nominal", Kind.CATEGORICAL, tuple("abcdefgh")),  # h never occurs
            Attribute("ordinal", Kind.ORDINAL, tuple("12345")),
            Attribute("number", Kind.NUMERIC),
            Attribute("noise", Kind.NUMERIC),
        )
    )
    table = Table(schema, (nominal, ordinal, number, noise))
    classes = np.digitize(signal, [1.0, 2.5]).astype(np.int32)
    target = NumberTarget(signal[:, None]) if numbers else ClassTarget(("low", "mid", "high"), classes)
    return Samples(table, target, np.ones(n_rows))


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("options", [{}, {"exhaustive": True}, {"alpha_split": None, "bonferroni": False}])
@pytest.mark.parametrize("missing", ["own_category", "weighted"])
def test_the_root_is_what_the_text_says(numbers, options, missing):
    samples = mixed_samples(3, 300, numbers=numbers)
    found = root_candidates(samples, missing=missing, **options)
    with_bins = with_cuts(samples, chaid(samples.target.task).numeric, numbers_only=True)
    for column, attribute in enumerate(samples.attributes.schema):
        codes, n_codes = with_bins.categories[column], with_bins.n_categories(column)
        present = [code for code in range(n_codes + (missing == "own_category")) if (codes == code).any()]
        has_missing = n_codes in present
        if numbers:
            rows = [samples.target.numbers[codes == code, 0].tolist() for code in present]
            reference = reference_of_numbers(rows, has_order=attribute.has_order, has_missing=has_missing)
        else:
            rows = [np.bincount(samples.target.codes[codes == code], minlength=3) for code in present]
            reference = reference_of_table(rows, "pearson", has_order=attribute.has_order, has_missing=has_missing)
        if options.get("exhaustive"):
            groups = reference.exhaustively(10)
        else:
            groups = reference.merged(0.05, options.get("alpha_split", 0.05), 10)
        if len(groups) < 2:
            assert attribute.name not in found
            continue
        one = found[attribute.name]
        assert one.groups == tuple(tuple(present[v] for v in group) for group in groups)
        p, statistic = reference.test(groups)
        assert one.significance.p_value == pytest.approx(p, rel=1e-7)
        assert one.significance.statistic == pytest.approx(statistic, rel=1e-9)


def test_the_adjusted_p_counts_the_categories_that_rows_have():
    found = root_candidates(mixed_samples(3, 300))
    nominal, number = found["nominal"], found["number"]
    assert len(nominal.split.branch_of) == 9  # eight declared, and missing
    for one, count, c in ((nominal, ways_without_order, 8), (number, ways_with_floating, 11)):
        ways = count(c, len(one.groups))
        assert one.adjusted_p_value == pytest.approx(min(1, ways * one.significance.p_value), rel=1e-9)


def test_the_smallest_adjusted_p_is_taken_and_alpha_stops_growth():
    samples = mixed_samples(5)
    tree, prepared, algorithm = grown(samples)
    candidates = candidates_by_node(full_view(tree), prepared, algorithm)
    for node, found in candidates.items():
        chosen = next(one for one in found if one.split.column == tree.column[node])
        assert chosen.log10_adjusted_p <= min(one.log10_adjusted_p for one in found) + 1e-9
        assert chosen.log10_adjusted_p <= math.log10(0.05)
    noise, _, _ = grown(replace(samples, target=ClassTarget(("a", "b"), np.tile([0, 1], 200).astype(np.int32))))
    assert len(noise) == 1


def test_splits_have_no_gain_and_no_score():
    tree, _, _ = grown(mixed_samples(5))
    assert len(tree) > 3
    assert np.isnan(tree.gain).all()
    assert np.isnan(tree.score).all()


@pytest.mark.parametrize("numbers", [False, True])
def test_children_hold_enough_and_their_rows_are_those_of_their_groups(numbers):
    samples = mixed_samples(8, numbers=numbers)
    tree, prepared, _ = grown(samples, stopping={"min_samples_leaf": 25, "min_samples_split": 60})
    assert len(tree) > 1
    assert (tree.weight >= 25).all()
    assert (tree.weight[tree.size > 1] >= 60).all()
    children = tree.children(0)
    assert tree.weight[children].sum() == pytest.approx(400)
    assert tree.share[children] == pytest.approx(tree.weight[children] / 400)
    branch = tree.split(0).branches(prepared.attributes.columns[tree.column[0]])
    assert np.bincount(branch, minlength=len(children)).tolist() == tree.weight[children].tolist()


def test_missing_goes_to_its_own_branch_where_rows_lacked_the_value():
    colour = ["red"] * 40 + ["blue"] * 40 + [None] * 40
    samples = samples_of({"colour": colour}, ["yes"] * 40 + ["no"] * 40 + ["maybe"] * 40)
    tree, _, _ = grown(samples)
    attribute = samples.attributes.schema[0]
    conditions = [branch_condition(tree.split(0), branch, attribute) for branch in range(3)]
    assert [says(condition, attribute) for condition in conditions] == ["= red", "= blue", "is missing"]
    assert [holds(condition, None) for condition in conditions] == [False, False, True]
    assert leaves_reached(full_view(tree), samples.attributes, MissingPolicy.WEIGHTED)[-1] == [(3, 1.0)]


def test_missing_joins_what_it_is_like():
    colour = ["red"] * 40 + ["blue"] * 40 + [None] * 20
    samples = samples_of({"colour": colour}, ["yes"] * 40 + ["no"] * 60)
    tree, _, _ = grown(samples)
    schema = samples.attributes.schema
    texts = [rule_text(rule, schema, "so") for rule in path_rules(full_view(tree), schema)]
    assert texts == ["if colour = red then so", "if (colour = blue or missing) then so"]


def test_missing_is_routed_by_weight_where_no_row_lacked_the_value():
    samples = samples_of({"colour": ["red"] * 40 + ["blue"] * 60}, ["yes"] * 40 + ["no"] * 60)
    tree, _, _ = grown(samples)
    unknown = table_of({"colour": [None]}, {"colour": samples.attributes.schema[0]})
    assert leaves_reached(full_view(tree), unknown, MissingPolicy.WEIGHTED) == [[(1, 0.4), (2, 0.6)]]


def test_weighted_keeps_missing_out_of_tests_and_sends_it_everywhere():
    colour = ["red"] * 40 + ["blue"] * 40 + [None] * 20
    samples = samples_of({"colour": colour}, ["yes"] * 40 + ["no"] * 60)
    found = root_candidates(samples, missing="weighted")["colour"]
    assert found.groups == ((0,), (1,))
    assert found.known == 0.8
    assert found.significance.statistic == pytest.approx(80.0)
    tree, _, _ = grown(samples, missing="weighted")
    assert tree.weight.tolist() == [100.0, 50.0, 50.0]


def test_a_declared_value_without_rows_joins_the_heaviest_group():
    attribute = Attribute("colour", Kind.CATEGORICAL, ("red", "green", "blue"))
    samples = samples_of({"colour": ["red"] * 40 + ["blue"] * 60}, ["yes"] * 40 + ["no"] * 60)
    table = table_of({"colour": ["red"] * 40 + ["blue"] * 60}, {"colour": attribute})
    samples = replace(samples, attributes=table)
    found = root_candidates(samples)["colour"]
    assert found.groups == ((0,), (2,))
    assert found.split.branch_of == (0, 1, 1, -1)
    assert found.adjusted_p_value == pytest.approx(found.significance.p_value)  # two categories, not three


def test_intervals_without_rows_stay_between_their_neighbours():
    number = np.repeat(np.arange(10.0), 20)
    colour = np.where(np.isin(number, (4.0, 5.0)), "red", "blue")
    target = np.where(colour == "red", "a", np.where(number < 4, "b", "c"))
    samples = samples_of({"number": number.tolist(), "colour": colour.tolist()}, target.tolist())
    tree, _, _ = grown(samples, stopping={"min_samples_leaf": 1, "max_depth": 3}, bonferroni=False)
    splits = [tree.split(node) for node in np.flatnonzero(tree.size > 1)]
    for split in (split for split in splits if split.kind is SplitKind.MERGED_INTERVALS):
        known = split.branch_of[:-1]
        assert list(known) == sorted(known)


@pytest.mark.parametrize("binning", ["equal_count", "equal_width"])
def test_numbers_are_cut_once_on_all_rows_and_ordinals_are_not(binning):
    samples = mixed_samples(2)
    tree, prepared, _ = grown(samples, bins=4, binning=binning)
    assert [None if cuts is None else len(cuts) for cuts in prepared.cuts] == [None, None, 3, 3]
    assert tree.cuts == prepared.cuts
    number = samples.attributes.columns[2]
    if binning == "equal_count":
        assert np.bincount(prepared.categories[2])[:4] / np.count_nonzero(~np.isnan(number)) == pytest.approx(
            [0.25] * 4, abs=0.02
        )
    else:
        assert np.diff(prepared.cuts[2]) == pytest.approx([(np.nanmax(number) - np.nanmin(number)) / 4] * 2)


@examples(12)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(["own_category", "weighted"]))
def test_rules_are_exclusive_and_complete(seed, numbers, missing):
    samples = mixed_samples(seed, 200, numbers=numbers)
    tree, _, _ = grown(samples, missing=missing, stopping=SMALL, alpha=0.5)
    schema, rules = samples.attributes.schema, path_rules(full_view(tree), samples.attributes.schema)
    chance = np.random.default_rng(seed)
    for _ in range(20):
        record = [
            float(chance.normal()) if attribute.is_numeric else int(chance.integers(len(attribute.categories)))
            for attribute in schema
        ]
        satisfied = [rule.leaf for rule in rules if all(holds(c, record[c.column]) for c in rule.conditions)]
        cells = tuple(
            np.array([value], dtype=np.float64 if attribute.is_numeric else np.int32)
            for value, attribute in zip(record, schema, strict=True)
        )
        assert leaves_reached(full_view(tree), Table(schema, cells), MissingPolicy.WEIGHTED) == [[(satisfied[0], 1.0)]]
        assert len(satisfied) == 1


def test_a_missing_value_could_be_anything_though_it_has_a_branch():
    colour = ["red"] * 40 + ["blue"] * 40 + [None] * 40
    samples = samples_of({"colour": colour}, ["yes"] * 40 + ["no"] * 40 + ["maybe"] * 40)
    tree, _, _ = grown(samples)
    assert possible_leaves(full_view(tree), samples.attributes, 119) == [1, 2]


def test_known_numbers_against_missing_ones():
    number = [*np.arange(60.0).tolist(), *[None] * 40]
    samples = samples_of({"number": number}, ["yes", "no"] * 30 + ["no"] * 40)
    tree, prepared, _ = grown(samples)
    attribute = samples.attributes.schema[0]
    conditions = [branch_condition(tree.split(0), branch, attribute) for branch in range(2)]
    assert [says(condition, attribute) for condition in conditions] == ["is known", "is missing"]
    assert possible_leaves(full_view(tree), prepared.attributes, 99) == [1]


def test_every_engine_and_any_number_of_threads_grow_the_same_tree():
    algorithm = chaid()
    samples = with_cuts(mixed_samples(4, 900), algorithm.numeric, numbers_only=True)
    first, _ = grow_with(Engine.DEFINITION, samples, algorithm, validation=None, seed=0)
    for engine, threads in ((Engine.KERNELS, 1), (Engine.KERNELS, 4), (Engine.AUTO, 2)):
        again, _ = grow_with(engine, samples, algorithm, validation=None, seed=0, threads=threads)
        assert all(
            getattr(again, name).tobytes() == getattr(first, name).tobytes()
            for name in ("size", "column", "branch_of", "share", "weight", "values")
        )


def test_sample_weights_count_as_numbers_of_rows():
    once = mixed_samples(6, 300, holes=0.0)
    twice = replace(once, weights=np.full(300, 2.0))
    rows = np.repeat(np.arange(300), 2)
    copied = Samples(once.attributes.take(rows), once.target.take(rows), np.ones(600))
    trees = [grown(samples)[0] for samples in (twice, copied)]
    assert trees[0].size.tolist() == trees[1].size.tolist()
    assert trees[0].branch_of.tolist() == trees[1].branch_of.tolist()


def test_watermelons():
    # 纹理: 清晰 7:2, 稍糊 1:4, 模糊 0:3 of 是:否. 稍糊 and 模糊 differ least (p 0.41) and merge.
    found = root_candidates(golden_samples("watermelon_2.0"), stopping=SMALL)["纹理"]
    assert found.groups == ((0,), (1, 2))
    assert found.significance.statistic == pytest.approx(17 * (7 * 7 - 1 * 2) ** 2 / (8 * 9 * 9 * 8))
    assert found.significance.degrees_of_freedom == (1.0,)
    assert found.adjusted_p_value == pytest.approx(3 * found.significance.p_value)


def test_predictions_are_shares_of_the_leaves():
    samples = mixed_samples(9)
    tree, prepared, _ = grown(samples)
    answers = predict(full_view(tree), prepared.attributes)
    assert answers.sum(axis=1) == pytest.approx(np.ones(400))
