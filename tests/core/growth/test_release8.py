"""C4.5 as programmed, against a slow twin written from section 9 of the specification alone."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import (
    Categorical,
    ColumnDivision,
    CriterionKind,
    Dialect,
    NoDivision,
    NumericCorrection,
    ReducedErrorPruning,
    TrainingConfig,
)
from core.config.presets import resolve
from core.engine.considered import candidates_by_node
from core.storage.serialization import dump, load
from core.tables.schema import Kind
from core.tables.target import Task
from core.training.preparation import prepare
from core.tree.tree import full_view
from tests.core.both_engines import grow, train
from tests.core.building import samples_of, table_of
from tests.core.strategies import crowded_samples
from tests.examples import examples

pytestmark = pytest.mark.bounds

RELEASE8 = resolve("c45", {"dialect": "release8"}, Task.CLASSIFICATION)


class Slow:
    """Section 9, rules 1 to 6, row by row."""

    def __init__(self, samples, m):
        self.samples, self.m = samples, m
        self.schema = samples.attributes.schema
        self.n_classes = len(samples.target.classes)

    def value(self, column, row):
        cell = self.samples.attributes.columns[column][row]
        return None if (np.isnan(cell) if self.schema[column].kind is Kind.NUMERIC else cell < 0) else float(cell)

    def entropy(self, rows):
        by_class = {}
        for row, weight in rows:
            code = self.samples.target.codes[row]
            by_class[code] = by_class.get(code, 0.0) + weight
        whole = sum(by_class.values())
        return -sum(w / whole * math.log2(w / whole) for w in by_class.values() if w > 0)

    def gain(self, rows, branches):
        known = [one for branch in branches for one in branch]
        whole = weight_of(known)
        after = sum(weight_of(branch) / whole * self.entropy(branch) for branch in branches if branch)
        return whole / weight_of(rows) * (self.entropy(known) - after)

    def ratio(self, gain, rows, branches):
        whole = weight_of(rows)
        parts = [weight_of(branch) for branch in branches]
        parts.append(whole - sum(parts))
        information = -sum(p / whole * math.log2(p / whole) for p in parts if p > 1e-9)
        return gain / information if information > 1e-6 else 0.0

    def numeric(self, rows, column):
        known = sorted((self.value(column, row), row, w) for row, w in rows if self.value(column, row) is not None)
        weight = sum(w for *_, w in known)
        least = max(self.m, min(25, 0.1 * weight / self.n_classes))
        best, largest, n_candidates = None, 0.0, 0
        for position in range(1, len(known)):
            if not known[position - 1][0] + 1e-5 < known[position][0]:
                continue
            sides = [[(row, w) for _, row, w in part] for part in (known[:position], known[position:])]
            if min(map(weight_of, sides)) <= least - 1e-6:
                continue
            n_candidates += 1
            gain = self.gain(rows, sides)
            if gain > largest + 1e-6:
                best, largest = (sides, (known[position - 1][0], known[position][0])), gain
        if best is None:
            return None
        corrected = largest - math.log2(n_candidates) / weight_of(rows)
        if corrected < 1e-6:
            return None
        sides, gap = best
        return corrected, self.ratio(corrected, rows, sides), gap

    def categorical(self, rows, column):
        branches = [[] for _ in self.schema[column].categories]
        for row, weight in rows:
            if self.value(column, row) is not None:
                branches[int(self.value(column, row))].append((row, weight))
        if sum(1 for branch in branches if branch and weight_of(branch) > self.m - 1e-6) < 2:
            return None
        gain = self.gain(rows, branches)
        return gain, self.ratio(gain, rows, branches), None

    def is_many(self, column):
        attribute = self.schema[column]
        return attribute.kind is Kind.CATEGORICAL and len(attribute.categories) >= 0.3 * len(self.samples) - 1e-6

    def choose(self, rows, spent):
        """The column to split on and the gap of its threshold; None for a leaf."""
        if len({int(self.samples.target.codes[row]) for row, _ in rows}) < 2 or weight_of(rows) < 2 * self.m - 1e-6:
            return None
        models = {}
        for column in range(len(self.schema)):
            if column not in spent:
                kind = self.schema[column].kind
                found = (self.categorical if kind is Kind.CATEGORICAL else self.numeric)(rows, column)
                if found is not None:
                    models[column] = found
        every_is_many = all(self.is_many(column) for column in range(len(self.schema)))
        gains = [gain for column, (gain, *_) in models.items() if every_is_many or not self.is_many(column)]
        if not gains:
            return None
        average, best, largest = sum(gains) / len(gains), None, 0.0
        for column, (gain, ratio, gap) in models.items():
            if gain >= average - 0.001 and ratio > largest + 1e-6:
                best, largest = (column, gap), ratio
        return best


def weight_of(rows):
    return sum(weight for _, weight in rows)


def assert_same(slow, tree, node, rows, spent):
    """The subtree is what the slow twin grows; the number of the node after it."""
    chosen = slow.choose(rows, spent) if rows else None
    if chosen is None:
        assert tree.column[node] == -1, f"node {node} should be a leaf"
        return node + 1
    column, gap = chosen
    assert tree.column[node] == column
    split = tree.split(node)
    if gap is not None:
        assert gap[0] <= split.threshold < gap[1]
    branch_of = {row: None if (v := slow.value(column, row)) is None else (
        int(v > split.threshold) if gap is not None else int(v)) for row, _ in rows}  # fmt: skip
    known = [[(row, w) for row, w in rows if branch_of[row] == b] for b in range(split.n_branches)]
    whole = sum(map(weight_of, known))
    after = node + 1
    for branch in known:
        share = weight_of(branch) / whole
        parts = [(row, w * share) for row, w in rows if branch_of[row] is None and share > 0]
        assert tree.weight[after] == pytest.approx(weight_of([*branch, *parts]))
        after = assert_same(slow, tree, after, sorted([*branch, *parts]), spent | ({column} if gap is None else set()))
    return after


@examples(150)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 3]))
def test_trees_are_those_of_section_9(seed, m):
    chance = np.random.default_rng(seed)
    samples = crowded_samples(chance, Task.CLASSIFICATION, min_rows=8, max_rows=40)
    samples = replace(samples, weights=np.ones(len(samples)))
    algorithm = replace(RELEASE8, stopping=replace(RELEASE8.stopping, min_samples_leaf=m))
    tree, _ = grow(samples, algorithm)
    assert assert_same(Slow(samples, m), tree, 0, [(row, 1.0) for row in range(len(samples))], set()) == len(tree)
    for node, candidates in candidates_by_node(full_view(tree), samples, algorithm).items():
        found = next(one for one in candidates if one.split.column == tree.column[node])
        assert (found.gain, found.score) == (tree.gain[node], tree.score[node])


def test_the_defaults_of_the_dialect():
    assert (RELEASE8.dialect, RELEASE8.collapse) == (Dialect.RELEASE8, True)
    assert RELEASE8.criterion.numeric_correction is NumericCorrection.RELEASE8
    assert (RELEASE8.criterion.kind, RELEASE8.categorical) == (CriterionKind.GAIN_RATIO, Categorical.MULTIWAY)
    plain = resolve("c45", {}, Task.CLASSIFICATION)
    assert (plain.dialect, plain.collapse) == (Dialect.TEXTBOOK, False)
    assert plain.criterion.numeric_correction is NumericCorrection.NONE


def test_a_threshold_pays_for_the_number_it_was_chosen_from():
    # 8 rows, a clean cut in the middle, m = 2: cuts after rows 2 to 6 leave two on both sides, so c = 5 and the gain
    # is 1 - log2(5)/8 = 0.7098; both sides weigh 4, so the ratio is the same.
    samples = samples_of({"n": list(range(8))}, ["p"] * 4 + ["q"] * 4)
    tree, _ = grow(samples, RELEASE8)
    assert tree.threshold[0] == 3.5
    assert (tree.gain[0], tree.score[0]) == (pytest.approx(1 - math.log2(5) / 8), pytest.approx(1 - math.log2(5) / 8))


def test_missing_weight_counts_as_one_more_branch():
    # 4 known of 5: gain 0.8 · 1 = 0.8 less log2(1)/5 = 0; information of (2, 2, 1)/5 = 1.5219.
    samples = samples_of({"n": [1, 1, 2, 2, None]}, ["p", "p", "q", "q", "p"])
    found = candidates_by_node(full_view(grow(samples, RELEASE8)[0]), samples, RELEASE8)[0][0]
    assert found.gain == pytest.approx(0.8)
    assert found.score == pytest.approx(0.8 / 1.5219280948873621)


def test_values_nearer_than_a_hundred_thousandth_are_one():
    samples = samples_of({"n": [1, 1, 1.000005, 1.000005]}, ["p", "p", "q", "q"])
    assert len(grow(samples, RELEASE8)[0]) == 1


def test_a_subtree_that_errs_as_often_as_its_root_is_collapsed_and_told():
    # Both branches answer p: the split gains, but saves no error.
    columns = {"a": ["x"] * 6 + ["y"] * 4, "y": ["p"] * 6 + ["p", "p", "p", "q"]}
    config = TrainingConfig("y", RELEASE8, division=NoDivision())
    model = train(prepare(table_of(columns), config, {}), config)
    (step,) = model.history.steps
    assert (step.method, step.decision, step.before, step.after) == ("collapse", "cut", 1.0, 1.0)
    assert len(model.view(1).leaves) == 1
    assert load(dump(model)).history.steps == model.history.steps
    kept = replace(config, algorithm=replace(RELEASE8, collapse=False))
    assert train(prepare(table_of(columns), kept, {}), kept).history.steps == ()


def test_reduced_error_pruning_does_not_collapse_first():
    columns = {"a": ["x"] * 6 + ["y"] * 5, "y": ["p"] * 9 + ["q", "p"], "part": ["train"] * 10 + ["validation"]}
    config = TrainingConfig("y", RELEASE8, division=ColumnDivision("part"), pruning=ReducedErrorPruning())
    model = train(prepare(table_of(columns), config, {}), config)
    assert [step.method for step in model.history.steps] == ["reduced_error"]


def test_the_textbook_can_take_the_correction_alone():
    corrected = {"criterion": {"kind": "gain_ratio", "numeric_correction": "release8"}}
    algorithm = resolve("c45", corrected, Task.CLASSIFICATION)
    assert algorithm.dialect is Dialect.TEXTBOOK
    samples = samples_of({"n": list(range(8))}, ["p"] * 4 + ["q"] * 4)
    tree, _ = grow(samples, algorithm)
    assert tree.gain[0] == pytest.approx(1 - math.log2(5) / 8)  # five cuts leave two rows on both sides
    # One row of the other class among four: what it gains is less than the choice among three cuts costs.
    noise = samples_of({"n": [1, 2, 3, 4]}, ["p", "q", "p", "p"])
    assert len(grow(noise, replace(algorithm, stopping=replace(algorithm.stopping, min_samples_leaf=1)))[0]) == 1
