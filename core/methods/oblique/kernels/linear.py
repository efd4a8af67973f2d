"""`linear`, compiled: the same directions to the last bit.

Features are stored one after the other, `x[feature, sample]`, so that sums over them run along the samples. After the
last feature there is a row of -1, whose coefficient is the threshold.
"""

import numpy as np

from core.arithmetic.kernels.randomness import key_of, uniform
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays
from core.criteria.kernels.impurity import ENTROPY
from core.methods.oblique.kernels.buckets import WAYS
from core.methods.oblique.kernels.start import OC1, STOP, squares_of, starts_for, without
from core.methods.oblique.kernels.state import Scene
from core.methods.oblique.kernels.step import MOST_BUCKETS, best_step
from core.methods.oblique.linear import JUMPS, MOST_CLASSES, MOST_SWEEPS
from core.splits.kernels.numeric import score_of_whole
from core.splits.kernels.unsorted import best_cut, buffers_for
from core.splits.numeric import NO_GAIN

TOLD_APART = 1e-9  # relative to the largest weight; smaller ones are rounding


@making_arrays
def scene_of(x, labels):
    """The scene of these samples, with its scratch."""
    n, n_classes = x.shape[1], labels.n_classes
    by_class, weight = np.zeros(n_classes), 0.0
    for i in range(n):
        by_class[labels.classes[i]] += labels.weights[i]
        weight += labels.weights[i]
    whole, _ = score_of_whole(by_class, labels.criterion, n_classes, 0)
    return Scene(
        x,
        labels,
        by_class,
        weight,
        whole,
        buffers_for(n, n_classes),
        np.empty(n),
        np.empty(n),
        np.empty(n, np.uint8),
        np.empty(n, np.int32),
        np.empty((MOST_BUCKETS + 1) * n_classes * WAYS),
        np.empty(MOST_BUCKETS + 1, np.bool_),
        np.empty(MOST_BUCKETS, np.int64),
        np.empty(MOST_BUCKETS, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n),
        np.empty(n),
    )


@making_arrays
def only(scene, features):
    """`Scene.only`."""
    n_features = features.shape[0]
    if n_features == scene.x.shape[0] - 1:
        return scene
    x = np.empty((n_features + 1, scene.x.shape[1]))
    for j in range(n_features):
        x[j] = scene.x[features[j]]
    x[n_features] = -1.0
    return scene_of(x, scene.labels)


@compiled
def largest_gain(scene):
    """`Scene.largest_gain`: the score of pure branches is 0 by entropy, and the weight by other criteria."""
    purest = 0.0 if scene.labels.criterion == ENTROPY else scene.weight
    return (purest - scene.whole) / scene.weight


@compiled
def sums_along(x, weights, sums):
    """`linear.sums_along` over as many features as there are weights; four features per pass, in the same order."""
    n, n_features, j = sums.shape[0], weights.shape[0], 1
    for i in range(n):
        sums[i] = x[0, i] * weights[0]
    while j + 3 < n_features:
        w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        for i in range(n):
            sums[i] = (((sums[i] + x0[i] * w0) + x1[i] * w1) + x2[i] * w2) + x3[i] * w3
        j += 4
    while j < n_features:
        weight = weights[j]
        for i in range(n):
            sums[i] += x[j, i] * weight
        j += 1


@compiled
def cut(scene, weights):
    """`Scene.cut`."""
    sums_along(scene.x, weights, scene.sums)
    gain, threshold, _ = best_cut(scene.sums, scene.labels, scene.buffers)
    return gain, (0.0 if np.isnan(threshold) else threshold)


@making_arrays
def direction(x, labels, fit, max_terms, key, progress):
    """`linear.direction`: all weights are 0 if there is none; `max_terms` is 0 if their number is not limited."""
    scene = scene_of(x, labels)
    weights, tried = np.zeros(x.shape[0] - 1), labels_tried(scene.by_class)
    squares, gains = squares_of(scene, fit), np.empty(tried.shape[0])
    starts = starts_for(scene, squares, tried, fit, progress)
    for i in range(tried.shape[0]):
        gains[i], _ = cut(scene, starts[i])
    best = first_within_tie(gains)
    if gains.max() == NO_GAIN:
        return weights
    features, start = np.arange(weights.shape[0]), starts[best]
    while 0 < max_terms < features.shape[0]:
        left_out = np.argmin(np.abs(start))
        features = np.append(features[:left_out], features[left_out + 1 :])
        squares = without(squares, left_out)
        start = starts_for(only(scene, features), squares, tried[best : best + 1], fit, progress)[0]
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
    position, least = 0, values.max() - TIE
    while values[position] < least:
        position += 1
    return position


@making_arrays
def labels_tried(by_class):
    """`linear.labels_tried`, from the class weights."""
    n_present = 0
    for k in range(by_class.shape[0]):
        n_present += by_class[k] > 0
    heaviest = np.sort(np.argsort(-by_class, kind="mergesort")[: min(MOST_CLASSES, n_present)])
    return heaviest[1:] if heaviest.shape[0] == 2 else heaviest


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
        found, step = best_step(scene, sides, slopes, gain)
        if found > gain + TIE:
            for j in range(along.shape[0]):
                weights[j] += step * along[j]
            gain = descended(scene, weights, found, enough, sides, progress)
    return weights[:-1].copy()


@compiled
def descended(scene, weights, gain, enough, sides, progress):
    """`linear._descended`: changes `weights` and `sides` in place, and returns the gain."""
    sums_along(scene.x, weights, sides)
    n_idle = 0  # coefficients in a row without a better step; after all of them, none will find one
    for _ in range(MOST_SWEEPS):
        for j in range(weights.shape[0]):
            if gain >= enough or progress[STOP] != 0.0 or n_idle == weights.shape[0]:
                return gain
            found, step = best_step(scene, sides, scene.x[j], gain)
            n_idle += 1
            if found > gain + TIE:
                weights[j] += step
                gain, n_idle = found, 0
                sums_along(scene.x, weights, sides)
    return gain


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
    for position in range(order.shape[0] - 1):
        feature = order[position]
        weight, kept[feature] = kept[feature], 0.0
        less, _ = cut(scene, kept)
        if less < gain - TIE:
            kept[feature] = weight
            break
        gain = less
    return kept
