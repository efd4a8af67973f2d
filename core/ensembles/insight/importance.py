"""The importance of attributes for a forest: how often trees test them, their impurity decrease, the loss without them.

A fall is measured on test rows, answered by all trees, or on training rows, each answered by the trees that have not
seen it: the rows out of their bags.
"""

from dataclasses import replace

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.sums import sum_of_products
from core.config.options import Committee
from core.ensembles.forest import Forest
from core.ensembles.insight.permutation import ShuffledAnswers
from core.ensembles.prediction.walk import in_threads
from core.ensembles.sampling import out_of_bag
from core.evaluation.importance import Fall, fall_from, impurity_decrease, shuffled_order, times_selected
from core.evaluation.measures import measure_numbers
from core.growth.held_out import labels_of
from core.growth.samples import Samples
from core.tables.progress import Watch, ignore_progress, watched
from core.tables.target import ClassTarget
from core.tree.tree import full_view


def forest_times_selected(forest: Forest, n_columns: int) -> RowArray:
    """`[column]`: how many nodes of all trees test the attribute, alone or in a sum."""
    return np.sum([times_selected(full_view(forest.tree(tree)), n_columns) for tree in range(len(forest))], axis=0)


def forest_impurity_decrease(forest: Forest, n_columns: int) -> FloatArray:
    """`[column]`: the mean of `impurity_decrease` over the trees that have a test; all parts sum to 1.

    All are 0 where no tree decreases impurity. As in scikit-learn.
    """
    of_trees = [impurity_decrease(full_view(forest.tree(tree)), n_columns) for tree in range(len(forest))]
    total: FloatArray = np.sum(of_trees, axis=0)
    return total / total.sum() if total.sum() > 0 else total


def forest_falls_when_shuffled(
    forest: Forest,
    samples: Samples,
    *,
    answering: BoolArray | None = None,
    repeats: int,
    seed: int,
    kernels: bool,
    threads: int = 1,
    watch: Watch = ignore_progress,
) -> list[Fall] | None:
    """`importance.falls_when_shuffled` of a forest; `samples` are records as it takes them, filled if it fills those.

    `answering[tree, row]` flags the trees that answer a row, all unless given; rows that no tree answers are left out.
    None if there is no measure: no rows are left, or their target does not vary.
    """
    if answering is not None:
        rows = np.flatnonzero(answering.any(axis=0))
        if len(rows) == 0:
            return None
        samples = replace(
            samples,
            attributes=samples.attributes.take(rows),
            target=samples.target.take(rows),
            weights=samples.weights[rows],
        )
        answering = np.ascontiguousarray(answering[:, rows])
    answers = ShuffledAnswers(forest, samples.attributes, answering, kernels=kernels)
    whole = worth_of(answers.plain(), samples, forest.costs)
    if whole is None:
        return None

    def fall_of(column: int) -> Fall:
        ask, after = answers.when_shuffled(column), [0.0] * repeats

        def measure(repeat: int) -> None:
            order = shuffled_order(len(samples), column, seed, repeat)
            after[repeat] = worth_of(ask(order), samples, forest.costs) or 0.0

        in_threads(measure, range(repeats), threads)
        return fall_from(whole, after)

    return [fall_of(column) for column in watched(range(len(samples.attributes.schema)), watch)]


def worth_of(answers: FloatArray, samples: Samples, costs: FloatArray | None) -> float | None:
    """`importance.worth` of answers to samples, without computing the other measures, which are slower."""
    target, weights = samples.target, samples.weights
    if not isinstance(target, ClassTarget):
        return measure_numbers(answers, target.numbers, weights).r2
    labels = labels_of(answers, costs)
    earned = (labels == target.codes) if costs is None else -costs[target.codes, labels]
    return float(sum_of_products(weights, earned) / weights.sum())


def out_of_bags(committee: Committee, n_rows: int, *, seed: int) -> BoolArray:
    """`[tree, row]`: whether a tree has never seen a training row."""
    return np.stack([out_of_bag(committee, n_rows, seed=seed, tree=tree) for tree in range(committee.n_trees)])
