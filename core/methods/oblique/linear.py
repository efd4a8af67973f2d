"""Linear tests: a direction learnt on the samples of a node, and the cut across it that gains most.

Numbers are standardised with the samples' weights, so that units do not matter; a category is 1 or 0. For each class k
against the others, y = 1 if a sample is of class k:

    least squares   (S + r I) w = cov(x, y)     S is the covariance of x: the direction of Fisher's linear discriminant
    logistic        a few Newton steps towards the w that maximises the log-likelihood of y, less r |w|^2 / 2
    OC1             from least squares on: move one coefficient at a time to where the gain is largest, trying every
                    point where a sample changes sides; then try steps in random directions

The class direction of largest gain is chosen. Features that add nothing to the gain are dropped, the smallest weight
first. Murthy, Kasif and Salzberg 1994 (OC1).

Which side a sample is on may depend on the last bit of its sum. So every sum runs in a fixed order over the samples or
the features, and this module and `methods.oblique.kernels.linear` find the same directions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.powers import exp
from core.arithmetic.randomness import key_of, uniform
from core.arithmetic.sums import in_row_order, sums_by, weights_by
from core.arithmetic.ties import TIE, first_within_tie
from core.config.options import LinearFit
from core.criteria.objective import Objective
from core.splits.numeric import NO_GAIN, best_cut

RIDGE = 1e-6  # columns may be collinear
LOGISTIC_RIDGE = 1e-2  # classes may be separable, and the likelihood then has no maximum
NEWTON_STEPS = 8
FARTHEST = 30.0  # log odds are clipped here; beyond, the probability hardly changes
MOST_CLASSES = 20  # classes tried against the others, the heaviest first
MOST_SWEEPS = 10
JUMPS = 20
DIGITS = 6  # of a weight; further ones mean nothing, and depend on the last bits of sums
SMALLEST = 1e-300
POWERS_OF_TEN = np.array([float(f"1e{exponent}") for exponent in range(309)])


@dataclass(frozen=True)
class Scene:
    """What a direction is learnt on: `x[sample, feature]`, standardised, and the samples' class weights and weights."""

    x: FloatArray
    sums: FloatArray
    weights: FloatArray
    objective: Objective
    min_weight: float

    @cached_property
    def largest_gain(self) -> float:
        """The gain of a test with pure branches, which is the largest possible."""
        return float(self.objective.impurity(in_row_order(self.sums)))

    @cached_property
    def weight(self) -> float:
        """The weight of all samples."""
        return float(in_row_order(self.weights))

    def only(self, features: Sequence[int]) -> "Scene":
        """The scene with these features only."""
        return replace(self, x=self.x[:, list(features)])

    def cut(self, direction: FloatArray) -> tuple[float, float]:
        """The gain of the best cut across a direction, and its threshold; -1 and 0 if there is no valid cut."""
        along = sums_along(self.x, direction)
        found = best_cut(along, self.sums, self.weights, self.objective, min_weight=self.min_weight)
        if found is None:
            return NO_GAIN, 0.0
        return self.gain(along - found.threshold), found.threshold

    def gain(self, sides: FloatArray) -> float:
        """The gain of the split into samples above 0 and the others."""
        is_above = sides > 0
        branches = np.stack([self.sums[~is_above].sum(axis=0), self.sums[is_above].sum(axis=0)])
        weights = np.array([self.weights[~is_above].sum(), self.weights[is_above].sum()])
        return float(self.objective.decrease(branches, weights)) if weights.min() > 0 else NO_GAIN


def direction(scene: Scene, fit: LinearFit, max_terms: int | None, key: int) -> FloatArray | None:
    """The weight of each feature, 0 if it is left out; None if no direction splits the samples."""
    learn = logistic if fit is LinearFit.LOGISTIC else least_squares
    starts = [(label, learn(scene, label)) for label in labels_tried(scene.sums)]
    gains = np.array([scene.cut(start)[0] for _, start in starts])
    label, start = starts[first_within_tie(gains)]
    if gains.max() == NO_GAIN:
        return None
    features = list(range(scene.x.shape[1]))
    while max_terms is not None and len(features) > max_terms:
        features.pop(int(np.argmin(np.abs(start))))
        start = learn(scene.only(features), label)
    left = scene.only(features)
    if fit is LinearFit.OC1:
        start = refined(left, start, key)
    weights = np.zeros(scene.x.shape[1])
    weights[features] = without_useless(left, start)
    return weights if weights.any() else None


def sums_along(x: FloatArray, direction: FloatArray) -> FloatArray:
    """Each sample's weighted sum, added up feature by feature."""
    return in_row_order((x * direction).T)


def labels_tried(sums: FloatArray) -> list[int]:
    """The classes that are tried against the others; of two, only one."""
    by_class = in_row_order(sums)
    heaviest = np.argsort(-by_class, kind="stable")[: min(MOST_CLASSES, int((by_class > 0).sum()))]
    return [int(heaviest.max())] if len(heaviest) == 2 else sorted(heaviest.tolist())


def least_squares(scene: Scene, label: int) -> FloatArray:
    """The direction that separates a class from the others by least squares."""
    mean = in_row_order(scene.sums[:, label]) / scene.weight
    y = scene.sums[:, label] - scene.weights * mean
    covariance = products(scene.x, scene.weights) / scene.weight
    return solved(covariance + RIDGE * np.eye(len(covariance)), in_row_order(scene.x * y[:, None]) / scene.weight)


def logistic(scene: Scene, label: int) -> FloatArray:
    """The direction of a class's log odds."""
    x = np.column_stack([scene.x, np.ones(len(scene.x))])
    ridge = LOGISTIC_RIDGE * np.append(np.ones(x.shape[1] - 1), 0.0)
    w = np.zeros(x.shape[1])
    for _ in range(NEWTON_STEPS):
        likely = np.array([logistic_function(odds) for odds in sums_along(x, w).tolist()])
        slope = in_row_order(x * (scene.sums[:, label] - scene.weights * likely)[:, None]) / scene.weight - ridge * w
        bend = products(x, scene.weights * likely * (1 - likely)) / scene.weight
        w = w + solved(bend + np.diag(ridge + RIDGE), slope)
    return w[:-1]


def logistic_function(odds: float) -> float:
    """1 / (1 + exp(-odds)) of the log odds."""
    return 1.0 / (1.0 + exp(-min(max(odds, -FARTHEST), FARTHEST)))


def products(x: FloatArray, weights: FloatArray) -> FloatArray:
    """`[i, j]`: the sum over the samples of weight times feature i times feature j."""
    weighted = x * weights[:, None]
    return np.stack([in_row_order(weighted[:, [i]] * x) for i in range(x.shape[1])])


def solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve matrix w = right by elimination; the matrix is symmetric and positive definite.

    So no pivoting is needed, and only the upper triangle is read.
    """
    left, w = matrix.copy(), right.copy()
    for k in range(len(w) - 1):
        factors = left[k, k + 1 :] / left[k, k]
        left[k + 1 :, k + 1 :] -= np.outer(factors, left[k, k + 1 :])
        w[k + 1 :] -= factors * w[k]
    for k in range(len(w) - 1, -1, -1):
        w[k] /= left[k, k]
        w[:k] -= left[:k, k] * w[k]
    return w


def refined(scene: Scene, start: FloatArray, key: int) -> FloatArray:
    """The direction after OC1's moves: coefficients one by one, then all at once in random directions.

    The threshold is a coefficient too, that of a feature which is -1 for all samples.
    """
    x = np.column_stack([scene.x, np.full(len(scene.x), -1.0)])
    gain, threshold = scene.cut(start)
    position = _descended(scene, x, _Point(np.append(start, threshold), gain))
    for jump in range(JUMPS):
        if position.gain >= scene.largest_gain - TIE:
            break
        draws = key_of(key, jump)
        chance = np.array([2 * uniform(key_of(draws, feature)) - 1 for feature in range(x.shape[1])])
        moved = _stepped(scene, x, position, chance)
        if moved is not position:
            position = _descended(scene, x, moved)
    return position.weights[:-1]


@dataclass(frozen=True)
class _Point:
    """Coefficients, the last being the threshold, and the gain of their test."""

    weights: FloatArray
    gain: float


def _descended(scene: Scene, x: FloatArray, position: _Point) -> _Point:
    """Move one coefficient after the other, in sweeps, until none of them increases the gain."""
    axes = np.eye(x.shape[1])
    for _ in range(MOST_SWEEPS):
        before = position
        for axis in axes:
            if position.gain >= scene.largest_gain - TIE:
                return position
            position = _stepped(scene, x, position, axis)
        if position is before:
            break
    return position


def _stepped(scene: Scene, x: FloatArray, position: _Point, along: FloatArray) -> _Point:
    """The best point in a direction; the given point if none is better."""
    gain, step = best_step(scene, sums_along(x, position.weights), sums_along(x, along))
    return position if gain <= position.gain + TIE else _Point(position.weights + step * along, gain)


def best_step(scene: Scene, sides: FloatArray, slopes: FloatArray) -> tuple[float, float]:
    """The gain and the step s of the best split by `sides + s slopes > 0`; the gain is -1 if there is no valid split.

    A sample changes sides at s = -sides / slopes: upwards if its slope is positive. So the samples above are at first
    those with a negative slope, and change one by one as s grows. On a tie the smallest step wins.
    """
    moving = np.flatnonzero(slopes != 0)
    turns = -sides[moving] / slopes[moving]
    order = np.argsort(turns, kind="stable")
    moving, turns = moving[order], turns[order]
    signs = np.sign(slopes[moving])
    first = ((slopes < 0) | ((slopes == 0) & (sides > 0))).astype(np.int64)
    falling, falling_weight = sums_by(first, scene.sums, 2)[1:], weights_by(first, scene.weights, 2)[1:]
    above = np.cumsum(np.concatenate([falling, signs[:, None] * scene.sums[moving]]), axis=0)[1:]
    weight_above = np.cumsum(np.concatenate([falling_weight, signs * scene.weights[moving]]))[1:]
    middles, weight = 0.5 * turns[:-1] + 0.5 * turns[1:], scene.weight
    smaller = np.minimum(weight_above, weight - weight_above)[:-1]
    ends = np.flatnonzero(
        (turns[:-1] < middles) & (middles < turns[1:]) & (smaller > TIE * weight) & (smaller >= scene.min_weight - TIE)
    )
    if len(ends) == 0:
        return NO_GAIN, 0.0
    upper = np.maximum(above[ends], 0.0)
    lower = np.maximum(in_row_order(scene.sums) - upper, 0.0)
    weights = np.stack([weight - weight_above[ends], weight_above[ends]], axis=1)
    gains = scene.objective.decrease(np.stack([lower, upper], axis=1), weights)
    best = first_within_tie(gains)
    return float(gains[best]), float(middles[ends[best]])


def without_useless(scene: Scene, weights: FloatArray) -> FloatArray:
    """Set small weights to 0, the smallest first, as long as the gain does not fall."""
    kept = np.where(np.abs(weights) > 1e-9 * np.abs(weights).max(initial=0.0), weights, 0.0)
    gain, _ = scene.cut(kept)
    for feature in np.argsort(np.abs(kept), kind="stable")[:-1]:
        fewer = kept.copy()
        fewer[feature] = 0.0
        less, _ = scene.cut(fewer)
        if less < gain - TIE:
            break
        kept, gain = fewer, less
    return kept


def in_units(weights: FloatArray, scales: FloatArray) -> FloatArray:
    """Weights of the features from those of the standardised ones: of length 1, rounded; all 0 on overflow."""
    with np.errstate(over="ignore"):
        unscaled = weights / scales
    return of_length_1(unscaled)


def of_length_1(weights: FloatArray) -> FloatArray:
    """The weights scaled to length 1 and rounded; all 0 if one is infinite."""
    largest, square = np.abs(weights).max(), 0.0
    if not 0 < largest < math.inf:
        return np.zeros(len(weights))
    shrunk = weights / largest  # otherwise squares of the largest numbers overflow
    for j in range(len(shrunk)):
        square += shrunk[j] * shrunk[j]
    for j in range(len(shrunk)):
        shrunk[j] = rounded(shrunk[j] / math.sqrt(square))
    return shrunk


def rounded(weight: float) -> float:
    """A number between -1 and 1 rounded to the digits of a weight; 0 if it is too small."""
    if abs(weight) < SMALLEST:
        return 0.0
    zeros = 0  # before the first digit
    while abs(weight) * POWERS_OF_TEN[zeros] < 1.0:
        zeros += 1
    unit = POWERS_OF_TEN[DIGITS - 1 + zeros]
    return float(math.floor(weight * unit + 0.5) / unit)
