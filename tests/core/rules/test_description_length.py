import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rules import description_length
from core.rules.description_length import Coverage, condition_bits, log2_choices, numbers_of_values, shortest_subset
from core.tables.schema import Attribute, Kind
from core.tree.conditions import Above, AtMost, Between, IsOneOf
from tests.core.building import table_of
from tests.examples import examples

KINDS = {"size": Attribute("size", Kind.ORDINAL, ("S", "M", "L", "XL"))}
TABLE = table_of({"a": list("uvwu"), "n": [1, 2, 3, None], "size": ["S", "M", "L", "XL"]}, KINDS)


@pytest.mark.parametrize(
    ("conditions", "bits"),
    [
        ([IsOneOf(0, (1,))], math.log2(3) + math.log2(3)),
        ([IsOneOf(0, (0, 1))], math.log2(3) + math.log2(3) + math.log2(3)),
        ([AtMost(1, 1.5)], math.log2(3) + 1 + math.log2(2)),
        ([Between(1, 1.5, 2.5)], math.log2(3) + 2 * (1 + math.log2(2))),
        ([IsOneOf(2, (0, 1))], math.log2(3) + 1 + math.log2(3)),
        ([IsOneOf(2, (1, 2))], math.log2(3) + 2 * (1 + math.log2(3))),
        ([IsOneOf(0, (1,)), Above(1, 1.5)], 2 * math.log2(3) + math.log2(3) + 1 + math.log2(2) - math.log2(2)),
    ],
)
def test_bits_of_a_rule(conditions, bits):
    assert condition_bits(conditions, TABLE.schema, numbers_of_values(TABLE)) == pytest.approx(bits)


@given(st.integers(0, 200), st.data())
def test_choices_are_binomial_coefficients(n, data):
    k = data.draw(st.integers(0, n))
    found = float(log2_choices(np.array(float(n)), np.array(float(k))))
    assert found == pytest.approx(math.log2(math.comb(n, k)), abs=1e-9)


def bits_of(of: Coverage, chosen: tuple[int, ...]) -> float:
    """The formula, for whole weights."""
    is_covered = of.covers[list(chosen)].any(axis=0)
    right, wrong = int(of.right[is_covered].sum()), int(of.wrong[is_covered].sum())
    missed, rest = int(of.right[~is_covered].sum()), int(of.wrong[~is_covered].sum())
    theory = of.bits[list(chosen)].sum() - math.log2(math.factorial(len(chosen)))
    return theory / 2 + math.log2(math.comb(right + wrong, wrong)) + math.log2(math.comb(missed + rest, missed))


def coverage(seed: int, n_rules: int) -> Coverage:
    chance = np.random.default_rng(seed)
    is_right = chance.random(60) < 0.5
    covers = chance.random((n_rules, 60)) < np.where(is_right, 0.4, chance.choice([0.02, 0.2], (n_rules, 1)))
    return Coverage(covers, chance.uniform(2, 20, n_rules), is_right * 1.0, ~is_right * 1.0)


@examples(30)
@given(st.integers(0, 2**32), st.integers(1, 7))
def test_of_few_rules_every_subset_is_looked_at(seed, n_rules):
    of = coverage(seed, n_rules)
    every = [chosen for size in range(n_rules + 1) for chosen in combinations(range(n_rules), size)]
    fewest = min(bits_of(of, chosen) for chosen in every)
    assert bits_of(of, tuple(shortest_subset(of))) == pytest.approx(fewest)


def test_of_many_rules_hardly_any_set_is_shorter_than_the_one_found(monkeypatch):
    gaps = []
    for seed in range(60):
        of = coverage(seed, 8)
        best = bits_of(of, tuple(shortest_subset(of)))
        with monkeypatch.context() as patch:
            patch.setattr(description_length, "FEW_RULES", 0)
            gaps.append(bits_of(of, tuple(shortest_subset(of))) - best)
    assert min(gaps) > -1e-9
    assert np.mean(np.array(gaps) < 1e-9) > 0.8


def test_rows_that_the_same_rules_cover_count_together():
    of = coverage(1, 12)
    grouped = of.grouped()
    assert grouped.covers.shape[1] < of.covers.shape[1]
    assert (grouped.right.sum(), grouped.wrong.sum()) == (of.right.sum(), of.wrong.sum())
    assert (grouped.covers * grouped.right).sum(axis=1).tolist() == (of.covers * of.right).sum(axis=1).tolist()
