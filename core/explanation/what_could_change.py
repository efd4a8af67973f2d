"""What the values that a record lacks could still change, in a sentence or two."""

from collections.abc import Iterable
from functools import cached_property

from core.explanation.answered_record import AnsweredRecord
from core.explanation.tree_words import TreeWords
from core.explanation.what_if import WhatIf, most_telling, telling_values, what_if
from core.explanation.wording import is_or_are, listed
from core.prediction.predictor import Predictor
from core.prediction.routing import MissingPolicy
from core.splits.split import Split
from core.tables.schema import Schema

MOST_WORK = 2_000  # values tried times tests times paths; beyond it, the text does not say which value changes what

Tests = dict[int, list[Split]]


class PossibleChanges:
    """Texts about missing values of records that one tree answers."""

    def __init__(self, schema: Schema, predictor: Predictor, words: TreeWords) -> None:
        self._schema, self._predictor, self._words = schema, predictor, words
        self._view, self._tree = predictor.view, predictor.view.tree

    def sentences(self, record: AnsweredRecord, label: int | None) -> str:
        """Whether any value could change the answer, and which would change it most; `label` is None for numbers."""
        if record.is_decided:
            return self.decided(record.holes, label)
        considered = self._considered(record)
        if considered is None:
            return "Knowing more could change the answer."
        able = [one for one in considered if one.changes(record.answer, label).any()]
        told = [self._most(able, *most_telling(able, record.answer, label))] if able else []
        by_themselves = {one.telling.column for one in able}
        others = [self._words.name(column) for column in record.holes if column not in by_themselves]
        if others:
            nothing = f"{others[0]} would not" if len(others) == 1 else f"None of {listed(others)} would"
            told.append(f"{nothing} change {'it' if able else 'the answer'} by itself.")
        return " ".join(told if able else [*told, "Several together could."])

    def decided(self, holes: Iterable[int], label: int | None) -> str:
        """The sentence that no value of these columns could change the answer."""
        names = [self._words.name(column) for column in holes]
        stays = "" if label is None else f" {self._words.class_name(label)}"
        return f"Whatever {listed(names)} {is_or_are(names)}, the answer stays{stays}."

    def asked(self, record: AnsweredRecord) -> Tests:
        """The tests that a record could meet, by column: those on its paths, or all tests if it could take other paths.

        A missing value with a branch of its own would take another branch if it were known.
        """
        if record.policy is not MissingPolicy.WEIGHTED or (self._tree.missing_branch >= 0).any():
            return self._all_tests
        return self.met(record)

    def met(self, record: AnsweredRecord) -> Tests:
        """The tests on a record's paths that have no branch for missing values, by column."""
        nodes = dict.fromkeys(node for leaf, _ in record.reached for node, _ in self._words.way(leaf))
        splits = (self._tree.split(node) for node in nodes)
        return by_column(split for split in splits if split.missing_branch < 0)

    def _most(self, able: list[WhatIf], attribute: int, index: int) -> str:
        """Which value changes the answer most, and to what."""
        chosen, words = able[attribute], self._words
        condition = chosen.telling.condition(chosen.like(index), index)
        known = "whatever it is" if condition is None else f"with {words.condition(condition)}"
        labels = chosen.labels
        answer = words.numbers(chosen.answers[index]) if labels is None else words.class_name(labels[index])
        most = "could change it" if len(able) == 1 else "could change it most"
        return f"{words.name(chosen.telling.column)} {most}: {known} the answer would be {answer}."

    def _considered(self, record: AnsweredRecord) -> list[WhatIf] | None:
        """The answer for each possible value of each hole; None if there are too many, or sums among the tests."""
        asked, work, considered = self.asked(record), 0, []
        for column in record.holes:
            if column not in asked:
                continue
            attribute, splits = self._schema[column], asked[column]
            work += (len(attribute.categories) or 2) * len(splits) * len(record.reached)
            if work > MOST_WORK or any(split.terms for split in splits):  # sums depend on other values too
                return None
            telling = telling_values(column, attribute, splits)
            considered.append(what_if(self._predictor, record.cells, telling, record.policy))
        return considered

    @cached_property
    def _all_tests(self) -> Tests:
        """Every test of the tree, and every surrogate."""
        inner = [node for node in self._view.nodes if not self._view.is_leaf[node]]
        surrogates = (surrogate.split for node in inner for surrogate in self._tree.surrogates_of(node))
        return by_column([*map(self._tree.split, inner), *surrogates])


def by_column(splits: Iterable[Split]) -> Tests:
    """Tests by the columns that they read."""
    tests: Tests = {}
    for split in splits:
        for column in split.columns:
            tests.setdefault(column, []).append(split)
    return tests
