"""Builds the tree from the nodes of `methods.oblique.kernels.grow`.

Figures are computed by the definitions, so that the definition and the kernels store the same bytes.
"""

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.sums import in_row_order
from core.config.options import Algorithm, CriterionKind
from core.criteria.gain import gain_ratio
from core.growth.best_split import objective_of
from core.growth.kernels.inputs.columns import n_classes_of
from core.growth.samples import Samples
from core.methods.oblique.kernels import grow as kernels
from core.splits.split import SplitKind, Term
from core.tree.tree import LEAF, SPLIT_KINDS, Tree


def assembled(
    samples: Samples,
    algorithm: Algorithm,
    links: RowArray,
    figures: FloatArray,
    terms: RowArray,
    term_weights: FloatArray,
) -> Tree:
    """The tree of the kernels' nodes; `methods.oblique.kernels.grow` names the columns of `links` and `figures`."""
    n_classes, objective = n_classes_of(samples), objective_of(algorithm, samples)
    column, weight = links[:, kernels.COLUMN], figures[:, kernels.WEIGHT]
    values, branches = np.split(figures[:, kernels.N_FIGURES :], [n_classes], axis=1)
    gain, score = np.full(len(column), np.nan), np.full(len(column), np.nan)
    inner = np.flatnonzero(column != LEAF)
    branch_weights = figures[inner, kernels.LEFT_WEIGHT : kernels.RIGHT_WEIGHT + 1]
    known = in_row_order(branch_weights.T) / weight[inner]
    rho = np.where(figures[inner, kernels.IS_COMPLETE] > 0, 1.0, known)
    gain[inner] = rho * objective.decrease(branches[inner].reshape(-1, 2, n_classes), branch_weights)
    is_ratio = algorithm.criterion.kind is CriterionKind.GAIN_RATIO
    score[inner] = gain_ratio(gain[inner], branch_weights) if is_ratio else gain[inner]
    n_levels, branch_of = branches_of(samples, column, links[:, kernels.CODE])
    by_node = terms_of_nodes(links[:, kernels.TERMS], terms, term_weights)
    return Tree(
        task=samples.target.task,
        size=links[:, kernels.SIZE].astype(np.int32),
        column=column.astype(np.int32),
        kind=np.array([kind_of(*node) for node in zip(column, links[:, kernels.CODE], by_node, strict=True)], np.int8),
        threshold=figures[:, kernels.THRESHOLD].copy(),
        branch_start=np.cumsum([0, *n_levels], dtype=np.int64),
        branch_of=branch_of,
        share=figures[:, kernels.SHARE].copy(),
        weight=weight.copy(),
        impurity=np.where(weight > 0, objective.impurity(values), 0.0),
        gain=gain,
        score=score,
        values=values.copy(),
        variances=np.empty((len(column), 0)),
        cuts=samples.cuts,
        terms=by_node if any(by_node) else (),
    )


def kind_of(column: int, code: int, terms: tuple[Term, ...]) -> int:
    """The kind of a node's split, as an index into SPLIT_KINDS; `LEAF` for a leaf."""
    if column == LEAF:
        return LEAF
    if terms:
        return SPLIT_KINDS.index(SplitKind.LINEAR)
    return SPLIT_KINDS.index(SplitKind.THRESHOLD if code < 0 else SplitKind.ONE_VS_REST)


def branches_of(samples: Samples, column: RowArray, code: RowArray) -> tuple[RowArray, RowArray]:
    """The number of categories with a branch in each split, and their branches: 0 for the category tested for."""
    schema = samples.attributes.schema
    asked = [len(schema[int(c)].categories) if k >= 0 else 0 for c, k in zip(column, code, strict=True)]
    branches = [np.arange(n) != k for n, k in zip(asked, code, strict=True)]
    return np.array(asked), np.concatenate(branches).astype(np.int32)


def terms_of_nodes(starts: RowArray, terms: RowArray, weights: FloatArray) -> tuple[tuple[Term, ...], ...]:
    """The terms of each node's sum, from the index of its first term."""
    every = [
        Term(column, weight, code) for (column, code), weight in zip(terms.tolist(), weights.tolist(), strict=True)
    ]
    ends = [*starts[1:].tolist(), len(every)]
    return tuple(tuple(every[start:end]) for start, end in zip(starts.tolist(), ends, strict=True))
