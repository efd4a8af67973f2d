"""Classes of very different size made more alike, in the rows that one tree is grown from and nowhere else.

A class is as large as it has rows in the tree's sample, each counted as often as it was drawn; weights do not matter.
Classes without rows there stay without. Every draw is keyed by the seed, the tree and the class.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

import numpy as np

from core.arithmetic.arrays import CodeArray, RowArray
from core.arithmetic.randomness import fractions, shuffled, stream
from core.config.options import (
    ClusterUndersample,
    Imbalance,
    Interpolate,
    MajorityParts,
    Oversample,
    Smote,
    Undersample,
)
from core.ensembles.balance.clusters import representatives
from core.ensembles.balance.synthetic import between_any, between_neighbours, drawn_by, near_rows, new_rows
from core.growth.samples import Samples
from core.tables.table import Table
from core.tables.target import ClassTarget

Balanced = tuple[RowArray, Samples | None]


def balanced(
    samples: Samples, counts: RowArray, imbalance: Imbalance, *, seed: int, tree: int, kernels: bool = False
) -> Balanced:
    """How often each row is in the sample of a tree, and the rows made for it, if any.

    `counts[row]` is how often it was drawn. Rows that were not drawn stay out, and nothing is made from them.
    """
    match imbalance:
        case Undersample(ratio):
            return undersampled(samples, counts, ratio, seed=seed, tree=tree), None
        case MajorityParts(n_parts):
            return one_part(samples, counts, n_parts, seed=seed, tree=tree), None
        case ClusterUndersample(ratio):
            return by_clusters(samples, counts, ratio, seed=seed, tree=tree, kernels=kernels), None
        case Oversample(ratio):
            return oversampled(samples, counts, ratio, seed=seed, tree=tree), None
        case Interpolate() | Smote():
            return counts, made_rows(samples, counts, imbalance, seed=seed, tree=tree, kernels=kernels)
        case _:
            assert_never(imbalance)


def undersampled(samples: Samples, counts: RowArray, ratio: float, *, seed: int, tree: int) -> RowArray:
    """Draw from every class at most `ratio` times as many rows as the smallest has, and at least one."""
    found = counts.copy()
    for code, rows, most in _too_large(samples, counts, ratio):
        drawn = shuffled(np.repeat(rows, counts[rows]), _bits(seed, tree, f"rows of class {code} to keep"))[:most]
        found[rows] = np.bincount(drawn, minlength=len(counts))[rows]
    return found


def by_clusters(samples: Samples, counts: RowArray, ratio: float, *, seed: int, tree: int, kernels: bool) -> RowArray:
    """Keep as many rows of every class as `undersampled`, but those nearest to the centres of clusters, each once.

    All rows of a class where fewer different ones were drawn.
    """
    found = counts.copy()
    for code, rows, most in _too_large(samples, counts, ratio):
        bits = _bits(seed, tree, f"clusters of class {code}")
        table, n = samples.attributes.take(rows), min(most, len(rows))
        found[rows] = 0
        found[rows[representatives(table, counts[rows], n, bits, kernels=kernels)]] = 1
    return found


def one_part(samples: Samples, counts: RowArray, n_parts: int | None, *, seed: int, tree: int) -> RowArray:
    """One part of the most frequent class, and all rows of the others; tree t takes part t mod n.

    The parts are the same for all trees: the rows of the class are dealt out to them at random, whether drawn or not.
    A tree that would be left without any rows keeps its own.
    """
    codes, sizes = _codes(samples), np.bincount(_codes(samples), minlength=1)
    majority = int(np.argmax(sizes))
    rows = np.flatnonzero(codes == majority)
    n = min(n_parts or parts_needed(sizes), len(rows))
    dealt = shuffled(rows, stream(seed, "parts of the most frequent class"))
    found = counts.copy()
    found[rows] = 0
    mine = dealt[tree % n :: n]
    found[mine] = counts[mine]
    return found if found.any() else counts


def parts_needed(sizes: RowArray) -> int:
    """How many parts of the largest class are each about as large as the next one; 1 where there is no other."""
    ascending = np.sort(sizes)
    if len(ascending) < 2 or ascending[-2] == 0:
        return 1
    return max(1, round(int(ascending[-1]) / int(ascending[-2])))


def oversampled(samples: Samples, counts: RowArray, ratio: float, *, seed: int, tree: int) -> RowArray:
    """Repeat rows of every class at random until it has `ratio` times as many as the largest, if it has fewer."""
    found = counts.copy()
    for code, rows, lacking in _too_small(samples, counts, ratio):
        drawn = drawn_by(counts[rows], fractions(_bits(seed, tree, f"rows of class {code} to repeat"), lacking))
        found[rows] += np.bincount(drawn, minlength=len(rows))
    return found


def made_rows(
    samples: Samples, counts: RowArray, way: Interpolate | Smote, *, seed: int, tree: int, kernels: bool
) -> Samples | None:
    """New rows of every class, as many as `oversampled` repeats; each weighs as much as its first row."""
    made = []
    for code, rows, lacking in _too_small(samples, counts, way.ratio):
        table, times, bits = samples.attributes.take(rows), counts[rows], _bits(seed, tree, f"new rows of class {code}")
        neighbours = near_rows(table, way.neighbours, kernels=kernels) if isinstance(way, Smote) else None
        if neighbours is None:
            between = between_any(times, lacking, bits)
        else:
            between = between_neighbours(times, neighbours, lacking, bits)
        target = samples.target.take(rows[between.rows])
        weights = samples.weights[rows[between.rows]]
        made.append(replace(samples, attributes=new_rows(table, between, neighbours), target=target, weights=weights))
    return joined(made) if made else None


def joined(parts: list[Samples]) -> Samples:
    """The samples of all parts, one after the other; those of one table and one class target."""
    tables, targets = [part.attributes for part in parts], [_class_target(part) for part in parts]
    columns = zip(*(table.columns for table in tables), strict=True)
    return replace(
        parts[0],
        attributes=Table(tables[0].schema, tuple(np.concatenate(cells) for cells in columns)),
        target=replace(targets[0], codes=np.concatenate([target.codes for target in targets])),
        weights=np.concatenate([part.weights for part in parts]),
    )


def _too_large(samples: Samples, counts: RowArray, ratio: float) -> Iterator[tuple[int, RowArray, int]]:
    """Every class that has too many rows: its code, the rows drawn of it, and how many it may have."""
    sizes = _sizes(samples, counts)
    most = max(1, math.floor(ratio * sizes[sizes > 0].min()))
    for code in np.flatnonzero(sizes > most).tolist():
        yield code, _drawn_of(samples, counts, code), most


def _too_small(samples: Samples, counts: RowArray, ratio: float) -> Iterator[tuple[int, RowArray, int]]:
    """Every class that has some rows, but too few: its code, the rows drawn of it, and how many it lacks."""
    sizes = _sizes(samples, counts)
    wanted = math.floor(ratio * sizes.max())
    for code in np.flatnonzero((sizes > 0) & (sizes < wanted)).tolist():
        yield code, _drawn_of(samples, counts, code), wanted - int(sizes[code])


def _sizes(samples: Samples, counts: RowArray) -> RowArray:
    """`[class]`: how many rows of it were drawn; repeats count."""
    return np.bincount(np.repeat(_codes(samples), counts), minlength=1)


def _drawn_of(samples: Samples, counts: RowArray, code: int) -> RowArray:
    return np.flatnonzero((_codes(samples) == code) & (counts > 0))


def _codes(samples: Samples) -> CodeArray:
    return _class_target(samples).codes


def _class_target(samples: Samples) -> ClassTarget:
    assert isinstance(samples.target, ClassTarget)
    return samples.target


def _bits(seed: int, tree: int, purpose: str) -> np.random.PCG64:
    return stream(seed, f"{purpose} for tree {tree}")
