"""Conditions of nodes and rules, told apart by `op`."""

from collections.abc import Iterable
from typing import Annotated, Literal, assert_never

from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType

from core import conditions as core
from core.schema import Schema
from core.splits.split import Term
from service.api.schemas.common import Answer

Weights = TypeAliasType(
    "Weights",
    Annotated[
        dict[str, float],
        Field(
            description="The weight of each number by the attribute's name, and of each category by `name=category`: "
            "it is added where the attribute has that category.",
            examples=[{"密度": 0.82, "纹理=清晰": 0.57}],
        ),
    ],
)


class IsIn(Answer):
    """The value is one of these."""

    model_config = ConfigDict(title="IsIn")

    attribute: str
    op: Literal["in"]
    values: list[str]


class AtMost(Answer):
    """The value is at most the threshold."""

    attribute: str
    op: Literal["<="]
    threshold: float


class Above(Answer):
    """The value is above the threshold."""

    attribute: str
    op: Literal[">"]
    threshold: float


class Between(Answer):
    """The value is above one threshold and at most the other."""

    attribute: str
    op: Literal["between"]
    above: float
    at_most: float


class Linear(Answer):
    """A weighted sum is at most the threshold, or above it."""

    model_config = ConfigDict(title="Linear")

    op: Literal["linear"]
    weights: Weights
    threshold: float
    side: Literal["<=", ">"]


Condition = TypeAliasType("Condition", Annotated[IsIn | AtMost | Above | Between | Linear, Field(discriminator="op")])


def weights_of(terms: Iterable[Term], schema: Schema) -> dict[str, float]:
    """The weights of a sum by what they multiply."""
    return {core.term_name(term, schema): term.weight for term in terms}


def condition_of(condition: core.Condition, schema: Schema) -> IsIn | AtMost | Above | Between | Linear:
    """The condition with names in place of columns and codes."""
    attribute = schema[condition.column]
    match condition:
        case core.IsOneOf(_, codes):
            return IsIn(attribute=attribute.name, op="in", values=[attribute.categories[code] for code in codes])
        case core.AtMost(_, threshold):
            return AtMost(attribute=attribute.name, op="<=", threshold=threshold)
        case core.Above(_, threshold):
            return Above(attribute=attribute.name, op=">", threshold=threshold)
        case core.Between(_, above, at_most):
            return Between(attribute=attribute.name, op="between", above=above, at_most=at_most)
        case core.Linear(_, terms, threshold, is_above):
            side: Literal["<=", ">"] = ">" if is_above else "<="
            return Linear(op="linear", weights=weights_of(terms, schema), threshold=threshold, side=side)
        case _:
            assert_never(condition)
