"""Trained forests, ready to answer and to be inspected tree by tree."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.arithmetic.arrays import BoolArray, FloatArray
from core.engine.engine import Engine
from core.ensembles.insight.retraining import Retrained
from core.ensembles.isolation.model import IsolationModel
from core.ensembles.isolation.scores import IsolationPredictor
from core.ensembles.model import ForestModel
from core.ensembles.prediction.predictor import ForestPredictor
from core.ensembles.voting import UNDECIDED, Electorate, Verdict, Voting, VotingKind, vote, voting_faults
from core.library.tables import Columns, records_for
from core.library.trained_tree import Trained, policy_named, uses_kernels
from core.prediction.routing import MissingPolicy
from core.tables.errors import Fault, InvalidConfig, raise_any
from core.tables.suggestion import quoted
from core.tables.table import Table
from core.tables.target import Task


@dataclass(frozen=True)
class TrainedForest:
    """A committee. Records are as for `Trained`; `voting` is as in a prediction over HTTP: `{"kind": "majority"}`."""

    model: ForestModel
    warnings: tuple[str, ...] = ()
    engine: Engine = Engine.AUTO
    retrained: Retrained | None = None  # the importance of attributes, if the configuration asks for it

    def __len__(self) -> int:
        return len(self.model)

    def answers(
        self, records: Columns | Table, *, voting: Mapping[str, Any] | None = None, missing: str | None = None
    ) -> FloatArray:
        """`[row, :]`: the probability of each of `model.classes`, or the predicted numbers, as the trees vote."""
        taken, policy = self._taken(records, missing)
        if voting is None:
            return self._predictor.average(taken, policy, kernels=uses_kernels(self.engine, taken))
        return self._verdict(taken, policy, voting_named(voting)).values

    def classes(
        self, records: Columns | Table, *, voting: Mapping[str, Any] | None = None, missing: str | None = None
    ) -> list[str | None]:
        """The class of each record; None if the vote leaves it undecided."""
        if self.model.task is not Task.CLASSIFICATION:
            raise InvalidConfig(Fault("this model predicts numbers, not classes", (), "use answers"))
        verdict = self._verdict(
            *self._taken(records, missing), voting_named({"kind": "average"} if voting is None else voting)
        )
        return [None if k == UNDECIDED else self.model.classes[k] for k in verdict.labels.tolist()]

    def tree(self, index: int) -> Trained:
        """One of the trees, as a model of its own."""
        return Trained(self.model.member(checked_index(index, len(self))), (), self.engine)

    @cached_property
    def _predictor(self) -> ForestPredictor:
        return ForestPredictor(self.model.forest)

    def _verdict(self, taken: Table, policy: MissingPolicy, voting: Voting) -> Verdict:
        model = self.model
        faults = (fault.below("voting") for fault in voting_faults(voting, model.task, len(model)))
        raise_any(InvalidConfig, faults)
        electorate = Electorate(model.task, model.prior, model.costs, lambda: model.median_leaf_weight)
        said = self._predictor.by_tree(taken, policy, kernels=uses_kernels(self.engine, taken))
        return vote(said, voting, electorate)

    def _taken(self, records: Columns | Table, missing: str | None) -> tuple[Table, MissingPolicy]:
        """The records as the trees see them, and the missing-value policy."""
        encoded = records_for(self.model, records)
        if missing is None:
            return self.model.as_trained(encoded), self._predictor.as_grown
        return encoded, policy_named(missing, has_surrogates=bool(self.model.forest.surrogates))


@dataclass(frozen=True)
class TrainedIsolation:
    """An isolation forest. Records are as for `Trained`."""

    model: IsolationModel
    warnings: tuple[str, ...] = ()
    engine: Engine = Engine.AUTO

    def __len__(self) -> int:
        return len(self.model)

    def scores(self, records: Columns | Table) -> FloatArray:
        """`[row]`: from 0 to 1; near 1 for records unlike the training rows."""
        taken = records_for(self.model, records)
        return IsolationPredictor(self.model.isolation).scores(taken, kernels=uses_kernels(self.engine, taken))

    def are_anomalies(self, records: Columns | Table) -> BoolArray:
        """`[row]`: whether the score is above the threshold."""
        return self.scores(records) > self.model.isolation.threshold

    def tree(self, index: int) -> Trained:
        """One of the trees, which answers with the length of a record's path."""
        return Trained(self.model.member(checked_index(index, len(self))), (), self.engine)


def checked_index(index: int, n_trees: int) -> int:
    """The index, or InvalidConfig if there is no such tree."""
    if not 0 <= index < n_trees:
        raise InvalidConfig(Fault(f"there is no tree {index}", ("index",), f"use 0 to {n_trees - 1}"))
    return index


def voting_named(plain: Mapping[str, Any]) -> Voting:
    """A voting from plain values; InvalidConfig if it is invalid."""
    said, kind = dict(plain), plain.get("kind")
    known = {VotingKind.VETO: {"trees"}, VotingKind.THRESHOLD: {"share"}, VotingKind.BAYESIAN: {"m"}}
    if kind not in tuple(VotingKind):
        hint = "use " + ", ".join(VotingKind)
        raise InvalidConfig(Fault(f"{quoted(str(kind))} is no way to vote", ("voting", "kind"), hint))
    del said["kind"]
    raise_any(
        InvalidConfig,
        (
            Fault(f"{quoted(name)} is not an option of {kind} voting", ("voting", name))
            for name in said
            if name not in known.get(VotingKind(kind), set())
        ),
    )
    if "trees" in said:
        said["trees"] = tuple(said["trees"])
    return Voting(VotingKind(kind), **said)
