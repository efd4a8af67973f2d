"""The strongest stable rules of a forest: conditions that several trees found, or that hold for rows they never saw.

All figures are those of rules as `recurring_rules` has them, thresholds moved to quantiles:

    support      the part of the training weight that satisfies it
    confidence   the share of its class among rows that satisfy it and are out of the bag, pooled over its trees
    lift         confidence / share of the class in all training rows
    strength     support * (least lift - 1), 0 where that is below 0

The least lift is that of the lower limit of the confidence, with 95 % certainty by Clopper and Pearson, from as many
rows as are out of the bag of some of its trees: what few rows say counts for less.

Where numbers are predicted, the mean takes the place of the confidence, and strength is the support times the least
distance of that mean from the mean of all training rows, in standard deviations, averaged over the targets.

Such rules are neither exclusive nor complete: a record may satisfy several that say different things, or none.
"""

from dataclasses import dataclass, replace

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray
from core.arithmetic.sums import in_row_order, weights_by
from core.criteria.binomial import two_sided_limits
from core.criteria.student import mean_limits
from core.ensembles.forest import Forest
from core.ensembles.insight.recurring_rules import Conditions, Labels, cells_of, occurrences
from core.growth.samples import Samples
from core.rules.evidence import SURE
from core.rules.extraction import Rule, rule_id
from core.tables.progress import Watch, ignore_progress, part_of, watched
from core.tables.table import Table
from core.tables.target import ClassTarget
from core.tree.conditions import satisfied_by

FEWEST_TREES = 2  # that must have found a rule, unless it has strength
MOST_TOLD = 20
COLLECTING = 0.5  # the approximate part of the work that reads the trees


@dataclass(frozen=True, slots=True)
class ForestRule:
    """A rule with its evidence; it is of many trees, so its `leaf` is -1.

    `rule.weights` and `rule.support` are of all training rows. `confidence` and `lift` are None where numbers are
    predicted, `means` are empty where classes are; both are of rows out of the bag, which weigh `unseen_weight`
    together, a row as often as it is out of the bag of one of the `n_trees` that found the rule.
    """

    rule: Rule
    n_trees: int
    unseen_weight: float
    confidence: float | None
    lift: float | None
    means: tuple[float, ...]
    strength: float


def strongest_rules(
    forest: Forest, samples: Samples, out_of_bags: BoolArray, *, most: int = MOST_TOLD, watch: Watch = ignore_progress
) -> list[ForestRule]:
    """The strongest rules first, ties to the one more trees found, then the one of fewer conditions.

    `samples` are the training rows as the trees take them, `out_of_bags[tree, row]` says whether a tree has never seen
    a row. Rules are reported that have strength, and those with a lift above 1 that at least FEWEST_TREES
    found. Of rules that the same rows satisfy only the first is reported.
    """
    found = occurrences(forest, samples.attributes.schema, cells_of(samples), part_of(watch, 0.0, COLLECTING))
    judged = [
        (rule, covered)
        for conditions in watched(list(found), part_of(watch, COLLECTING, 1.0))
        if (covered := covered_by(conditions, samples.attributes)).any()
        and (rule := judge(conditions, found[conditions], covered, samples, out_of_bags)) is not None
    ]
    judged.sort(key=lambda one: (-one[0].strength, -one[0].n_trees, len(one[0].rule.conditions), one[0].rule.id))
    told: dict[bytes, ForestRule] = {}
    for rule, covered in judged:
        if len(told) == most:
            break
        told.setdefault(np.packbits(covered).tobytes(), rule)
    return list(told.values())


def covered_by(conditions: Conditions, table: Table) -> BoolArray:
    """Which rows satisfy all conditions."""
    covered = np.ones(table.n_rows, dtype=np.bool_)
    for condition in conditions:
        covered &= satisfied_by(condition, table)
    return covered


def judge(
    conditions: Conditions,
    labels: Labels,
    covered: BoolArray,
    samples: Samples,
    out_of_bags: BoolArray,
) -> ForestRule | None:
    """A rule with its figures; None where it is not reported."""
    times_unseen = out_of_bags[list(labels)].sum(axis=0) * covered
    if not times_unseen.any():
        return None
    support = float(in_row_order(samples.weights[covered]) / in_row_order(samples.weights))
    rule = Rule(rule_id(conditions, samples.attributes.schema), -1, conditions, support, None, ())
    unseen, evidence = times_unseen * samples.weights, float(in_row_order(samples.weights * (times_unseen > 0)))
    target = samples.target
    if isinstance(target, ClassTarget):
        judged = _of_classes(rule, labels, covered, unseen, evidence, target, samples.weights)
    else:
        judged = _of_numbers(rule, len(labels), unseen, evidence, target.numbers, samples.weights)
    is_told = judged.strength > 0 or (judged.n_trees >= FEWEST_TREES and (judged.lift is None or judged.lift > 1))
    return judged if is_told else None


def _of_classes(
    rule: Rule,
    labels: Labels,
    covered: BoolArray,
    unseen: FloatArray,
    evidence: float,
    target: ClassTarget,
    weights: FloatArray,
) -> ForestRule:
    """A rule for the class that most of the trees predict, ties to the earlier one."""
    n_classes = len(target.classes)
    label = int(np.bincount([code for code in labels.values() if code is not None], minlength=n_classes).argmax())
    every, known, of_unseen = (
        weights_by(target.codes, each, n_classes) for each in (weights, weights * covered, unseen)
    )
    usual, total = float(every[label] / every.sum()), float(of_unseen.sum())
    confidence = float(of_unseen[label] / total)
    ((least, _),) = two_sided_limits(np.array([confidence * evidence]), np.array([evidence]), SURE)
    strength = rule.support * max(0.0, float(least) / usual - 1)
    rule = replace(rule, label=label, weights=tuple(known.tolist()))
    return ForestRule(rule, len(labels), total, confidence, confidence / usual, (), strength)


def _of_numbers(
    rule: Rule, n_trees: int, unseen: FloatArray, evidence: float, numbers: FloatArray, weights: FloatArray
) -> ForestRule:
    """A rule for the mean of each target; fewer than two rows give no strength."""
    (usual, spread), (means, variance) = (_mean_and_variance(numbers, each) for each in (weights, unseen))
    limits = mean_limits(means[None], variance[None], np.array([evidence]), SURE)[0]
    reach = np.nan_to_num(limits[:, 1] - means, nan=np.inf)
    varies = spread > 0
    apart = np.maximum(np.abs(means - usual) - reach, 0.0)[varies] / np.sqrt(spread[varies])
    strength = rule.support * float(apart.mean()) if len(apart) else 0.0
    return ForestRule(rule, n_trees, float(in_row_order(unseen)), None, None, tuple(means.tolist()), strength)


def _mean_and_variance(numbers: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    total = in_row_order(weights)
    mean = in_row_order(weights[:, None] * numbers) / total
    return mean, in_row_order(weights[:, None] * (numbers - mean) ** 2) / total
