"""What is done about rare classes: the options that clients send, and their complete form with every default.

As with committees, clients send `SmoteOptions`, and answers show `Smote`.
"""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from core.config.from_plain import MOST_TREES
from service.api.schemas.common import Body, Number, WholeNumber

Ratio = Annotated[Number, Field(ge=1e-9, le=1e9)]
AtMostTimes = Field(description="A class keeps at most so many times the rows of the rarest.")
UpToTimes = Field(description="A class gets up to so many times the rows of the most frequent one.")


class Undersampling(Body):
    """Of every class but the rarest only some rows are drawn for each tree."""

    kind: Literal["undersample"]
    ratio: Annotated[Ratio, AtMostTimes]


class UndersamplingOptions(Body):
    """Of every class but the rarest only some rows are drawn for each tree."""

    kind: Literal["undersample"]
    ratio: Annotated[Ratio, AtMostTimes] = 1.0


Parts = Annotated[
    WholeNumber,
    Field(ge=2, le=MOST_TREES, description="How many parts; null for parts about as large as the next class."),
]


class PartsOfMajority(Body):
    """The rows of the most frequent class are dealt out to parts, and the trees take turns with them."""

    kind: Literal["parts"]
    n_parts: Parts | None


class PartsOfMajorityOptions(Body):
    """The rows of the most frequent class are dealt out to parts, and the trees take turns with them."""

    kind: Literal["parts"]
    n_parts: Parts | None = None


class ClusterUndersampling(Body):
    """As `undersample`, but the rows kept are those nearest to the centres of as many clusters."""

    kind: Literal["cluster_undersample"]
    ratio: Annotated[Ratio, AtMostTimes]


class ClusterUndersamplingOptions(Body):
    """As `undersample`, but the rows kept are those nearest to the centres of as many clusters."""

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
    """New rows of every class but the most frequent, each at a random place between two random rows of its class."""

    kind: Literal["interpolate"]
    ratio: Annotated[Ratio, UpToTimes]


class InterpolationOptions(Body):
    """New rows of every class but the most frequent, each at a random place between two random rows of its class."""

    kind: Literal["interpolate"]
    ratio: Annotated[Ratio, UpToTimes] = 1.0


Neighbours = Annotated[
    WholeNumber, Field(ge=1, le=1_000, description="Among how many nearest rows of the class the other one is drawn.")
]


class Smote(Body):
    """As `interpolate`, but between a row and one of its nearest neighbours in the class (SMOTE)."""

    kind: Literal["smote"]
    ratio: Annotated[Ratio, UpToTimes]
    neighbours: Neighbours


class SmoteOptions(Body):
    """As `interpolate`, but between a row and one of its nearest neighbours in the class (SMOTE)."""

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
Balancing = Field(description="What is done about rare classes in the rows of each tree; null for nothing.")
