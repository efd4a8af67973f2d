from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.presets import resolve
from core.engine.engine import Engine, grow_with
from core.growth.column_draw import ColumnDraw
from core.growth.precut import with_cuts
from core.methods.chaid import search
from tests.core.both_engines import assert_same_bytes
from tests.core.building import samples_of
from tests.core.methods.chaid.test_chaid import SMALL, mixed_samples
from tests.examples import examples

pytestmark = pytest.mark.bounds

OPTIONS = [
    {},
    {"exhaustive": True},
    {"alpha_split": None, "bonferroni": False},
    {"alpha_merge": 0.3, "alpha_split": 0.3},
    {"missing": "weighted"},
]


def both(samples, options, **further):
    """The trees of the definition and of kernels; some of both."""
    algorithm = resolve("chaid", {"stopping": SMALL, "alpha": 0.5, **options}, samples.target.task)
    samples = with_cuts(samples, algorithm.numeric, numbers_only=True)
    return [
        grow_with(engine, samples, algorithm, **{"validation": None, "seed": 3, **further})[0]
        for engine in (Engine.DEFINITION, Engine.KERNELS)
    ]


@examples(20)
@given(st.integers(0, 10_000), st.booleans(), st.booleans(), st.sampled_from(OPTIONS), st.sampled_from([0.0, 0.2]))
def test_trees_are_those_of_the_definition(seed, numbers, weighted, options, holes):
    samples = mixed_samples(seed, 250, numbers=numbers, holes=holes)
    if weighted:
        samples = replace(samples, weights=np.random.default_rng(seed).uniform(0.3, 3.0, 250))
    assert_same_bytes(*both(samples, options))


@pytest.mark.parametrize("seed", range(5))
def test_trees_by_likelihood_ratios_are_those_of_the_definition(seed):
    first, second = both(mixed_samples(seed), {"statistic": "likelihood_ratio"})
    assert len(first) > 10
    assert_same_bytes(first, second)


@pytest.mark.parametrize("numbers", [False, True])
def test_trees_of_drawn_columns_are_those_of_the_definition(numbers):
    first, second = both(mixed_samples(2, numbers=numbers), {}, draw=ColumnDraw((0, 1, 3), 1))
    assert len(first) > 10
    assert_same_bytes(first, second)


def test_splits_tried_on_rows_kept_aside_are_those_of_the_definition():
    samples, validation = mixed_samples(2), mixed_samples(3, 100)
    first, second = both(samples, {"stopping": {**SMALL, "validate_splits": True}}, validation=validation)
    assert len(first) > 1
    assert_same_bytes(first, second)


def test_what_kernels_are_in_doubt_of_is_left_to_the_definition(monkeypatch):
    asked, definition = [], search.candidate

    def counted(samples, node, column, algorithm):
        asked.append(column)
        return definition(samples, node, column, algorithm)

    monkeypatch.setattr(search, "candidate", counted)
    # Two colours that say the same of the target: their p is 1, and so is the limit.
    samples = samples_of({"colour": ["red", "blue"] * 30, "size": ["s"] * 30 + ["l"] * 30}, ["yes"] * 30 + ["no"] * 30)
    assert_same_bytes(*both(samples, {"alpha_merge": 1.0, "alpha_split": None}))
    assert asked == [0]
