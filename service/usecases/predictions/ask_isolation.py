"""Answer records with an isolation forest: how anomalous they are."""

from dataclasses import dataclass
from functools import cached_property

from core.arithmetic.arrays import BoolArray, FloatArray
from core.ensembles.isolation.explanation import ExplainedLength, explained_lengths
from core.ensembles.isolation.sentence import isolation_sentence
from core.ensembles.voting import Voting
from core.prediction.routing import MissingPolicy
from core.records.records import EncodedRecords
from core.tables.errors import Fault
from service.errors import InvalidBody
from service.serving.loaded_models import LoadedIsolation


@dataclass(frozen=True)
class IsolationAnswered:
    """Records, and an isolation forest's answers to them, computed when first used."""

    loaded: LoadedIsolation
    records: EncodedRecords
    kernels: bool

    def __len__(self) -> int:
        return self.records.table.n_rows

    @cached_property
    def path_lengths(self) -> FloatArray:
        """`[row]`: the mean path length over the trees."""
        return self.loaded.predictor.path_lengths(self.records.table, kernels=self.kernels)

    @cached_property
    def scores(self) -> FloatArray:
        """`[row]`: the isolation score, from 0 to 1; near 1 for anomalies."""
        return self.loaded.model.isolation.scores(self.path_lengths)

    @cached_property
    def are_anomalies(self) -> BoolArray:
        """`[row]`: whether the score is above the threshold."""
        return self.scores > self.loaded.model.isolation.threshold

    @cached_property
    def explained(self) -> list[ExplainedLength]:
        """The contributions of attributes to each record's path length, and its shortest paths."""
        return explained_lengths(self.loaded.model.isolation, self.records.table)

    def sentences(self) -> list[str]:
        """An explanation of each record's score, in words."""
        isolation, names = self.loaded.model.isolation, self.loaded.attributes.names
        lengths = zip(self.explained, self.scores.tolist(), self.are_anomalies.tolist(), strict=True)
        return [isolation_sentence(isolation, names, *one) for one in lengths]


def refuse_other_ways(
    loaded: LoadedIsolation, *, step: str | int, policy: MissingPolicy | None, voting: Voting | None
) -> None:
    """Raise InvalidBody for options that an isolation forest does not support."""
    loaded.number_in_body(step)
    faults = []
    if voting is not None:
        detail = "the trees of an isolation forest do not vote: their path lengths are averaged"
        faults.append(Fault(detail, ("voting",), "leave it out"))
    if policy not in (None, MissingPolicy.WEIGHTED):
        detail = "in an isolation forest a missing value goes down every branch by weight"
        faults.append(Fault(detail, ("missing",), "use weighted, or leave it out"))
    if faults:
        raise InvalidBody("; ".join(fault.detail for fault in faults), *faults)
