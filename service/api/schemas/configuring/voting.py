"""How the answers of many trees become one, chosen with each request."""

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from core.ensembles.voting import Voting, VotingKind
from service.api.schemas.common import Body, Number, WholeNumber


class AverageVoting(Body):
    """The mean of the trees' probabilities or numbers. This is the default."""

    kind: Literal["average"]


class MajorityVoting(Body):
    """Each tree votes for one class; the class with the most votes wins. Probabilities are then the shares of votes."""

    kind: Literal["majority"]


class UnanimousVoting(Body):
    """The class that all trees vote for; undecided if one votes for another."""

    kind: Literal["unanimous"]


class VetoVoting(Body):
    """The class with the most votes; undecided if one of the given trees votes for another."""

    kind: Literal["veto"]
    trees: Annotated[
        list[Annotated[WholeNumber, Field(ge=0)]],
        Field(min_length=1, description="Indices of the trees that must agree."),
    ]


class ThresholdVoting(Body):
    """The class with the most votes; undecided if its share of the votes is less than `share`."""

    kind: Literal["threshold"]
    share: Annotated[Number, Field(gt=0, le=1, description="Share of the votes that the class needs.")] = 0.5


class TrimmedVoting(Body):
    """The mean of the trees' probabilities or numbers, without the lowest and the highest tenth of each.

    The remaining probabilities are rescaled to sum to 1.
    """

    kind: Literal["trimmed"]


class BayesianVoting(Body):
    """The mean of the trees' probabilities, each shrunk towards the class's share in the training data.

    WR = v/(v+m)·R + m/(v+m)·C, where R is the class's share in the leaf reached, v the weight of the leaf, and C the
    class's share in the training data.
    """

    kind: Literal["bayesian"]
    m: Annotated[
        Number | None,
        Field(ge=0, le=1e9, description="Weight of C. Default: the median weight of the forest's leaves."),
    ] = None


AnyVoting = (
    AverageVoting | MajorityVoting | UnanimousVoting | VetoVoting | ThresholdVoting | TrimmedVoting | BayesianVoting
)
VotingOptions = TypeAliasType("VotingOptions", Annotated[AnyVoting, Field(discriminator="kind")])


def core_voting(said: Any) -> Voting:
    """The voting in core's terms; `said` is one of `AnyVoting`."""
    options: dict[str, Any] = said.model_dump(exclude={"kind"})
    if "trees" in options:
        options["trees"] = tuple(options["trees"])
    return Voting(VotingKind(said.kind), **options)
