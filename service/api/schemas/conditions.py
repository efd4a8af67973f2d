"""Conditions of nodes and rules, told apart by `op`."""

from typing import Annotated, Literal, assert_never

from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType

from core import conditions as core
from core.schema import Schema
from service.api.schemas.common import Answer


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


Condition = TypeAliasType("Condition", Annotated[IsIn | AtMost | Above | Between, Field(discriminator="op")])


def condition_of(condition: core.Condition, schema: Schema) -> IsIn | AtMost | Above | Between:
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
        case _:
            assert_never(condition)
