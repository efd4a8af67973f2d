"""The description length of a set of rules for a class: the bits that encode the rules and their exceptions.

The best set is the one whose encoding, with its exceptions, takes the fewest bits (Quinlan and Rivest 1989; C4.5rules,
Quinlan 1993, section 5.2). For a set S of rules for one class, which covers the weight r of n,

    bits(S) = 1/2 (sum_{rules} bits(rule) - log2 |S|!) + log2 C(r, false positives) + log2 C(n - r, false negatives)

A rule takes the bits of its k conditions less log2 k!, since their order does not matter; nor does the order of the
rules. C is extended to weights by the gamma function.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.logarithms import LOG_2, log2
from core.arithmetic.sums import weights_by
from core.arithmetic.ties import TIE
from core.criteria.binomial import log_factorials
from core.criteria.tails import log_factorial
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table, is_missing
from core.tree.conditions import Above, AtMost, Between, Condition, IsKnown, IsOneOf, Linear, OnOneAttribute

THEORY = 0.5  # attributes are redundant, so rules take fewer bits than are counted (Quinlan 1993)
FEW_RULES = 10  # up to this number every subset is tried


@dataclass(frozen=True)
class Coverage:
    """`covers[rule, row]`, the bits of each rule, and each row's weight: `right` if of their class, else `wrong`."""

    covers: BoolArray
    bits: FloatArray
    right: FloatArray
    wrong: FloatArray

    def grouped(self) -> "Coverage":
        """The coverage with rows that the same rules cover merged into one; there are far fewer of those."""
        packed = np.packbits(self.covers, axis=0)
        _, first, group = np.unique(packed, axis=1, return_index=True, return_inverse=True)
        right, wrong = (weights_by(group.ravel(), weights, len(first)) for weights in (self.right, self.wrong))
        return Coverage(self.covers[:, first], self.bits, right, wrong)


def numbers_of_values(table: Table) -> list[int]:
    """The number of different values in each column: declared categories, or known numbers."""
    return [
        len(np.unique(values[~is_missing(values)])) if attribute.is_numeric else len(attribute.categories)
        for attribute, values in zip(table.schema, table.columns, strict=True)
    ]


def condition_bits(conditions: Sequence[Condition], schema: Schema, n_values: Sequence[int]) -> float:
    """The bits that encode a rule's conditions: attributes, values, thresholds, and the sides of these."""
    told = 0.0
    for condition in conditions:
        if isinstance(condition, Linear):  # as much as a threshold on each of its attributes
            told += sum(log2(len(schema)) + _side_bits(n_values[term.column]) for term in condition.terms)
            continue
        told += log2(len(schema)) + _value_bits(condition, schema[condition.column], n_values[condition.column])
        told += condition.or_missing  # one bit more
    return told - log_factorial(len(conditions)) / LOG_2


def _value_bits(condition: OnOneAttribute, attribute: Attribute, n_values: int) -> float:
    match condition:
        case IsOneOf(_, codes) if attribute.kind is Kind.CATEGORICAL:
            size = log2(n_values) if len(codes) > 1 else 0.0
            return size + float(log2_choices(np.array(float(n_values)), np.array(float(len(codes)))))
        case IsOneOf(_, codes):
            return _side_bits(n_values) * (1 + (0 not in codes and n_values - 1 not in codes))
        case IsKnown():
            return 1.0
        case AtMost() | Above():
            return _side_bits(n_values)
        case Between():
            return 2 * _side_bits(n_values)


def _side_bits(n_values: int) -> float:
    """The bits of a threshold between `n_values` values and a side of it."""
    return 1.0 + log2(max(n_values - 1, 1))


def log2_choices(n: FloatArray, k: FloatArray) -> FloatArray:
    """log2 of the binomial coefficient, extended to weights; 0 <= k <= n up to rounding."""
    inside = np.clip(k, 0.0, n)
    return np.asarray((log_factorials(n) - log_factorials(inside) - log_factorials(n - inside)) / LOG_2)


def set_bits(
    n_rules: FloatArray, rule_bits: FloatArray, right: FloatArray, wrong: FloatArray, of: Coverage
) -> FloatArray:
    """The bits of rule sets, given their number of rules, the bits of those, and the right and wrong weight covered."""
    theory = rule_bits - log_factorials(n_rules) / LOG_2
    all_right, all_wrong = float(of.right.sum()), float(of.wrong.sum())
    covered, missed = right + wrong, np.maximum(all_right - right, 0.0)
    uncovered = missed + np.maximum(all_wrong - wrong, 0.0)
    return np.asarray(THEORY * theory + log2_choices(covered, wrong) + log2_choices(uncovered, missed))


def shortest_subset(of: Coverage) -> list[int]:
    """The rules whose encoding, with their exceptions, takes the fewest bits; on a tie the fewer rules."""
    groups = of.grouped()
    if len(of.bits) <= FEW_RULES:
        return _best_of_all(groups)
    few, few_bits = _climbed(groups, np.zeros(len(of.bits), dtype=np.bool_))
    many, many_bits = _climbed(groups, np.ones(len(of.bits), dtype=np.bool_))
    return np.flatnonzero(few if few_bits <= many_bits + TIE else many).tolist()


def _best_of_all(of: Coverage) -> list[int]:
    """The best subset, by trying every one."""
    n_rules = len(of.bits)
    chosen: BoolArray = (np.arange(1 << n_rules)[:, None] >> np.arange(n_rules)) & 1 > 0
    is_covered = np.stack([of.covers[subset].any(axis=0) for subset in chosen])
    sizes = chosen.sum(axis=1).astype(np.float64)
    right, wrong = (np.where(is_covered, weights, 0.0).sum(axis=1) for weights in (of.right, of.wrong))
    bits = set_bits(sizes, np.where(chosen, of.bits, 0.0).sum(axis=1), right, wrong, of)
    shortest = np.flatnonzero(bits <= bits.min() + TIE)
    return np.flatnonzero(chosen[shortest[np.argmin(sizes[shortest])]]).tolist()


def _climbed(of: Coverage, chosen: BoolArray) -> tuple[BoolArray, float]:
    """Hill climbing from a given set: add or remove the rule that saves the most bits, until none does."""
    chosen = chosen.copy()
    times = of.covers[chosen].sum(axis=0)
    bits = float(set_bits(*_figures(of, chosen, times), of))
    while True:
        # Adding a rule covers rows that no rule covers yet; removing one uncovers the rows that it alone covers.
        alone = np.zeros((len(chosen), 2))
        for rules, rows in ((~chosen, times == 0), (chosen, times == 1)):
            covers = of.covers[np.ix_(rules, rows)]
            alone[rules, 0] = np.where(covers, of.right[rows], 0.0).sum(axis=1)
            alone[rules, 1] = np.where(covers, of.wrong[rows], 0.0).sum(axis=1)
        sign = np.where(chosen, -1.0, 1.0)
        n_rules, rule_bits, right, wrong = _figures(of, chosen, times)
        changes = right + sign * alone[:, 0], wrong + sign * alone[:, 1]
        after = set_bits(n_rules + sign, rule_bits + sign * of.bits, *changes, of)
        best = int(np.argmax(after <= after.min() + TIE))
        if after[best] >= bits - TIE:
            return chosen, bits
        times = times + int(sign[best]) * of.covers[best]
        chosen[best], bits = not chosen[best], float(after[best])


def _figures(of: Coverage, chosen: BoolArray, times: RowArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """The arguments of `set_bits` for one set."""
    is_covered = times > 0
    n_rules, rule_bits = np.array(float(chosen.sum())), np.array(of.bits[chosen].sum())
    return n_rules, rule_bits, np.array(of.right[is_covered].sum()), np.array(of.wrong[is_covered].sum())
