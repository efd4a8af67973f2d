"""Conditions of nodes and rules, distinguished by `op`."""

from collections.abc import Iterable
from typing import Annotated, Literal, assert_never

from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType

from core.splits.split import Term
from core.tables.schema import Schema
from core.tree import conditions as core
from service.api.schemas.common import Answer

OrMissing = Annotated[bool, Field(description="Whether a missing value also satisfies the condition.")]
Weights = TypeAliasType(
    "Weights",
    Annotated[
        dict[str, float],
        Field(
            description="Weight of each numeric attribute by its name, and of each category by `name=category`. The "
            "weight of a category is added if the attribute has that category.",
            examples=[{"密度": 0.82, "纹理=清晰": 0.57}],
        ),
    ],
)


class IsIn(Answer):
    """The value is one of these. `null` stands for a missing value; for a numeric attribute it is the only entry."""

    model_config = ConfigDict(title="IsIn")

    attribute: str
    op: Literal["in"]
    values: list[str | None]


class AtMost(Answer):
    """The value is at most the threshold."""

    attribute: str
    op: Literal["<="]
    threshold: float
    or_missing: OrMissing


class Above(Answer):
    """The value is above the threshold."""

    attribute: str
    op: Literal[">"]
    threshold: float
    or_missing: OrMissing


class Between(Answer):
    """The value is above one threshold and at most the other."""

    attribute: str
    op: Literal["between"]
    above: float
    at_most: float
    or_missing: OrMissing


class IsKnown(Answer):
    """The value is any number; it is not missing."""

    model_config = ConfigDict(title="IsKnown")

    attribute: str
    op: Literal["known"]


class Linear(Answer):
    """A weighted sum is at most the threshold, or above it."""

    model_config = ConfigDict(title="Linear")

    op: Literal["linear"]
    weights: Weights
    threshold: float
    side: Literal["<=", ">"]


AnyCondition = IsIn | AtMost | Above | Between | IsKnown | Linear
Condition = TypeAliasType("Condition", Annotated[AnyCondition, Field(discriminator="op")])


def weights_of(terms: Iterable[Term], schema: Schema) -> dict[str, float]:
    """The weights of a sum, by the names of what they multiply."""
    return {core.term_name(term, schema): term.weight for term in terms}


def condition_of(condition: core.Condition, schema: Schema) -> AnyCondition:
    """The condition with names in place of columns and codes."""
    if isinstance(condition, core.Linear):
        side: Literal["<=", ">"] = ">" if condition.is_above else "<="
        weights = weights_of(condition.terms, schema)
        return Linear(op="linear", weights=weights, threshold=condition.threshold, side=side)
    attribute, or_missing = schema[condition.column], condition.or_missing
    match condition:
        case core.IsOneOf(_, codes):
            values = [*(attribute.categories[code] for code in codes), *([None] if or_missing else [])]
            return IsIn(attribute=attribute.name, op="in", values=values)
        case core.AtMost(_, threshold):
            return AtMost(attribute=attribute.name, op="<=", threshold=threshold, or_missing=or_missing)
        case core.Above(_, threshold):
            return Above(attribute=attribute.name, op=">", threshold=threshold, or_missing=or_missing)
        case core.Between(_, above, at_most):
            return Between(attribute=attribute.name, op="between", above=above, at_most=at_most, or_missing=or_missing)
        case core.IsKnown():
            return IsKnown(attribute=attribute.name, op="known")
        case _:
            assert_never(condition)
