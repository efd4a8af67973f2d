"""Rules that many trees found, judged by rows those have not seen."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import binomtest

from core.config.options import Committee, FeatureShare
from core.engine.engine import Engine
from core.ensembles.growing import grow_committee
from core.ensembles.insight.importance import out_of_bags
from core.ensembles.insight.recurring_rules import DEEPEST, canonical, cells_of, nearest, occurrences
from core.ensembles.insight.rules import FEWEST_TREES, covered_by, strongest_rules
from core.rules.extraction import rule_text
from core.tree.conditions import Above, AtMost, Between, IsOneOf
from tests.core.building import c45, cart, cart_for_numbers, samples_of

pytestmark = pytest.mark.slow

N_ROWS = 240


def rows(seed=0, target=None):
    """High where x is above 1 and the colour is red, but for one row in ten; y tells nothing."""
    chance = np.random.default_rng(seed)
    x, y = chance.normal(size=N_ROWS) * 2, chance.normal(size=N_ROWS)
    colours = chance.choice(["red", "blue"], N_ROWS)
    is_high = ((x > 1) & (colours == "red")) ^ (chance.random(N_ROWS) < 0.1)
    answers = ["high" if one else "low" for one in is_high] if target is None else target(is_high, chance)
    columns = {"x": x.tolist(), "y": y.tolist(), "colour": colours.tolist()}
    return samples_of(columns, answers, classes=("low", "high"))


ALGORITHMS = {"cart": cart(max_depth=4), "c45": c45(max_depth=3), "numbers": cart_for_numbers(max_depth=4)}


@cache
def grown(kind="cart"):
    """Rows, a forest of them, and which of them its trees have not seen."""
    samples = rows(target=some_numbers if kind == "numbers" else None)
    committee = Committee("random_forest", (ALGORITHMS[kind],), n_trees=15, max_features=2)
    forest = grow_committee(samples, committee, seed=0, engine=Engine.DEFINITION)
    return samples, forest, out_of_bags(committee, N_ROWS, seed=0)


def some_numbers(is_high, chance):
    return (5.0 * is_high + chance.normal(size=N_ROWS)).tolist()


def rules_of(kind="cart", **options):
    samples, forest, unseen = grown(kind)
    return strongest_rules(forest, samples, unseen, **options)


def test_the_strongest_rule_is_the_one_that_made_the_rows():
    samples, _, _ = grown()
    strongest = rules_of()[0]
    assert samples.target.classes[strongest.rule.label] == "high"
    (x, colour) = strongest.rule.conditions
    assert isinstance(x, Above)
    assert x.threshold == pytest.approx(1.0, abs=0.7)
    assert colour == IsOneOf(2, (samples.attributes.schema[2].categories.index("red"),))
    assert strongest.confidence > 0.75
    assert strongest.n_trees > 3
    text = rule_text(strongest.rule, samples.attributes.schema, "high")
    assert text.startswith("if ")
    assert "colour = red" in text


@pytest.mark.parametrize("kind", ["cart", "c45"])
def test_figures_are_those_of_the_rows(kind):
    (samples, forest, unseen), found = grown(kind), rules_of(kind)
    trees_of = occurrences(forest, samples.attributes.schema, cells_of(samples))
    assert len(found) > 3
    n_checked = 0
    for one in found:
        covered = covered_by(one.rule.conditions, samples.attributes)
        trees = list(trees_of[one.rule.conditions])
        right = samples.target.codes == one.rule.label
        n_unseen = sum((unseen[tree] & covered).sum() for tree in trees)
        n_right = sum((unseen[tree] & covered & right).sum() for tree in trees)
        assert one.n_trees == len(trees)
        assert one.rule.support == covered.mean()
        assert one.rule.weights[one.rule.label] == (covered & right).sum()
        assert one.unseen_weight == n_unseen
        assert one.confidence == pytest.approx(n_right / n_unseen)
        assert one.lift == pytest.approx(one.confidence / right.mean())
        n_rows = (unseen[trees].any(axis=0) & covered).sum()
        least = binomtest(round(one.confidence * n_rows), int(n_rows)).proportion_ci(0.95).low
        if one.confidence * n_rows == pytest.approx(round(one.confidence * n_rows)):
            n_checked += 1
            wanted = one.rule.support * max(0.0, least / right.mean() - 1)
            assert one.strength == pytest.approx(wanted, abs=1e-9)
        assert one.strength > 0 or (one.n_trees >= FEWEST_TREES and one.lift > 1)
        assert len(one.rule.conditions) <= DEEPEST
    strengths = [one.strength for one in found]
    assert strengths == sorted(strengths, reverse=True)
    assert n_checked > 0


def test_no_two_rules_are_of_the_same_rows_and_no_more_are_told_than_asked_for():
    (samples, _, _), found = grown(), rules_of(most=200)
    of_rows = {covered_by(one.rule.conditions, samples.attributes).tobytes() for one in found}
    assert len(of_rows) == len(found)
    assert len({one.rule.id for one in found}) == len(found)
    assert rules_of(most=4) == found[:4]


def test_a_forest_of_noise_has_hardly_a_strong_rule():
    chance = np.random.default_rng(0)
    noise = samples_of({"x": chance.normal(size=200).tolist()}, chance.choice(["a", "b"], 200).tolist())
    committee = Committee("random_forest", (cart(max_depth=2),), n_trees=15, max_features=FeatureShare.ALL)
    forest = grow_committee(noise, committee, seed=0, engine=Engine.DEFINITION)
    found = strongest_rules(forest, noise, out_of_bags(committee, 200, seed=0))
    assert all(one.strength < 0.15 for one in found)
    assert rules_of()[0].strength > 0.25


def test_rules_for_numbers_tell_means_of_rows_out_of_the_bag():
    (samples, _, _), strongest = grown("numbers"), rules_of("numbers")[0]
    assert strongest.rule.label is None
    assert strongest.confidence is None
    assert strongest.lift is None
    covered = covered_by(strongest.rule.conditions, samples.attributes)
    numbers = samples.target.numbers[:, 0]
    assert strongest.means[0] == pytest.approx(numbers[covered].mean(), abs=0.5)
    most = covered.mean() * abs(strongest.means[0] - numbers.mean()) / numbers.std()
    assert most / 2 < strongest.strength < most


def test_rows_without_anything_out_of_the_bag_give_no_rules():
    samples, forest, unseen = grown()
    assert strongest_rules(forest, samples, np.zeros_like(unseen)) == []


def test_thresholds_are_moved_and_conditions_stand_by_column():
    cells = (np.array([1.0, 2.0, 4.0]), np.array([]))
    found = canonical([AtMost(1, 0.3), Above(0, 2.9)], cells)
    assert found == (Above(0, 2.0), AtMost(1, 0.3))
    assert canonical([Between(0, 1.2, 3.9)], cells) == (Between(0, 1.0, 4.0),)
    assert canonical([Between(0, 1.2, 1.4)], cells) is None
    assert [nearest(cells[0], at) for at in (-9.0, 1.5, 1.6, 3.0, 99.0)] == [1.0, 1.0, 2.0, 2.0, 4.0]


def test_cells_are_quantiles_of_known_numbers():
    samples = samples_of({"x": [None, *map(float, range(100))], "c": ["u", "v"] * 50 + ["u"]}, ["a", "b"] * 50 + ["a"])
    numbers, categories = cells_of(samples)
    assert numbers.tolist() == [10.0 * step - 0.5 for step in range(1, 10)]
    assert len(categories) == 0
