"""How much of its own training weight each node gets wrong as a leaf."""

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.sums import in_column_order
from core.criteria.impurity import shares
from core.growth.held_out import labels_of
from core.tree.tree import Tree


def training_errors(tree: Tree) -> FloatArray:
    """The weight of the training samples that each node's label gets wrong; 0 where it received nothing."""
    return errors_of(tree.values, tree.costs)


def errors_of(class_weights: FloatArray, costs: FloatArray | None) -> FloatArray:
    """The weight that the label of each leaf gets wrong of its own class weights, `[leaf, class]`.

    If wrong answers have costs, each counts by its cost over the largest: the errors of a leaf are then its cost in
    units of the worst mistake, and never more than its weight.
    """
    labels = labels_of(shares(class_weights), costs)
    if costs is None or not costs.max() > 0:
        return class_weights.sum(axis=1) - class_weights[np.arange(len(labels)), labels]
    return in_column_order(class_weights * costs[:, labels].T) / float(costs.max())
