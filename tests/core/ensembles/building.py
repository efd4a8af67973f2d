"""Forests for tests: bagged trees, each grown by the definition from its own rows."""

import numpy as np

from core.config.options import Algorithm, Committee
from core.engine.definition import grow
from core.ensembles.forest import Forest
from core.ensembles.growing_forest import forest_of
from core.ensembles.model import ForestModel
from core.ensembles.sampling import tree_samples
from core.growth.samples import Samples
from core.tables.target import ClassTarget
from core.tree.model import training_ranges


def committee_of(algorithm: Algorithm, n_trees: int) -> Committee:
    return Committee("bagging", (algorithm,), n_trees=n_trees)


def bagged(samples: Samples, algorithm: Algorithm, n_trees: int = 5, seed: int = 0) -> Forest:
    """Trees of bootstrap samples."""
    committee = committee_of(algorithm, n_trees)
    trees = [grow(tree_samples(samples, committee, seed=seed, tree=tree), algorithm) for tree in range(n_trees)]
    return forest_of(trees, [0] * n_trees, [algorithm.criterion.kind], [samples.cuts])


def forest_model_of(samples: Samples, forest: Forest, target: str | tuple[str, ...] = "target") -> ForestModel:
    """The model of a forest grown from samples."""
    total = samples.target.statistics(samples.rows, samples.weights).sum(axis=0)
    is_of_classes = isinstance(samples.target, ClassTarget)
    prior = total / total.sum() if is_of_classes else np.average(samples.target.numbers, 0, samples.weights)
    return ForestModel(
        task=samples.target.task,
        target=target,
        classes=samples.target.classes if is_of_classes else (),
        attributes=samples.attributes.schema,
        ranges=training_ranges(samples.attributes),
        forest=forest,
        prior=prior,
    )
