"""C4.5 as programmed: how release 8 of C4.5, and Weka's J48 after it, choose the split of a node.

Gains, ratios and sizes are compared with a tolerance of 1e-6 and in sequence: a later candidate must exceed the best so
far by more than that. m is the least weight of a child; |D| includes rows without the value.
"""

from collections.abc import Collection

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.sums import sums_by, weights_by
from core.config.options import Algorithm, NumericCorrection
from core.criteria.gain import corrected_gain
from core.criteria.impurity import entropy
from core.criteria.objective import Objective
from core.growth.best_split import Candidate, NodeSamples
from core.growth.release8_tolerances import MANY_VALUES, NEAR_AVERAGE, SAME_VALUE, TOLERANCE
from core.growth.samples import Samples
from core.splits.candidates import midpoint
from core.splits.numeric import both_sides
from core.splits.split import Split, SplitKind
from core.tables.schema import Attribute
from core.tables.table import Column, is_missing


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> Candidate | None:
    """The largest gain ratio among the attributes whose gain is at least the average, less 0.001; None for a leaf."""
    if node.weights.sum() < 2 * algorithm.stopping.min_samples_leaf - TOLERANCE:
        return None
    candidates = all_candidates(samples, node, algorithm, objective, spent)
    counted = [one.gain for one in candidates if counts_in_average(samples, one.split.column)]
    if not counted:
        return None
    average = sum(counted) / len(counted)
    best, largest = None, 0.0
    for one in candidates:
        if one.gain >= average - NEAR_AVERAGE and one.score > largest + TOLERANCE:
            best, largest = one, one.score
    return best


def counts_in_average(samples: Samples, column: int) -> bool:
    """Whether the attribute does not have very many categories; if all attributes do, all of them count."""
    schema, limit = samples.attributes.schema, MANY_VALUES * len(samples) - TOLERANCE
    is_plain = [attribute.has_order or len(attribute.categories) < limit for attribute in schema]
    return is_plain[column] or not any(is_plain)


def all_candidates(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> list[Candidate]:
    """Every attribute that has a valid split, in column order."""
    found = []
    for column, attribute in enumerate(samples.attributes.schema):
        node.tick()
        values = samples.attributes.columns[column][node.rows]
        if column not in node.undrawn.union(spent) and not is_missing(values).all():
            search = threshold_candidate if attribute.has_order else multiway_candidate
            found.append(search(column, attribute, values, node, algorithm, objective))
    return [one for one in found if one is not None]


def multiway_candidate(
    column: int, attribute: Attribute, values: Column, node: NodeSamples, algorithm: Algorithm, objective: Objective
) -> Candidate | None:
    """One branch per category, if two of them hold m; without any gain too, since that counts in the average."""
    n_levels = len(attribute.categories)
    split = Split(column, SplitKind.MULTIWAY, n_levels, branch_of=tuple(range(n_levels)))
    found = figures(split, values, node, objective)
    holds_enough = found.branch_weights > algorithm.stopping.min_samples_leaf - TOLERANCE
    return found if np.count_nonzero(holds_enough & (found.branch_weights > 0)) >= 2 else None


def threshold_candidate(
    column: int, _: Attribute, values: Column, node: NodeSamples, algorithm: Algorithm, objective: Objective
) -> Candidate | None:
    """The threshold of largest gain; the gain is then reduced for the choice among c thresholds, by log2(c) / |D|.

    Both sides need max(m, min(25, a tenth of the known weight per declared class)).
    """
    known = np.flatnonzero(~is_missing(values))
    order = known[np.argsort(values[known], kind="stable")]
    ordered, weights = values[order].astype(np.float64), node.weights[order]
    per_class = 0.1 * float(weights.sum()) / node.sums.shape[1]
    least = max(algorithm.stopping.min_samples_leaf, min(25.0, per_class))
    ends = np.flatnonzero(ordered[:-1] + SAME_VALUE < ordered[1:])
    side_weights = both_sides(weights[:, None], ends)[..., 0]
    allowed = ends[side_weights.min(axis=1, initial=np.inf) > least - TOLERANCE]
    best = first_largest(known_gains(node, order, allowed, objective))
    if best is None:
        return None
    threshold = midpoint(float(ordered[allowed[best]]), float(ordered[allowed[best] + 1]))
    is_corrected = algorithm.criterion.numeric_correction is NumericCorrection.RELEASE8
    split = Split(column, SplitKind.THRESHOLD, 2, threshold=threshold)
    found = figures(split, values, node, objective, n_thresholds=len(allowed), is_corrected=is_corrected)
    return found if found.gain >= TOLERANCE else None


def known_gains(node: NodeSamples, order: RowArray, ends: RowArray, objective: Objective) -> FloatArray:
    """The gain of each cut times the known share of the weight."""
    sides = both_sides(node.sums[order], ends)
    side_weights = both_sides(node.weights[order][:, None], ends)[..., 0]
    rho = float(node.weights[order].sum() / node.weights.sum())
    return rho * objective.decrease(sides, side_weights)


def first_largest(gains: FloatArray) -> int | None:
    """The position at which a sequential scan ends; None when nothing exceeds 0 by more than the tolerance."""
    best, largest = None, 0.0
    for position, gain in enumerate(gains):
        if gain > largest + TOLERANCE:
            best, largest = position, float(gain)
    return best


def figures(
    split: Split,
    values: Column,
    node: NodeSamples,
    objective: Objective,
    *,
    n_thresholds: int | None = None,
    is_corrected: bool = False,
) -> Candidate:
    """A split with its gain and ratio; its split information counts the missing weight as one more branch."""
    branch = split.branches(values)
    known = branch >= 0
    branches = sums_by(branch[known], node.sums[known], split.n_branches)
    parts = weights_by(np.where(known, branch, split.n_branches), node.weights, split.n_branches + 1)
    n_paid_for = n_thresholds if is_corrected and n_thresholds is not None else 1
    gain, score = gain_and_ratio(branches, parts, objective, n_paid_for)
    rho = float(parts[:-1].sum() / parts.sum())
    return Candidate(split, float(gain), float(score), rho, parts[:-1], n_thresholds)


def gain_and_ratio(
    branches: FloatArray, parts: FloatArray, objective: Objective, n_paid_for: FloatArray | int
) -> tuple[FloatArray, FloatArray]:
    """The gain and the ratio of a split, or of many.

    `parts[..., v]` is the weight of branch v, the last part that of rows without the value. `n_paid_for` is the number
    of thresholds that the gain is corrected for; one costs nothing.
    """
    branch_weights, whole = parts[..., :-1], parts.sum(axis=-1)
    known_gain = branch_weights.sum(axis=-1) / whole * objective.decrease(branches, branch_weights)
    gain = np.asarray(corrected_gain(known_gain, n_paid_for, whole))
    information = entropy(parts)
    is_telling = information > TOLERANCE
    return gain, np.where(is_telling, gain / np.where(is_telling, information, 1.0), 0.0)
