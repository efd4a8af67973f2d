"""The compiled twins of `linear`: the same directions, to the last bit.

Features stand one after the other, `x[feature, sample]`, so that sums over them go along the samples; after the last
feature comes a row of -1, whose coefficient is the threshold. What is multiplied sample by sample is laid out again.
"""

from typing import Any, NamedTuple

import numpy as np

from core.compiled_kernels import compiled, making_arrays
from core.randomness_kernels import key_of, uniform
from core.splits import linear
from core.splits.linear import JUMPS, LOGISTIC_RIDGE, MOST_CLASSES, MOST_SWEEPS, NEWTON_STEPS, NO_GAIN, RIDGE
from core.splits.numeric_kernels import ENTROPY, score_of_whole
from core.splits.step_kernels import Steps, best_step, steps_for
from core.splits.unsorted_kernels import Marks, Room, best_cut, room_for
from core.ties import TIE

LEAST_SQUARES, LOGISTIC, OC1 = range(3)
STOP = 1  # a place in `progress`: nobody waits for the direction any more
TOLD_APART = 1e-9  # of the largest weight: less is rounding

solved, logistic_function = making_arrays(linear.solved), compiled(linear.logistic_function)


class Scene(NamedTuple):
    """`linear.Scene`, with the class weights, the weight and the score of all samples, and room for a step."""

    x: Any
    marks: Marks
    by_class: Any
    weight: Any
    whole: Any
    room: Room
    steps: Steps
    sums: Any


@making_arrays
def scene_of(x, marks):
    """The scene of samples."""
    n = x.shape[1]
    by_class, weight = np.zeros(marks.n_classes), 0.0
    for i in range(n):
        by_class[marks.classes[i]] += marks.weights[i]
        weight += marks.weights[i]
    whole, _ = score_of_whole(by_class, marks.criterion, marks.n_classes, 0)
    return Scene(
        x,
        marks,
        by_class,
        weight,
        whole,
        room_for(n, marks.n_classes),
        steps_for(n, marks.n_classes),
        np.empty(n),
    )


@making_arrays
def only(scene, features):
    """`Scene.only`."""
    n_features = features.shape[0]
    x = np.empty((n_features + 1, scene.x.shape[1]))
    for j in range(n_features):
        x[j] = scene.x[features[j]]
    x[n_features] = -1.0
    return scene_of(x, scene.marks)


@compiled
def largest_gain(scene):
    """`Scene.largest_gain`: the score of nothing impure is 0 by entropy, and else the weight."""
    purest = 0.0 if scene.marks.criterion == ENTROPY else scene.weight
    return (purest - scene.whole) / scene.weight


@compiled
def sums_along(x, weights, sums):
    """`linear.sums_along`, with as many features as there are weights."""
    for i in range(sums.shape[0]):
        sums[i] = x[0, i] * weights[0]
    for j in range(1, weights.shape[0]):
        weight = weights[j]
        for i in range(sums.shape[0]):
            sums[i] += x[j, i] * weight


@compiled
def cut(scene, weights):
    """`Scene.cut`."""
    sums_along(scene.x, weights, scene.sums)
    gain, threshold, _ = best_cut(scene.sums, scene.marks, scene.room)
    return gain, (0.0 if np.isnan(threshold) else threshold)


@making_arrays
def direction(x, marks, fit, max_terms, key, progress):
    """`linear.direction`: all weights 0 where there is none; `max_terms` is 0 where any number will do."""
    scene = scene_of(x, marks)
    weights = np.zeros(x.shape[0] - 1)
    labels = labels_tried(scene.by_class)
    gains, starts = np.empty(labels.shape[0]), np.empty((labels.shape[0], weights.shape[0]))
    squares = squares_of(scene, fit)
    for i in range(labels.shape[0]):
        starts[i] = learnt(scene, squares, labels[i], fit, progress)
        gains[i], _ = cut(scene, starts[i])
    best = first_within_tie(gains)
    if gains.max() == NO_GAIN:
        return weights
    features, start = np.arange(weights.shape[0]), starts[best]
    while 0 < max_terms < features.shape[0]:
        left_out = np.argmin(np.abs(start))
        features = np.append(features[:left_out], features[left_out + 1 :])
        squares = without(squares, left_out)
        start = learnt(only(scene, features), squares, labels[best], fit, progress)
    left = only(scene, features)
    if fit == OC1:
        start = refined(left, start, key, progress)
    start = without_useless(left, start)
    for j in range(features.shape[0]):
        weights[features[j]] = start[j]
    return weights


@making_arrays
def first_within_tie(values):
    """`ties.first_within_tie`."""
    place, least = 0, values.max() - TIE
    while values[place] < least:
        place += 1
    return place


@making_arrays
def labels_tried(by_class):
    """`linear.labels_tried`, from the class weights."""
    n_present = 0
    for k in range(by_class.shape[0]):
        n_present += by_class[k] > 0
    heaviest = np.sort(np.argsort(-by_class, kind="mergesort")[: min(MOST_CLASSES, n_present)])
    return heaviest[1:] if heaviest.shape[0] == 2 else heaviest


@making_arrays
def learnt(scene, squares, label, fit, progress):
    """A direction for a class by the way that is asked for; `squares` are those of least squares, for all classes."""
    if progress[STOP] != 0.0:
        return np.zeros(scene.x.shape[0] - 1)
    return logistic(scene, label) if fit == LOGISTIC else least_squares(scene, squares, label)


@making_arrays
def squares_of(scene, fit):
    """The covariances of the features with a little ridge, above the diagonal; nothing where they are not needed."""
    if fit == LOGISTIC:
        return np.empty((0, 0))
    rows = sample_by_sample(scene.x, 0)
    squares = products(rows, scene.marks.weights)
    for i in range(rows.shape[1]):
        for j in range(i, rows.shape[1]):
            squares[i, j] = squares[i, j] / scene.weight + (RIDGE if i == j else 0.0)
    return squares


@making_arrays
def without(squares, feature):
    """The covariances without a feature's."""
    if squares.shape[0] == 0:
        return squares
    kept = np.append(np.arange(feature), np.arange(feature + 1, squares.shape[0]))
    return squares[kept][:, kept].copy()


@making_arrays
def sample_by_sample(x, n_ones):
    """`[sample, feature]`, and after the features so many columns of ones."""
    n_features = x.shape[0] - 1
    rows = np.ones((x.shape[1], n_features + n_ones))
    for i in range(x.shape[1]):
        for j in range(n_features):
            rows[i, j] = x[j, i]
    return rows


@making_arrays
def products(rows, weights):
    """`linear.products`, above the diagonal and on it."""
    k = rows.shape[1]
    found = np.zeros((k, k))
    for s in range(rows.shape[0]):
        row = rows[s]
        for i in range(k):
            weighted = row[i] * weights[s]
            for j in range(i, k):
                found[i, j] += weighted * row[j]
    return found


@making_arrays
def least_squares(scene, squares, label):
    """`linear.least_squares`."""
    mean, y, right = scene.by_class[label] / scene.weight, scene.sums, np.zeros(scene.x.shape[0] - 1)
    for i in range(scene.x.shape[1]):
        weight = scene.marks.weights[i]
        y[i] = (weight if scene.marks.classes[i] == label else 0.0) - weight * mean
    for j in range(right.shape[0]):
        for i in range(scene.x.shape[1]):
            right[j] += scene.x[j, i] * y[i]
        right[j] /= scene.weight
    return solved(squares, right)


@making_arrays
def logistic(scene, label):
    """`linear.logistic`."""
    rows = sample_by_sample(scene.x, 1)
    n, k = rows.shape
    w, weights, odds = np.zeros(k), np.empty(n), np.empty(n)
    for _ in range(NEWTON_STEPS):
        slope = np.zeros(k)
        for i in range(n):
            odds[i] = rows[i, 0] * w[0]
            for j in range(1, k):
                odds[i] += rows[i, j] * w[j]
            likely, weight = logistic_function(odds[i]), scene.marks.weights[i]
            apart = (weight if scene.marks.classes[i] == label else 0.0) - weight * likely
            weights[i] = weight * likely * (1.0 - likely)
            for j in range(k):
                slope[j] += rows[i, j] * apart
        bend = products(rows, weights)
        for i in range(k):
            ridge = LOGISTIC_RIDGE if i < k - 1 else 0.0
            slope[i] = slope[i] / scene.weight - ridge * w[i]
            for j in range(i, k):
                bend[i, j] = bend[i, j] / scene.weight + (ridge + RIDGE if i == j else 0.0)
        w = w + solved(bend, slope)
    return w[:-1].copy()


@making_arrays
def refined(scene, start, key, progress):
    """`linear.refined`."""
    gain, threshold = cut(scene, start)
    weights = np.append(start, threshold)
    sides, slopes, along = np.empty(scene.x.shape[1]), np.empty(scene.x.shape[1]), np.empty(weights.shape[0])
    enough = largest_gain(scene) - TIE
    gain = descended(scene, weights, gain, enough, sides, progress)
    for jump in range(JUMPS):
        if gain >= enough or progress[STOP] != 0.0:
            break
        draws = key_of(key, jump)
        for j in range(along.shape[0]):
            along[j] = 2.0 * uniform(key_of(draws, j)) - 1.0
        sums_along(scene.x, along, slopes)
        sums_along(scene.x, weights, sides)
        found, step = step_of(scene, sides, slopes, gain)
        if found > gain + TIE:
            for j in range(along.shape[0]):
                weights[j] += step * along[j]
            gain = descended(scene, weights, found, enough, sides, progress)
    return weights[:-1].copy()


@compiled
def descended(scene, weights, gain, enough, sides, progress):
    """`linear._descended`: the weights are moved where they stand; their gain."""
    for _ in range(MOST_SWEEPS):
        before = gain
        sums_along(scene.x, weights, sides)
        for j in range(weights.shape[0]):
            if gain >= enough or progress[STOP] != 0.0:
                return gain
            found, step = step_of(scene, sides, scene.x[j], gain)
            if found > gain + TIE:
                weights[j] += step
                gain = found
                sums_along(scene.x, weights, sides)
        if gain == before:
            break
    return gain


@compiled
def step_of(scene, sides, slopes, bar):
    """`linear.best_step`, as far as it gains more than the bar."""
    return best_step(scene.steps, scene.marks, scene.by_class, scene.weight, scene.whole, sides, slopes, bar)


@making_arrays
def without_useless(scene, weights):
    """`linear.without_useless`."""
    kept = weights.copy()
    largest = np.abs(kept).max()
    for j in range(kept.shape[0]):
        if not abs(kept[j]) > TOLD_APART * largest:
            kept[j] = 0.0
    gain, _ = cut(scene, kept)
    order = np.argsort(np.abs(kept), kind="mergesort")
    for place in range(order.shape[0] - 1):
        feature = order[place]
        weight, kept[feature] = kept[feature], 0.0
        less, _ = cut(scene, kept)
        if less < gain - TIE:
            kept[feature] = weight
            break
        gain = less
    return kept
