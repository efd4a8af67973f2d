"""Trees by the book: slow, exact where it can be, and written from the specification alone.

Weights and sums are fractions, so nothing rounds but logarithms. `assert_grown_as_specified` walks a tree that
`core.growth` made and checks every node against what the definitions say must stand there.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from core.arithmetic.randomness import FOR_CUTS, key_of, path_key, root_key, uniform
from core.config.options import Algorithm, Categorical, CriterionKind, GainFilter, NumericKind
from core.growth.samples import Samples
from core.splits.split import SplitKind
from core.tables.schema import Kind
from core.tables.target import ClassTarget
from core.tree.tree import Tree

TIE = 1e-12

Rows = dict[int, Fraction]  # row -> its weight in the node


class AmbiguousError(Exception):
    """Two candidates are so near to the edge of a tie that rounding decides."""


@dataclass
class Choice:
    """An attribute's best split: its kind, the threshold or the equally good branch sets, and its figures."""

    column: int
    kind: SplitKind
    threshold: float | None
    branch_maps: list[tuple[int, ...]]
    gain: float
    score: float


class Reference:
    """The samples in exact form, with the rules of one algorithm."""

    def __init__(self, samples: Samples, algorithm: Algorithm, seed: int = 0) -> None:
        self.algorithm = algorithm
        self.root_key = root_key(seed)
        self.schema = samples.attributes.schema
        self.cells = [
            [_cell(attribute.kind, value) for value in values]
            for attribute, values in zip(self.schema, samples.attributes.columns, strict=True)
        ]
        self.is_classification = isinstance(samples.target, ClassTarget)
        if isinstance(samples.target, ClassTarget):
            self.n_classes = len(samples.target.classes)
            self.target: list[Any] = [int(code) for code in samples.target.codes]
        else:
            self.target = [tuple(Fraction(float(number)) for number in row) for row in samples.target.numbers]
        self.root: Rows = {row: Fraction(float(weight)) for row, weight in enumerate(samples.weights)}
        self.tie = TIE if self.is_classification else TIE * float(self.impurity(self.root))
        self.cuts: list[list[float]] = [[] for _ in self.schema]
        if algorithm.numeric.is_found_before_growth:
            self.cuts = [
                self.cuts_on_all_rows(column) if self.schema[column].kind is not Kind.CATEGORICAL else []
                for column in range(len(self.schema))
            ]

    # Quantities of a set of rows.

    def class_weights(self, rows: Rows) -> list[Fraction]:
        sums = [Fraction(0)] * self.n_classes
        for row, weight in rows.items():
            sums[self.target[row]] += weight
        return sums

    def outputs(self, rows: Rows) -> list[list[tuple[Fraction, Fraction]]]:
        """Weight and number of each row, output by output."""
        return [[(w, self.target[row][output]) for row, w in rows.items()] for output in range(len(self.target[0]))]

    def means(self, rows: Rows) -> list[Fraction]:
        return [sum((w * y for w, y in pairs), Fraction(0)) / total(rows) for pairs in self.outputs(rows)]

    def variances(self, rows: Rows) -> list[Fraction]:
        return [
            sum((w * (y - mean) ** 2 for w, y in pairs), Fraction(0)) / total(rows)
            for pairs, mean in zip(self.outputs(rows), self.means(rows), strict=True)
        ]

    def impurity(self, rows: Rows) -> float | Fraction:
        """Of the criterion; 0 for no rows."""
        if not rows:
            return 0.0
        kind = self.algorithm.criterion.kind
        if kind is CriterionKind.SQUARED_ERROR:
            return sum(self.variances(rows), Fraction(0))
        whole = total(rows)
        p = [weight / whole for weight in self.class_weights(rows)]
        if kind is CriterionKind.GINI:
            return 1 - sum((share**2 for share in p), Fraction(0))
        if kind is CriterionKind.ERROR_RATE:
            return 1 - max(p)
        return entropy(p)

    def is_pure(self, rows: Rows) -> bool:
        return len({self.target[row] for row in rows}) == 1

    def label(self, rows: Rows) -> int:
        whole = total(rows)
        return first_within([float(weight / whole) for weight in self.class_weights(rows)], TIE)

    # Splits.

    def gain(self, rows: Rows, branches: list[Rows]) -> float:
        """rho (H(D~) - sum_v r_v H(D~_v)); `branches` hold the known rows."""
        known = {row: weight for branch in branches for row, weight in branch.items()}
        rho, whole = total(known) / total(rows), total(known)
        parts = [total(branch) / whole * self.impurity(branch) for branch in branches if branch]
        if all(isinstance(part, Fraction) for part in parts):
            return float(rho * (self.impurity(known) - sum(parts)))
        return float(rho) * math.fsum([float(self.impurity(known)), *(-float(part) for part in parts)])

    def score(self, gain: float, branches: list[Rows], column: int) -> float:
        costs = self.algorithm.attribute_costs
        if costs is not None:
            cost = costs.costs.get(self.schema[column].name, 1.0)
            return gain**2 / cost if costs.kind == "tan_schlimmer" else (2**gain - 1) / (cost + 1) ** costs.w
        if self.algorithm.criterion.kind is not CriterionKind.GAIN_RATIO:
            return gain
        return gain / intrinsic_value(branches)

    def branches(self, rows: Rows, column: int, branch_of: Any, n_branches: int) -> list[Rows]:
        """The rows whose value is known, by branch."""
        found: list[Rows] = [{} for _ in range(n_branches)]
        for row, weight in rows.items():
            if self.cells[column][row] is not None:
                found[branch_of(self.cells[column][row])][row] = weight
        return found

    def choices(self, rows: Rows, column: int, key: int) -> list[Choice | None]:
        """One-hot: every value of a categorical attribute is an attribute of its own."""
        attribute = self.schema[column]
        if attribute.kind is not Kind.CATEGORICAL or self.algorithm.categorical is not Categorical.ONE_HOT:
            return [self.choice(rows, column, key)]
        found: list[Choice | None] = []
        for value in range(len(attribute.categories)):
            sides = self.branches(rows, column, lambda code, value=value: int(code != value), 2)
            if self.big_enough(sides) == 2:
                gain, score = self.gain(rows, sides), self.score(self.gain(rows, sides), sides, column)
                branch_of = tuple(int(code != value) for code in range(len(attribute.categories)))
                found.append(Choice(column, SplitKind.ONE_VS_REST, None, [branch_of], gain, score))
        return found

    def choice(self, rows: Rows, column: int, key: int) -> Choice | None:
        """The attribute's own best split; None when it has no valid one."""
        if self.schema[column].kind is Kind.CATEGORICAL:
            return self.categorical_choice(rows, column)
        if self.algorithm.numeric.makes_intervals:
            return self.interval_choice(rows, column)
        return self.threshold_choice(rows, column, key)

    def interval_choice(self, rows: Rows, column: int) -> Choice | None:
        cuts = self.cuts[column]
        sides = self.branches(rows, column, lambda value: sum(value > cut for cut in cuts), len(cuts) + 1)
        if self.big_enough(sides) < 2:
            return None
        gain = self.gain(rows, sides)
        return Choice(column, SplitKind.INTERVALS, None, [()], gain, self.score(gain, sides, column))

    def cuts_on_all_rows(self, column: int) -> list[float]:
        if self.algorithm.numeric.kind is NumericKind.MDLP:
            return sorted(self.mdlp({r: w for r, w in self.root.items() if self.cells[column][r] is not None}, column))
        return self.thresholds(self.root, column, 0)

    def mdlp(self, rows: Rows, column: int) -> list[float]:
        """Fayyad and Irani's recursion, on rows whose value is known."""
        values = sorted({self.cells[column][row] for row in rows})
        if len(values) < 2:
            return []
        middles = [middle(low, high) for low, high in pairwise(values)]
        sides = [self.branches(rows, column, lambda value, t=t: int(value > t), 2) for t in middles]
        entropies = [[self.entropy(side) for side in both] for both in sides]
        whole, ent = total(rows), self.entropy(rows)
        gains = [
            math.fsum([ent, *(-float(total(s) / whole) * e for s, e in zip(both, es, strict=True))])
            for both, es in zip(sides, entropies, strict=True)
        ]
        best = first_within(gains, TIE)
        n = float(whole)
        if n <= 1:
            return []
        k, *ks = (sum(1 for w in self.class_weights(part) if w > 0) for part in (rows, *sides[best]))
        cost = math.log2(n - 1) / n + (math.log2(3**k - 2) - k * ent) / n
        cost += math.fsum(k_side * e for k_side, e in zip(ks, entropies[best], strict=True)) / n
        if abs(gains[best] - cost) < 1e-9:
            raise AmbiguousError("at the limit of MDLP")
        if gains[best] < cost:
            return []
        return [middles[best], *self.mdlp(sides[best][0], column), *self.mdlp(sides[best][1], column)]

    def entropy(self, rows: Rows) -> float:
        whole = total(rows)
        return entropy([weight / whole for weight in self.class_weights(rows)])

    def thresholds(self, rows: Rows, column: int, key: int) -> list[float]:
        """The candidates by the numeric option; one for each gap between values, ascending."""
        numeric = self.algorithm.numeric
        values = sorted({self.cells[column][row] for row in rows if self.cells[column][row] is not None})
        if len(values) < 2:
            return []
        low, high, bins = float(values[0]), float(values[-1]), numeric.bins
        match numeric.kind:
            case NumericKind.EXACT:
                return [middle(a, b) for a, b in pairwise(values)]
            case NumericKind.BOUNDARY:
                return [middle(a, b) for a, b in pairwise(values) if self.class_changes(rows, column, a, b)]
            case NumericKind.QUANTILE:
                return [middle(a, b) for a, b in pairwise(values) if self.reaches_a_share(rows, column, a)]
            case NumericKind.UNIFORM:
                candidates = [low + j * (high - low) / bins for j in range(1, bins)]
            case NumericKind.RANDOM:
                keys = [key_of(key_of(key_of(key, FOR_CUTS), column), draw) for draw in range(numeric.draws)]
                candidates = [low + uniform(key) * (high - low) for key in keys]
                candidates = [t if t < high or math.isinf(t) else low for t in candidates]
            case NumericKind.MDLP:
                candidates = self.cuts[column]
        if not all(map(math.isfinite, candidates)):
            raise AmbiguousError("beyond float64")
        inside = [[t for t in candidates if a <= t < b] for a, b in pairwise(values)]
        return [min(found) for found in inside if found]

    def reaches_a_share(self, rows: Rows, column: int, value: float) -> bool:
        """Whether the known weight up to this value reaches some j/b of the whole that it did not reach before."""
        bins = self.algorithm.numeric.bins
        known = {row: weight for row, weight in rows.items() if self.cells[column][row] is not None}
        whole = total(known)
        up_to = total({row: w for row, w in known.items() if self.cells[column][row] <= value})
        before = total({row: w for row, w in known.items() if self.cells[column][row] < value})
        for j in range(1, bins):
            wanted = whole * j / bins
            if any(0 < abs(reached - wanted) < whole * Fraction(1, 10**9) for reached in (up_to, before)):
                raise AmbiguousError("at a share")
            if before < wanted <= up_to:
                return True
        return False

    def threshold_choice(self, rows: Rows, column: int, key: int) -> Choice | None:
        scored = []
        for threshold in self.thresholds(rows, column, key):
            sides = self.branches(rows, column, lambda value, t=threshold: int(value > t), 2)
            if self.big_enough(sides) == 2:
                scored.append((threshold, sides, self.gain(rows, sides)))
        if not scored:
            return None
        best = first_within([gain for *_, gain in scored], self.tie)
        threshold, sides, gain = scored[best]
        return Choice(column, SplitKind.THRESHOLD, threshold, [()], gain, self.score(gain, sides, column))

    def class_changes(self, rows: Rows, column: int, low: float, high: float) -> bool:
        return len({self.target[row] for row in rows if self.cells[column][row] in (low, high)}) > 1

    def categorical_choice(self, rows: Rows, column: int) -> Choice | None:
        n = len(self.schema[column].categories)
        if self.algorithm.categorical is Categorical.MULTIWAY:
            sides = self.branches(rows, column, int, n)
            if self.big_enough(sides) < 2:
                return None
            gain = self.gain(rows, sides)
            score = self.score(gain, sides, column)
            return Choice(column, SplitKind.MULTIWAY, None, [tuple(range(n))], gain, score)
        present = sorted({self.cells[column][row] for row in rows if self.cells[column][row] is not None})
        scored = []
        for first in self.with_rare_as_one(rows, column, present):
            sides = self.branches(rows, column, lambda code, first=first: int(code not in first), 2)
            if self.big_enough(sides) == 2:
                scored.append((self.branch_map(n, present, first, sides), sides, self.gain(rows, sides)))
        if not scored:
            return None
        best = first_within([gain for *_, gain in scored], self.tie)
        _, sides, gain = scored[best]
        if self.algorithm.categorical is Categorical.ONE_VS_REST:
            return Choice(column, SplitKind.ONE_VS_REST, None, [scored[best][0]], gain, self.score(gain, sides, column))
        largest = max(gain for *_, gain in scored)
        equal = [branch_map for branch_map, _, g in scored if g >= largest - self.tie]
        if len(equal) > 1 and self.algorithm.criterion.kind is CriterionKind.GAIN_RATIO:
            raise AmbiguousError("the specification does not order groupings, and their ratios differ")
        return Choice(column, SplitKind.GROUPS, None, equal, gain, self.score(gain, sides, column))

    def first_groups(self, present: list[int]) -> Iterable[set[int]]:
        """One value alone, or every group that holds the earliest value."""
        if self.algorithm.categorical is Categorical.ONE_VS_REST:
            return [{code} for code in present] if len(present) > 1 else []
        others = present[1:]
        return [{present[0], *more} for n in range(len(others)) for more in combinations(others, n)]

    def with_rare_as_one(self, rows: Rows, column: int, present: list[int]) -> list[set[int]]:
        """The first groups to try when values of little weight count together, in the place of the earliest."""
        limit = self.algorithm.min_category_weight
        weight_of = {code: total({r: w for r, w in rows.items() if self.cells[column][r] == code}) for code in present}
        if any(0 < abs(float(weight) - limit) < 1e-9 for weight in weight_of.values()):
            raise AmbiguousError("at the limit of rarity")
        rare = [code for code in present if weight_of[code] < limit - TIE]
        kept = [code for code in present if code not in rare[1:]]
        return [group | set(rare) if rare and rare[0] in group else group for group in self.first_groups(kept)]

    def branch_map(self, n: int, present: list[int], first: set[int], sides: list[Rows]) -> tuple[int, ...]:
        """A declared value without rows is one of the rest, or joins the heavier group."""
        absent = 1
        if self.algorithm.categorical is Categorical.TWO_GROUPS:
            absent = int(total(sides[0]) < total(sides[1]))
        return tuple((0 if code in first else 1) if code in present else absent for code in range(n))

    def big_enough(self, sides: list[Rows]) -> int:
        limit = self.algorithm.stopping.min_samples_leaf
        return sum(1 for side in sides if side and total(side) >= limit - TIE)

    def best(self, rows: Rows, spent: frozenset[int], key: int) -> Choice | None:
        """The winner by the criterion; None when the node is to be a leaf."""
        stopping = self.algorithm.stopping
        columns = [column for column in range(len(self.schema)) if column not in spent]
        choices = [choice for column in columns for choice in self.choices(rows, column, key)]
        valid = [choice for choice in choices if choice is not None]
        if not valid:
            return None
        eligible = self.filtered(valid)
        chosen = eligible[first_within([choice.score for choice in eligible], self.tie)]
        for value, limit in ((chosen.gain, stopping.min_gain), (chosen.score, stopping.min_score)):
            if is_near_edge(limit - value, self.tie):
                raise AmbiguousError("at a limit")
            if value < limit - self.tie:
                return None
        return chosen

    def filtered(self, choices: list[Choice]) -> list[Choice]:
        """Among which attributes the gain ratio may choose."""
        gains = [choice.gain for choice in choices]
        if self.algorithm.criterion.filter is GainFilter.ABOVE_AVERAGE:
            average = math.fsum(gains) / len(gains)
            if any(is_near_edge(average - gain, TIE) for gain in gains):
                raise AmbiguousError("at the average")
            return [choice for choice in choices if choice.gain >= average - TIE]
        if self.algorithm.criterion.filter is GainFilter.BETTER_HALF:
            n = math.ceil(len(gains) / 2)
            ranked = sorted(gains, reverse=True)
            if n < len(ranked) and ranked[n - 1] - ranked[n] < 1e-9:
                raise AmbiguousError("equal gains on both sides of the better half")
            return [choice for choice in choices if choice.gain >= ranked[n - 1]]
        return choices

    def is_stopped(self, rows: Rows, depth: int) -> bool:
        stopping = self.algorithm.stopping
        if not rows or self.is_pure(rows):
            return True
        if stopping.max_depth is not None and depth >= stopping.max_depth:
            return True
        if total(rows) < stopping.min_samples_split - TIE:
            return True
        impurity = float(self.impurity(rows))
        if stopping.min_impurity > 0 and abs(impurity - stopping.min_impurity) < 1e-12:
            raise AmbiguousError("at the impurity limit")
        return impurity <= stopping.min_impurity

    def send_down(self, rows: Rows, column: int, branch_of: Any, n_branches: int) -> tuple[list[Rows], list[Fraction]]:
        """The rows of each child and r_v; a row without the value goes to every child."""
        known = self.branches(rows, column, branch_of, n_branches)
        whole = sum((total(branch) for branch in known), Fraction(0))
        shares = [total(branch) / whole for branch in known]
        children = []
        for branch, share in zip(known, shares, strict=True):
            unknown = {row: w * share for row, w in rows.items() if self.cells[column][row] is None and share > 0}
            children.append(dict(sorted({**branch, **unknown}.items())))
        return children, shares


def assert_grown_as_specified(samples: Samples, algorithm: Algorithm, tree: Tree, *, seed: int = 0) -> None:
    """Every node of the tree is what the specification says; raises AmbiguousError where rounding decides."""
    reference = Reference(samples, algorithm, seed)
    if algorithm.numeric.is_found_before_growth:
        assert [list(cuts or ()) for cuts in tree.cuts] == reference.cuts
    end = _assert_node(reference, tree, 0, reference.root, None, 0, frozenset(), reference.root_key)
    assert end == len(tree)


def _assert_node(
    reference: Reference,
    tree: Tree,
    node: int,
    rows: Rows,
    parent: Rows | None,
    depth: int,
    spent: frozenset[int],
    key: int,
) -> int:
    """Check the subtree at a node; the number of the node after it."""
    assert tree.depth[node] == depth
    _assert_figures(reference, tree, node, rows, parent)
    chosen = None if reference.is_stopped(rows, depth) else reference.best(rows, spent, key)
    if chosen is None:
        assert tree.size[node] == 1, f"node {node} is split on {tree.column[node]}, and should be a leaf"
        assert tree.column[node] == -1
        return node + 1
    assert tree.size[node] > 1, f"node {node} is a leaf, and should be split on {chosen}"
    split = tree.split(node)
    assert split.column == chosen.column, f"node {node} is split on {split.column}, and should be on {chosen}"
    assert split.kind is chosen.kind
    assert tree.gain[node] == pytest.approx(chosen.gain, rel=1e-6, abs=max(1e-9, 1e3 * reference.tie))
    if len(chosen.branch_maps) == 1:
        assert tree.score[node] == pytest.approx(chosen.score, rel=1e-6, abs=max(1e-9, 1e3 * reference.tie))
    if chosen.threshold is not None:
        assert split.threshold == chosen.threshold  # bit for bit
        children, shares = reference.send_down(rows, split.column, lambda value: int(value > split.threshold), 2)
    elif chosen.kind is SplitKind.INTERVALS:
        cuts = reference.cuts[split.column]
        assert list(split.cuts) == cuts
        children, shares = reference.send_down(
            rows, split.column, lambda value: sum(value > cut for cut in cuts), len(cuts) + 1
        )
    else:
        assert split.branch_of in chosen.branch_maps
        children, shares = reference.send_down(rows, split.column, split.branch_of.__getitem__, split.n_branches)
    assert len(tree.children(node)) == len(children)
    after = node + 1
    spends = split.kind in (SplitKind.MULTIWAY, SplitKind.INTERVALS)
    spent_below = spent | {split.column} if spends else spent
    for branch, (child_rows, share) in enumerate(zip(children, shares, strict=True)):
        assert tree.share[after] == pytest.approx(float(share), rel=1e-9)
        child_key = path_key(key, branch)
        after = _assert_node(reference, tree, after, child_rows, rows, depth + 1, spent_below, child_key)
    return after


def _assert_figures(reference: Reference, tree: Tree, node: int, rows: Rows, parent: Rows | None) -> None:
    """Weight, distribution or mean, impurity and answer of a node."""
    assert tree.weight[node] == pytest.approx(float(total(rows)), rel=1e-9)
    answering = rows or parent
    assert answering is not None
    if reference.is_classification:
        weights = [float(weight) for weight in reference.class_weights(rows)]
        assert tree.values[node] == pytest.approx(weights, rel=1e-9)
        whole = float(total(answering))
        shares = [float(weight) / whole for weight in reference.class_weights(answering)]
        assert tree.answers[node] == pytest.approx(shares, rel=1e-9)
        assert tree.labels[node] == reference.label(answering)
    else:
        assert tree.answers[node] == pytest.approx(list(map(float, reference.means(answering))), rel=1e-14, abs=1e-9)
        if rows:
            variances = list(map(float, reference.variances(rows)))
            assert tree.variances[node] == pytest.approx(variances, rel=1e-6, abs=1e-12)
    assert tree.impurity[node] == pytest.approx(
        float(reference.impurity(rows)), rel=1e-6, abs=max(1e-9, 10 * reference.tie)
    )


def total(rows: Rows) -> Fraction:
    return sum(rows.values(), Fraction(0))


def entropy(p: Sequence[Fraction]) -> float:
    return math.fsum(-float(share) * math.log2(float(share)) for share in p if share > 0)


def intrinsic_value(branches: list[Rows]) -> float:
    whole = sum((total(branch) for branch in branches), Fraction(0))
    value = entropy([total(branch) / whole for branch in branches])
    if value < 1e-4:
        raise AmbiguousError("the ratio to so small an intrinsic value is all rounding")
    return value


def middle(low: float, high: float) -> float:
    """The midpoint, rounded once, but below the higher value."""
    rounded = float((Fraction(low) + Fraction(high)) / 2)
    return rounded if rounded < high else low


def first_within(values: Sequence[float], tie: float) -> int:
    """The first value within a tie of the largest."""
    largest = max(values)
    if any(is_near_edge(largest - value, tie) for value in values):
        raise AmbiguousError("at the edge of a tie")
    return next(position for position, value in enumerate(values) if value >= largest - tie)


def is_near_edge(difference: float, tie: float) -> bool:
    """Whether a difference lies so near to a tie that another order of sums could fall on the other side."""
    return tie / 100 < difference < tie * 100


def _cell(kind: Kind, value: Any) -> float | int | None:
    if kind is Kind.NUMERIC:
        return None if np.isnan(value) else float(value)
    return None if value < 0 else int(value)
