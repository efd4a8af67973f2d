"""Classes made more alike, in the rows of a tree and nowhere else."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import (
    ClusterUndersample,
    Committee,
    Interpolate,
    MajorityParts,
    Oversample,
    Smote,
    Undersample,
)
from core.ensembles.balance.imbalance import balanced, parts_needed
from core.ensembles.sampling import out_of_bag, times_drawn, tree_samples
from core.tables.target import Task
from tests.core.building import cart, samples_of
from tests.core.strategies import samples as any_samples

pytestmark = pytest.mark.bounds

EVERY = (
    Undersample(), Undersample(2.5), MajorityParts(), MajorityParts(3), ClusterUndersample(), ClusterUndersample(1.5),
    Oversample(), Oversample(0.5), Interpolate(), Smote(), Smote(0.7, neighbours=2),
)  # fmt: skip


def rows_of(**sizes):
    """As many rows of each class, with a number that is the row's own and a colour."""
    target = [name for name, size in sizes.items() for _ in range(size)]
    colours = ["red", "blue", "green"] * len(target)
    return samples_of({"x": [float(row) for row in range(len(target))], "c": colours[: len(target)]}, target)


def committee(imbalance, **options):
    return Committee("bagging", (cart(),), imbalance=imbalance, **options)


def sizes_of(samples, imbalance, tree=0, **options):
    """How many rows of each class a tree has; rows are told by weights, which all are 1 at first."""
    drawn = tree_samples(samples, committee(imbalance, **options), seed=0, tree=tree)
    by_class = np.bincount(drawn.target.codes, drawn.weights, minlength=len(samples.target.classes))
    return dict(zip(samples.target.classes, by_class.tolist(), strict=True))


@pytest.mark.parametrize(
    ("imbalance", "wanted"),
    [
        (Undersample(), {"a": 10, "b": 10, "c": 10}),
        (Undersample(2.5), {"a": 25, "b": 25, "c": 10}),
        (Undersample(4), {"a": 40, "b": 30, "c": 10}),
        (ClusterUndersample(), {"a": 10, "b": 10, "c": 10}),
        (ClusterUndersample(2.5), {"a": 25, "b": 25, "c": 10}),
        (MajorityParts(), {"a": 30, "b": 30, "c": 10}),  # as large as the next class: 2 parts of 30
        (MajorityParts(6), {"a": 10, "b": 30, "c": 10}),
        (Oversample(), {"a": 60, "b": 60, "c": 60}),
        (Oversample(0.5), {"a": 60, "b": 30, "c": 30}),
        (Interpolate(), {"a": 60, "b": 60, "c": 60}),
        (Interpolate(0.6), {"a": 60, "b": 36, "c": 36}),
        (Smote(), {"a": 60, "b": 60, "c": 60}),
        (Smote(0.25), {"a": 60, "b": 30, "c": 15}),
    ],
)
def test_how_many_rows_each_class_has(imbalance, wanted):
    assert sizes_of(rows_of(a=60, b=30, c=10), imbalance, bootstrap=False) == wanted


def test_parts_make_up_the_majority_and_take_turns():
    samples = rows_of(a=50, b=10)
    parts = [tree_samples(samples, committee(MajorityParts(), bootstrap=False), seed=5, tree=tree) for tree in range(6)]
    numbers = [part.attributes.columns[0][part.target.codes == 0].tolist() for part in parts]
    assert sorted(number for part in numbers[:5] for number in part) == [float(row) for row in range(50)]
    assert numbers[5] == numbers[0]
    assert all((part.target.codes == 1).sum() == 10 for part in parts)


@pytest.mark.parametrize(("sizes", "wanted"), [([50, 10], 5), ([10, 26, 5], 3), ([7], 1), ([0, 9], 1), ([4, 4], 1)])
def test_how_many_parts_there_are(sizes, wanted):
    assert parts_needed(np.array(sizes)) == wanted


@pytest.mark.parametrize("imbalance", EVERY)
def test_nothing_is_seen_or_made_of_rows_that_were_not_drawn(imbalance):
    samples = rows_of(a=60, b=30, c=10)
    # What only rows out of the bag have would show.
    for tree in range(5):
        outside = out_of_bag(committee(imbalance), 100, seed=3, tree=tree)
        marked = np.where(outside, 1e6 + samples.attributes.columns[0], samples.attributes.columns[0])
        table = replace(samples.attributes, columns=(marked, samples.attributes.columns[1]))
        drawn = tree_samples(replace(samples, attributes=table), committee(imbalance), seed=3, tree=tree)
        assert drawn.attributes.columns[0].max() < 1e6


@pytest.mark.parametrize("imbalance", EVERY)
def test_new_rows_lie_between_rows_of_their_class(imbalance):
    samples = rows_of(a=60, b=30, c=10)
    drawn = tree_samples(samples, committee(imbalance), seed=1, tree=2)
    for number, code in zip(drawn.attributes.columns[0].tolist(), drawn.target.codes.tolist(), strict=True):
        own = samples.attributes.columns[0][samples.target.codes == code]
        assert own.min() <= number <= own.max()


@pytest.mark.parametrize("imbalance", EVERY)
def test_the_draw_depends_on_seed_and_tree_alone(imbalance):
    samples = rows_of(a=60, b=30, c=10)

    def cells(seed, tree):
        drawn = tree_samples(samples, committee(imbalance), seed=seed, tree=tree)
        return [values.tobytes() for values in (*drawn.attributes.columns, drawn.target.codes, drawn.weights)]

    assert cells(1, 2) == cells(1, 2)
    assert cells(1, 2) != cells(1, 3)
    assert cells(1, 2) != cells(2, 2)


def test_undersampling_draws_from_repeats():
    samples = rows_of(a=3, b=2)
    counts = np.array([5, 0, 1, 1, 1])
    found = [tuple(balanced(samples, counts, Undersample(), seed=0, tree=tree)[0].tolist()) for tree in range(300)]
    assert {one[1] for one in found} == {0}
    assert {one[3:] for one in found} == {(1, 1)}
    share = Counter(one[:3] for one in found)
    assert set(share) == {(2, 0, 0), (1, 0, 1)}
    assert share[(2, 0, 0)] / 300 == pytest.approx(10 / 15, abs=0.1)


def test_a_class_without_rows_stays_without():
    samples = samples_of({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"], classes=("a", "b", "c"))
    for imbalance in EVERY:
        assert sizes_of(samples, imbalance, bootstrap=False)["c"] == 0


def test_new_rows_weigh_as_those_they_begin_at():
    samples = replace(rows_of(a=6, b=2), weights=np.array([1.0] * 6 + [0.25] * 2))
    _, made = balanced(samples, np.ones(8, dtype=np.int64), Interpolate(), seed=0, tree=0)
    assert made.weights.tolist() == [0.25] * 4


def test_one_class_alone_is_left_as_it_is():
    samples = rows_of(a=7)
    for imbalance in EVERY:
        if not isinstance(imbalance, MajorityParts):
            assert sizes_of(samples, imbalance, bootstrap=False) == {"a": 7}
    assert all(sizes_of(samples, MajorityParts(100), tree=tree)["a"] >= 1 for tree in range(20))


@given(any_samples(task=Task.CLASSIFICATION, min_rows=2), st.sampled_from(EVERY), st.integers(0, 50))
def test_any_table_gives_a_tree_its_rows_by_either_engine(samples, imbalance, seed):
    of = committee(imbalance)
    by_definition, by_kernels = (
        tree_samples(samples, of, seed=seed, tree=1, kernels=kernels) for kernels in (False, True)
    )
    for one, other in zip(by_definition.attributes.columns, by_kernels.attributes.columns, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()
    assert len(by_definition) > 0
    assert (by_definition.weights > 0).all()
    drawn = np.bincount(samples.target.codes, times_drawn(of, len(samples), seed=seed, tree=1) > 0)
    assert set(by_definition.target.codes.tolist()) <= set(np.flatnonzero(drawn).tolist())
    for values, attribute in zip(by_definition.attributes.columns, samples.attributes.schema, strict=True):
        if not attribute.is_numeric:
            assert values.max() < len(attribute.categories)
