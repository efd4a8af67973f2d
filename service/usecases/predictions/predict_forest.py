"""Answer records with many trees: the answer of each, their vote, and how sure it is."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.ensembles.insight.explanation import ForestExplanation, explain
from core.ensembles.insight.sentences import agreed_words, why
from core.ensembles.prediction.outer_bounds import is_decided, outer_bounds
from core.ensembles.voting import (
    UNDECIDED,
    Electorate,
    TreeAnswers,
    Verdict,
    Voting,
    VotingKind,
    average,
    vote,
    votes_of,
    voting_faults,
)
from core.explanation.paths import Explainer, Path, holes_of
from core.growth.held_out import labels_of
from core.prediction.record_walk import cells_of
from core.prediction.routing import MissingPolicy
from core.records.records import EncodedRecords
from core.tables.errors import Fault
from core.tables.target import Task
from core.tree.tree import full_view
from service.errors import InvalidBody
from service.serving.loaded_models import LoadedForest

SOON_TREES, SOON_NODES = 1_000, 10_000  # visited by records; more are answered in a thread, so that no request waits


@dataclass(frozen=True, slots=True)
class ForestOrder:
    """How to answer records; `policy` None means that missing values are treated as in the training."""

    policy: MissingPolicy | None
    voting: Voting


@dataclass(frozen=True)
class ForestAnswered:
    """Records as sent and as the trees read them (`taken`), and the trees' answers, computed when first used."""

    loaded: LoadedForest
    records: EncodedRecords
    taken: EncodedRecords
    order: ForestOrder
    policy: MissingPolicy
    kernels: bool

    def __len__(self) -> int:
        return self.records.table.n_rows

    @cached_property
    def by_tree(self) -> TreeAnswers:
        """The answers of each tree."""
        return self.loaded.predictor.by_tree(self.taken.table, self.policy, kernels=self.kernels)

    @cached_property
    def verdict(self) -> Verdict:
        """The answers of all trees together."""
        model, voting = self.loaded.model, self.order.voting
        electorate = Electorate(model.task, model.prior, model.costs, lambda: model.median_leaf_weight)
        if voting.kind is VotingKind.AVERAGE and "by_tree" not in self.__dict__:
            values = self.loaded.predictor.average(self.taken.table, self.policy, kernels=self.kernels)
            labels = labels_of(values, model.costs) if model.task is Task.CLASSIFICATION else None
            return Verdict(values, np.full(len(values), UNDECIDED) if labels is None else labels)
        return vote(self.by_tree, voting, electorate)

    @cached_property
    def votes(self) -> RowArray:
        """`[row, class]`: how many trees vote for each class."""
        votes = votes_of(self.by_tree.answers, self.loaded.model.costs)
        return np.stack([np.count_nonzero(votes == k, axis=0) for k in range(len(self.loaded.model.classes))], axis=1)

    @cached_property
    def spreads(self) -> FloatArray:
        """`[row, output]`: the standard deviation of the trees' answers."""
        answers = self.by_tree.answers
        return np.sqrt(average((answers - average(answers)) ** 2))

    @cached_property
    def bounds(self) -> FloatArray:
        """`[row, output, (lowest, highest)]`: bounds of the mean of the answers, whatever the missing values are."""
        return outer_bounds(self.loaded.predictor, self.records.table, self._average, kernels=self.kernels)

    @cached_property
    def is_decided(self) -> BoolArray:
        """`[row]`: whether no missing value can change the answer, as far as the bounds show.

        Bounds are of averages. With other votings, a class is decided if the vote is and nothing is missing.
        """
        model, states, labels = self.loaded.model, self.records.states, self.verdict.labels
        known: BoolArray = labels != UNDECIDED
        if model.task is not Task.CLASSIFICATION:
            return is_decided(self.bounds, labels, model.task, model.costs)
        if states is None or self.order.voting.kind is not VotingKind.AVERAGE:
            return known if states is None else known & np.logical_not(states.any(axis=1))
        return is_decided(self.bounds, labels, model.task, model.costs) | np.logical_not(states.any(axis=1))

    @cached_property
    def explained(self) -> list[ForestExplanation]:
        """An explanation of the mean of the trees' answers to each record."""
        predictor, n_attributes = self.loaded.predictor, len(self.loaded.attributes)
        ends = (predictor.ends(cells, self.policy, kernels=self.kernels) for cells in cells_of(self.taken.table))
        return [explain(predictor.layout, of_record, n_attributes) for of_record in ends]

    def typical_path(self, row: int) -> Path:
        """The heaviest path of a record through the tree whose answer is nearest to that of all."""
        explained = self.explained[row]
        view = full_view(self.loaded.model.forest.tree(explained.typical))
        explainer = Explainer(view, self.loaded.attributes)
        return explainer.path(explained.leaf, explained.weight, self.policy, holes_of(self.taken, row))

    def sentences(self) -> list[str]:
        """An explanation of every answer, in words; an answer that is not the mean of the trees is stated first."""
        model, kind = self.loaded.model, self.order.voting.kind
        said = [why(model, explained) for explained in self.explained]
        if kind is VotingKind.AVERAGE:
            return said
        found = zip(self.verdict.values, self.verdict.labels.tolist(), said, strict=True)
        return [f"{agreed_words(model, *agreed)} by {kind} voting; on average: {one}" for *agreed, one in found]

    @property
    def _average(self) -> FloatArray:
        if self.order.voting.kind is VotingKind.AVERAGE:
            return self.verdict.values
        return average(self.by_tree.answers)


def forest_order_of(
    loaded: LoadedForest, *, step: str | int, policy: MissingPolicy | None, voting: Voting | None
) -> ForestOrder:
    """The order for a client's options; InvalidBody for those that the forest does not support."""
    loaded.number_in_body(step)
    faults = []
    if policy is MissingPolicy.SURROGATE and not loaded.model.forest.surrogates:
        hint = 'train it with "missing": "surrogate", or use another policy'
        faults.append(Fault("this model has no surrogates", ("missing",), hint))
    if voting is not None:
        found = voting_faults(voting, loaded.model.task, len(loaded))
        faults += [fault.below("voting") for fault in found]
    if faults:
        raise InvalidBody("; ".join(fault.detail for fault in faults), *faults)
    return ForestOrder(policy, voting or Voting())


def is_soon_answered(loaded: LoadedForest, records: EncodedRecords) -> bool:
    """Whether compiled code answers these records in about a millisecond.

    Each record visits all trees, and an incomplete one may visit every node. The forest must be prepared, which is done
    by an earlier request.
    """
    n_records, states, model = records.table.n_rows, records.states, loaded.model
    n_holes = 0 if states is None else int(states.any(axis=1).sum())
    is_little = n_records * len(loaded) <= SOON_TREES and n_holes * model.forest.n_nodes <= SOON_NODES
    return is_little and loaded.predictor.is_prepared


def answer_forest(
    loaded: LoadedForest, order: ForestOrder, records: EncodedRecords, *, kernels: bool
) -> ForestAnswered:
    """The answers to records; each part of them is computed when first used."""
    model, taken = loaded.model, records
    if order.policy is None and model.missing.fills_records:
        taken = records.known_in(model.as_trained(records.table))
    return ForestAnswered(loaded, records, taken, order, order.policy or loaded.predictor.as_grown, kernels)
