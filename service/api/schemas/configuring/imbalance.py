"""What is done about rare classes: the options that clients send, and their complete form with every default.

As with committees, clients send `SmoteOptions`, and answers show `Smote`.
"""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from core.config.from_plain import MOST_TREES
from service.api.schemas.common import Body, Number, WholeNumber

Ratio = Annotated[Number, Field(ge=1e-9, le=1e9)]
AtMostTimes = Field(description="Each class keeps at most this many times the rows of the rarest class.")
UpToTimes = Field(description="Each class gets up to this many times the rows of the most frequent class.")


class Undersampling(Body):
    """For each tree, only some rows are drawn of every class but the rarest."""

    kind: Literal["undersample"]
    ratio: Annotated[Ratio, AtMostTimes]


class UndersamplingOptions(Body):
    """For each tree, only some rows are drawn of every class but the rarest."""

    kind: Literal["undersample"]
    ratio: Annotated[Ratio, AtMostTimes] = 1.0


Parts = Annotated[
    WholeNumber,
    Field(
        ge=2,
        le=MOST_TREES,
        description="Number of parts; `null` for parts about as large as the second most frequent class.",
    ),
]


class PartsOfMajority(Body):
    """The rows of the most frequent class are divided into parts, which the trees use in turn."""

    kind: Literal["parts"]
    n_parts: Parts | None


class PartsOfMajorityOptions(Body):
    """The rows of the most frequent class are divided into parts, which the trees use in turn."""

    kind: Literal["parts"]
    n_parts: Parts | None = None


class ClusterUndersampling(Body):
    """Like `undersample`, but the rows kept are those nearest to the centres of as many clusters."""

    kind: Literal["cluster_undersample"]
    ratio: Annotated[Ratio, AtMostTimes]


class ClusterUndersamplingOptions(Body):
    """Like `undersample`, but the rows kept are those nearest to the centres of as many clusters."""

    kind: Literal["cluster_undersample"]
    ratio: Annotated[Ratio, AtMostTimes] = 1.0


class Oversampling(Body):
    """Rows of every class but the most frequent are repeated at random."""

    kind: Literal["oversample"]
    ratio: Annotated[Ratio, UpToTimes]


class OversamplingOptions(Body):
    """Rows of every class but the most frequent are repeated at random."""

    kind: Literal["oversample"]
    ratio: Annotated[Ratio, UpToTimes] = 1.0


class Interpolation(Body):
    """New rows of every class but the most frequent, each at a random point between two random rows of its class."""

    kind: Literal["interpolate"]
    ratio: Annotated[Ratio, UpToTimes]


class InterpolationOptions(Body):
    """New rows of every class but the most frequent, each at a random point between two random rows of its class."""

    kind: Literal["interpolate"]
    ratio: Annotated[Ratio, UpToTimes] = 1.0


Neighbours = Annotated[
    WholeNumber,
    Field(ge=1, le=1_000, description="Number of nearest rows of the class from which the other row is drawn."),
]


class Smote(Body):
    """Like `interpolate`, but between a row and one of its nearest neighbours in the class (SMOTE)."""

    kind: Literal["smote"]
    ratio: Annotated[Ratio, UpToTimes]
    neighbours: Neighbours


class SmoteOptions(Body):
    """Like `interpolate`, but between a row and one of its nearest neighbours in the class (SMOTE)."""

    kind: Literal["smote"]
    ratio: Annotated[Ratio, UpToTimes] = 1.0
    neighbours: Neighbours = 5


Imbalance = TypeAliasType(
    "Imbalance",
    Annotated[
        Undersampling | PartsOfMajority | ClusterUndersampling | Oversampling | Interpolation | Smote,
        Field(discriminator="kind"),
    ],
)
ImbalanceOptions = TypeAliasType(
    "ImbalanceOptions",
    Annotated[
        UndersamplingOptions
        | PartsOfMajorityOptions
        | ClusterUndersamplingOptions
        | OversamplingOptions
        | InterpolationOptions
        | SmoteOptions,
        Field(discriminator="kind"),
    ],
)
Balancing = Field(
    description="How the rows of each tree are rebalanced between rare and frequent classes; `null` for not at all."
)
