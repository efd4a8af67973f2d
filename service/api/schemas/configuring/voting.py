"""How the answers of many trees become one, chosen with each request."""

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from core.ensembles.voting import Voting, VotingKind
from service.api.schemas.common import Body, Number, WholeNumber


class AverageVoting(Body):
    """The mean of the trees' probabilities, or numbers; this is what is done unless told."""

    kind: Literal["average"]


class MajorityVoting(Body):
    """Each tree votes for one class; the class with most votes. Probabilities are then the shares of votes."""

    kind: Literal["majority"]


class UnanimousVoting(Body):
    """The class that all trees vote for; undecided where one votes for another."""

    kind: Literal["unanimous"]


class VetoVoting(Body):
    """The class with most votes; undecided where one of the named trees votes for another."""

    kind: Literal["veto"]
    trees: Annotated[
        list[Annotated[WholeNumber, Field(ge=0)]], Field(min_length=1, description="The trees that must agree.")
    ]


class ThresholdVoting(Body):
    """The class with most votes; undecided where it has less than a share of all."""

    kind: Literal["threshold"]
    share: Annotated[Number, Field(gt=0, le=1, description="The part of the votes that a class needs.")] = 0.5


class TrimmedVoting(Body):
    """The mean of the trees' probabilities, or numbers, without the lowest and highest tenth of each.

    What is left of the classes is made to sum to 1 again.
    """

    kind: Literal["trimmed"]


class BayesianVoting(Body):
    """The mean of the trees' probabilities, each drawn towards the class's share in the training data.

    WR = v/(v+m)·R + m/(v+m)·C: R is the class's share in the leaf reached, v the leaf's weight, C its share in the
    training data.
    """

    kind: Literal["bayesian"]
    m: Annotated[
        Number | None,
        Field(ge=0, le=1e9, description="The weight of C; the median weight of the forest's leaves unless told."),
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
