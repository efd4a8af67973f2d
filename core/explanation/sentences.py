"""Why a record got its answer, in plain words: what was known, what was not, and what that could change.

    是, because 纹理 = 清晰 and 根蒂 = 蜷缩: 4 of 4 training samples like this are 是.

Texts have bounded length however large the tree is: of many paths, names or values the first few are given, and the
number of the others.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.explanation.answered_record import AnsweredRecord
from core.explanation.tree_words import NODES_KEPT, TreeWords
from core.explanation.what_could_change import PossibleChanges
from core.explanation.wording import is_or_are, listed, percent_text, probability_text
from core.growth.held_out import labels_of
from core.prediction.answers import Answers
from core.prediction.predictor import Predictor
from core.prediction.record_walk import branch_of, cells_of
from core.prediction.routing import MissingPolicy
from core.records.records import EncodedRecords, State
from core.tables.table import Table
from core.tables.target import Task
from core.tree.model import Model

MOST_PATHS = 3
MOST_ENDS = 64  # leaves of a record up to which its text is cached for others like it


class Sentences:
    """Texts about the answers of one tree; `model` is as of the step that the predictor is for.

    The text for a complete record depends on its leaf alone, and is cached.
    """

    def __init__(self, model: Model, predictor: Predictor) -> None:
        self._view, self._tree = predictor.view, predictor.view.tree
        self._words = TreeWords(model)
        self._changes = PossibleChanges(model.attributes, predictor, self._words)
        self._of_complete = lru_cache(maxsize=NODES_KEPT)(self._complete)
        self._kept: dict[tuple[bytes, tuple[int, ...]], str] = {}

    def all(self, sent: EncodedRecords, taken: Table, answers: Answers, policy: MissingPolicy) -> list[str]:
        """Why each record got its answer; `taken` are the records as the tree saw them."""
        reached = answers.ends.by_row()
        if sent.states is None:
            return [self._of_complete(ends[0][0]) for ends in reached]
        has_holes, told = np.any(sent.states, axis=1), []
        cells = iter(cells_of(taken.take(np.flatnonzero(has_holes))))
        is_told_by_ends = self._is_told_by_ends and policy is MissingPolicy.WEIGHTED and taken is sent.table
        for row, ends in enumerate(reached):
            if not has_holes[row]:
                told.append(self._of_complete(ends[0][0]))
                continue
            states = sent.states[row].tobytes()
            holes = {column: State(state) for column, state in enumerate(states) if state != State.KNOWN}
            is_decided = bool(answers.is_decided[row])
            record = AnsweredRecord(next(cells), holes, ends, answers.values[row], policy, is_decided)
            told.append(self._by_ends(record, states) if is_told_by_ends else self.why(record))
        return told

    @cached_property
    def _is_told_by_ends(self) -> bool:
        """Whether the leaves that a record reaches by weight determine the outcomes of all tests that it could meet.

        They do unless there are tests below a branch that no training sample took, or branches for missing values. A
        record that takes such a branch does not show the others, which it could take if the value were known.
        """
        is_inner = self._view.is_visible & ~self._view.is_leaf
        return bool((self._tree.share[is_inner] > 0).all() and (self._tree.missing_branch < 0).all())

    def _by_ends(self, record: AnsweredRecord, states: bytes) -> str:
        """`why`, cached for all records that lack the same values and reach the same leaves."""
        if len(record.reached) > MOST_ENDS:
            return self.why(record)
        key = states, tuple(node for node, _ in record.reached)
        told = self._kept.get(key)
        if told is None:
            if len(self._kept) >= NODES_KEPT:
                self._kept.clear()
            told = self._kept[key] = self.why(record)
        return told

    def why(self, record: AnsweredRecord) -> str:
        """Why a record with missing or unseen values got its answer."""
        told = self._by_one_path(record) if len(record.reached) == 1 else self._by_many_paths(record)
        return f"{told} {self._changes.sentences(record, self._label(record.answer))}"

    def of_leaf(self, leaf: int, holes: Sequence[int]) -> str:
        """Why a record is answered by one leaf, for all possible values in the columns `holes`."""
        told = self._of_complete(leaf)
        return f"{told} {self._changes.decided(holes, self._label_of(leaf))}" if holes else told

    def _complete(self, leaf: int) -> str:
        return self._because(leaf, list(self._words.conditions(leaf).values()))

    def _because(self, node: int, reasons: list[str]) -> str:
        """A node's answer, why the record came to the node, and its training samples."""
        because = f", because {listed(reasons)}" if reasons else ""
        return f"{self._words.answer(node)}{because}: {self._words.evidence(node)}."

    def _by_one_path(self, record: AnsweredRecord) -> str:
        """The text for a record that came to one node as a whole."""
        node = record.reached[0][0]
        known, reasons = dict(self._words.conditions(node)), []
        for parent, child in self._words.way(node):
            split = self._tree.split(parent)
            asked = self._words.linear(split, int(self._tree.branch[child])) or split.column
            if not record.holes.keys().isdisjoint(split.columns):
                reasons.append(self._passed(record, parent, child))
            elif asked in known:
                reasons.append(known.pop(asked))
        if not self._view.is_leaf[node]:
            names = [self._words.name(column) for column in self._tree.split(node).columns if column in record.holes]
            reasons.append(f"{listed(names)}, which is asked next, {is_or_are(names)} not known")
        return self._because(node, reasons)

    def _passed(self, record: AnsweredRecord, parent: int, child: int) -> str:
        """A test that was passed without the value, and how."""
        split = self._tree.split(parent)
        passed = self._words.branch(split, int(self._tree.branch[child]))
        if all(record.cells[column] == record.cells[column] for column in split.columns):
            return f"{passed} (not known; filled in as in training)"
        if split.missing_branch >= 0:
            return passed if record.holes[split.column] is State.MISSING else f"{passed} (never seen, so as if missing)"
        surrogates = self._tree.surrogates_of(parent) if record.policy is MissingPolicy.SURROGATE else ()
        for stand_in in (surrogate.split for surrogate in surrogates):
            branch = branch_of(stand_in, record.cells[stand_in.column])
            if branch >= 0:
                return f"{passed} (not known; {self._words.branch(stand_in, branch)} stands in)"
        share = percent_text(float(self._tree.share[child]))
        return f"{passed} (not known; {share} of the training data goes this way)"

    def _by_many_paths(self, record: AnsweredRecord) -> str:
        """The text for a record whose parts came to several leaves."""
        label, heaviest = self._label(record.answer), sorted(record.reached, key=lambda one: -one[1])
        parts = [self._part(leaf, weight, label) for leaf, weight in heaviest[:MOST_PATHS]]
        rest = [weight for _, weight in heaviest[MOST_PATHS:]]
        if rest:
            parts.append(f"{percent_text(sum(rest))} on {len(rest)} more {'path' if len(rest) == 1 else 'paths'}")
        return (
            f"{self._mixed(record.answer, label)}: {self._causes(record)}, so every branch counts by its share of the "
            f"training data: {'; '.join(parts)}."
        )

    def _causes(self, record: AnsweredRecord) -> str:
        """The values that the record would have needed."""
        asked = self._changes.met(record)
        unknown, unseen = (
            [self._words.name(column) for column, found in record.holes.items() if found is state and column in asked]
            for state in (State.MISSING, State.UNSEEN)
        )
        causes = [f"{listed(unknown)} {is_or_are(unknown)} not known"] if unknown else []
        if unseen:
            causes.append(f"{listed(unseen)} {'has a value' if len(unseen) == 1 else 'have values'} never seen")
        return " and ".join(causes)

    def _part(self, leaf: int, weight: float, label: int | None) -> str:
        """A path: how much of the record took it, where it led, and the answer there."""
        words, answer = self._words, self._tree.answers[leaf]
        if label is None:
            there = f"the mean is {words.numbers(answer)}"
        else:
            there = f"{words.class_name(label)} has {probability_text(float(answer[label]))}"
        return f"{percent_text(weight)} with {listed(list(words.conditions(leaf).values()))}, where {there}"

    def _mixed(self, answer: FloatArray, label: int | None) -> str:
        """An answer to which several leaves contribute."""
        if label is None:
            return self._words.numbers(answer)
        likely = probability_text(float(answer[label]))
        return f"{self._words.class_name(label)} with probability {likely}{self._words.cheapest(answer, label)}"

    def _label_of(self, leaf: int) -> int | None:
        return int(self._tree.labels[leaf]) if self._tree.task is Task.CLASSIFICATION else None

    def _label(self, answer: FloatArray) -> int | None:
        if self._tree.task is not Task.CLASSIFICATION:
            return None
        return int(labels_of(answer[None, :], self._tree.costs)[0])
