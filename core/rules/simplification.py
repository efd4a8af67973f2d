"""Simplified rules: fewer and shorter ones, tried in order, with a default. C4.5rules (Quinlan 1993, chapter 5).

1. Every path loses the conditions that do not help: repeatedly the one whose removal gives the lowest pessimistic error
   rate, as long as the rate does not rise. Duplicates and rules without conditions are dropped.
2. For each class, the subset of rules is kept whose encoding, with its exceptions, takes the fewest bits
   (`description_length`).
3. Classes are ordered by fewest false positives among the rows that no earlier class covers, the rules of a class by
   pessimistic error rate.
4. Rules are dropped if that lowers the training error. The default is the most frequent class of the rows that no rule
   covers.
5. If the rules misclassify over one percentage point more of the training weight than the tree, dropped rules,
   shortened or not, are put back in front, always the one that saves most, until they no longer do. Then rules that
   have become useless are dropped. This is not in C4.5rules, which may end far from its tree if classes are hard to
   tell apart.

A row satisfies a condition if its value is known and fits. If a value is missing, the rule does not hold, unless the
condition says "or missing".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.sums import weights_by
from core.arithmetic.ties import TIE, first_within_tie
from core.criteria.binomial import upper_limits
from core.criteria.impurity import shares
from core.growth.held_out import labels_of
from core.growth.samples import Samples
from core.prediction.routing import predict
from core.rules.description_length import Coverage, condition_bits, numbers_of_values, shortest_subset
from core.rules.extraction import Rule, path_rules, rule_id
from core.tables.schema import Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget
from core.tree.conditions import Above, AtMost, Between, Condition, IsOneOf, merged, satisfied_by
from core.tree.tree import TreeView

CF = 0.25  # C4.5's default
WORSE = 0.01  # the share of training weight that the rules may misclassify beyond the tree's errors


@dataclass(frozen=True)
class OrderedRules:
    """Rules in order: the first whose conditions all hold gives its class; if none holds, the class is `default`."""

    rules: tuple[Rule, ...]
    default: int

    def deciding(self, records: Table) -> RowArray:
        """The index of the rule that answers each record; the number of rules if the default does."""
        return _first(covered(self.rules, records))

    def labels(self, records: Table) -> RowArray:
        """The class of each record."""
        return np.array([*(rule.label for rule in self.rules), self.default])[self.deciding(records)]


def covered(rules: Sequence[Rule], records: Table) -> BoolArray:
    """`[rule, record]`: whether all conditions hold."""
    covers = np.ones((len(rules), records.n_rows), dtype=np.bool_)
    for index, rule in enumerate(rules):
        for condition in rule.conditions:
            covers[index] &= satisfied_by(condition, records)
    return covers


def simplified_rules(view: TreeView, samples: Samples) -> OrderedRules:
    """The rules of a classification tree, simplified by means of its training rows."""
    rows = _Rows(samples)
    paths = [path for path in path_rules(view, rows.schema) if view.tree.weight[path.leaf] > 0]
    shorter = _distinct(_restated(p, left, rows) for p, left in zip(paths, _generalised(paths, rows), strict=True))
    asked = _Candidates(_distinct([*shorter, *(_restated(path, path.conditions, rows) for path in paths)]), rows)
    order = asked.in_order([asked.chosen(label, len(shorter)) for label in range(rows.n_classes)])
    order = asked.without_harmful(order, asked.default(order, view.tree.costs))
    default = asked.default(order, view.tree.costs)
    by_tree = labels_of(predict(view, samples.attributes), view.tree.costs)
    most = float(rows.weights[by_tree != rows.codes].sum()) + WORSE * float(rows.weights.sum())
    order = asked.with_needed(order, default, most)
    if len(order) > len(view.leaves):
        order = asked.positions_of(paths)
    rules = tuple(asked.rules[index] for index in order)
    return OrderedRules(rules, asked.default(order, view.tree.costs))


def _distinct(rules: Iterable[Rule]) -> list[Rule]:
    """The rules that have conditions; of equal ones, the first."""
    found: dict[tuple[str, int | None], Rule] = {}
    for rule in rules:
        if rule.conditions:
            found.setdefault((rule.id, rule.label), rule)
    return list(found.values())


class _Rows:
    """The training rows, and which rows fail each condition; cached, since neighbouring paths share most conditions."""

    def __init__(self, samples: Samples) -> None:
        assert isinstance(samples.target, ClassTarget)
        self.table, self.weights, self.codes = samples.attributes, samples.weights, samples.target.codes
        self.schema, self.n_classes = samples.attributes.schema, len(samples.target.classes)
        self.n_values = numbers_of_values(samples.attributes)
        self._fails: dict[Condition, BoolArray] = {}

    def fails(self, condition: Condition) -> BoolArray:
        if condition not in self._fails:
            self._fails[condition] = ~satisfied_by(condition, self.table)
        return self._fails[condition]

    def wrong(self, label: int) -> FloatArray:
        """Each row's weight if it is of another class, else 0."""
        return np.where(self.codes == label, 0.0, self.weights)

    def class_weights(self, is_taken: BoolArray) -> FloatArray:
        return weights_by(self.codes[is_taken], self.weights[is_taken], self.n_classes)


class _Draft:
    """A path that loses its conditions one by one."""

    def __init__(self, path: Rule, rows: _Rows) -> None:
        assert path.label is not None
        self._rows, self._label = rows, path.label
        self.conditions = [part for condition in path.conditions for part in _parts(condition, rows.schema)]
        self._n_failed = np.zeros(rows.table.n_rows, dtype=np.uint16)
        for condition in self.conditions:
            self._n_failed += rows.fails(condition)

    def errors_and_weights(self) -> FloatArray:
        """`[(errors, weight), :]` of the rule as it is, and without each of its conditions."""
        near = np.flatnonzero(self._n_failed <= 1)
        failed = np.zeros(len(near), dtype=np.int64)  # the only condition that the row fails, counted from 1
        for number, condition in enumerate(self.conditions, start=1):
            failed[self._rows.fails(condition)[near]] = number
        figures = np.stack(
            [
                weights_by(failed, weights[near], 1 + len(self.conditions))
                for weights in (self._rows.wrong(self._label), self._rows.weights)
            ]
        )
        figures[:, 1:] += figures[:, :1]
        return figures

    def drop_one(self, rates: FloatArray) -> bool:
        """Drop the condition whose removal gives the lowest rate, if no worse; returns whether one was dropped."""
        as_it_is, without = rates[0], rates[1:]
        if not len(without) or without.min() > as_it_is + TIE:
            return False
        dropped = self.conditions.pop(first_within_tie(-without))
        self._n_failed -= self._rows.fails(dropped)
        return True


def _generalised(paths: Sequence[Rule], rows: _Rows) -> list[tuple[Condition, ...]]:
    """The conditions kept of each path; all paths are shortened together, which computes their limits together."""
    drafts = [_Draft(path, rows) for path in paths]
    going = drafts
    while going:
        figures = [draft.errors_and_weights() for draft in going]
        errors, weights = np.concatenate(figures, axis=1)
        ends = np.cumsum([figure.shape[1] for figure in figures])[:-1]
        rates = np.split(_pessimistic_rates(errors, weights), ends)
        going = [draft for draft, own in zip(going, rates, strict=True) if draft.drop_one(own)]
    return [tuple(merged(draft.conditions)) for draft in drafts]


def _pessimistic_rates(errors: FloatArray, weights: FloatArray) -> FloatArray:
    """The upper limits of the rules' error rates; 1 for rules that cover nothing."""
    return np.where(weights > 0, upper_limits(errors, weights, CF), 1.0)


def _parts(condition: Condition, schema: Schema) -> list[Condition]:
    """The condition as those that can be dropped separately: an interval has two ends."""
    match condition:
        case Between(column, above, at_most, or_missing):
            return [Above(column, above, or_missing), AtMost(column, at_most, or_missing)]
        case IsOneOf(column, codes, or_missing) if _is_run(codes) and schema[column].kind is Kind.ORDINAL:
            end = len(schema[column].categories)
            sides = range(codes[0], end), range(codes[-1] + 1)
            return [IsOneOf(column, tuple(side), or_missing) for side in sides if len(side) < end] or [condition]
        case _:
            return [condition]


def _is_run(codes: tuple[int, ...]) -> bool:
    """Whether the codes are consecutive, like the categories of an ordinal attribute on one side of a threshold."""
    return bool(codes) and codes == tuple(range(codes[0], codes[-1] + 1))


def _restated(path: Rule, conditions: tuple[Condition, ...], rows: _Rows) -> Rule:
    """The rule with these conditions, and what it covers with them."""
    is_covered = np.ones(rows.table.n_rows, dtype=np.bool_)
    for condition in conditions:
        is_covered &= ~rows.fails(condition)
    weights = rows.class_weights(is_covered)
    support = float(weights.sum() / rows.weights.sum())
    return Rule(rule_id(conditions, rows.schema), path.leaf, conditions, support, path.label, tuple(weights.tolist()))


class _Candidates:
    """The rules to choose from, with `covers[rule, row]`; an order is an array of their indices."""

    def __init__(self, rules: Sequence[Rule], rows: _Rows) -> None:
        self.rules, self._rows, self._covers = rules, rows, covered(rules, rows.table)
        self._labels = np.array([rule.label for rule in rules], dtype=np.int64)
        weights = np.array([rule.weights for rule in rules]).reshape(len(rules), rows.n_classes)
        self._weight = weights.sum(axis=1)
        self._errors = self._weight - np.take_along_axis(weights, self._labels[:, None], axis=1)[:, 0]

    def positions_of(self, rules: Sequence[Rule]) -> RowArray:
        """The indices of these rules."""
        positions = {(rule.id, rule.label): index for index, rule in enumerate(self.rules)}
        return np.array([positions[rule.id, rule.label] for rule in rules], dtype=np.int64)

    def chosen(self, label: int, n_rules: int) -> RowArray:
        """The indices of the class's rules that are kept, of the first `n_rules`, by pessimistic error rate."""
        own = np.flatnonzero(self._labels[:n_rules] == label)
        if not len(own):
            return own
        asked = [self.rules[index].conditions for index in own.tolist()]
        bits = np.array([condition_bits(conditions, self._rows.schema, self._rows.n_values) for conditions in asked])
        wrong = self._rows.wrong(label)
        left = own[shortest_subset(Coverage(self._covers[own], bits, self._rows.weights - wrong, wrong))]
        return left[np.argsort(_pessimistic_rates(self._errors[left], self._weight[left]), kind="stable")]

    def in_order(self, by_class: Sequence[RowArray]) -> RowArray:
        """Concatenate the classes' rules; next is always the class that is wrong about the least of the rows left."""
        is_left, order = np.ones(self._rows.table.n_rows, dtype=np.bool_), np.empty(0, dtype=np.int64)
        waiting = [positions for positions in by_class if len(positions)]
        while waiting:
            taken = [self._covers[positions].any(axis=0) & is_left for positions in waiting]
            wrong = [self._rows.wrong(self._labels[p[0]])[t].sum() for p, t in zip(waiting, taken, strict=True)]
            first = first_within_tie(-np.array(wrong))
            order = np.append(order, waiting.pop(first))
            is_left &= ~taken[first]
        return order

    def default(self, order: RowArray, costs: FloatArray | None) -> int:
        """The class of the rows that no rule covers, or of all rows if none is left; with costs, the cheapest class."""
        is_left: BoolArray = _first(self._covers[order]) == len(order)
        weights = self._rows.class_weights(is_left if is_left.any() else ~is_left)
        return int(labels_of(shares(weights[None, :]), costs)[0])

    def without_harmful(self, order: RowArray, default: int, *, useless: bool = False) -> RowArray:
        """The order without rules whose rows are, all in all, answered better by later ones; drops the worst first.

        With `useless`, also without rules whose rows are answered equally well by later ones.
        """
        tolerance = TIE * float(self._rows.weights.sum())
        while len(order):
            covers = self._covers[order]
            first = _first(covers)
            others = np.vstack([covers, np.ones_like(covers[:1])])
            others[first, np.arange(len(first))] = False
            now, then = (self._wrong(order, default, positions) for positions in (first, np.argmax(others, axis=0)))
            saved = weights_by(first, now - then, len(order) + 1)[:-1]
            worst = first_within_tie(saved)
            if saved[worst] <= (-tolerance if useless else tolerance):
                break
            order = np.delete(order, worst)
        return order

    def with_needed(self, order: RowArray, default: int, most: float) -> RowArray:
        """The order with rules added in front until at most the weight `most` is answered wrongly.

        Always adds the rule that saves most. That may not be enough if values are missing, where a tree guesses.
        """
        wrong = self._wrong(order, default, _first(self._covers[order]))
        if wrong.sum() <= most or not self.rules:
            return order
        saved = np.array([wrong[covers].sum() for covers in self._covers]) - self._errors
        while wrong.sum() > most:
            best = first_within_tie(saved)
            if saved[best] <= TIE * most:
                break
            order = np.append(best, order[order != best])
            changed = np.flatnonzero(self._covers[best])
            after = self._rows.wrong(int(self._labels[best]))[changed]
            saved -= np.where(self._covers[:, changed], wrong[changed] - after, 0.0).sum(axis=1)
            wrong[changed] = after
        return self.without_harmful(order, default, useless=True)

    def _wrong(self, order: RowArray, default: int, deciding: RowArray) -> FloatArray:
        """Each row's weight if the rule that decides it, or the default, is wrong about it; else 0."""
        answers = np.append(self._labels[order], default)[deciding]
        return np.where(answers == self._rows.codes, 0.0, self._rows.weights)


def _first(covers: BoolArray) -> RowArray:
    """The first rule that covers each row; the number of rules if none does."""
    return np.argmax(np.vstack([covers, np.ones((1, covers.shape[1]), dtype=np.bool_)]), axis=0)
