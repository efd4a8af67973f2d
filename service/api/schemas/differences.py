"""How two trees of a pruning history differ."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, assert_never

from pydantic import Field
from typing_extensions import TypeAliasType

from core.rules.extraction import Rule, path_rule
from core.tables.parts import Part
from core.tree.model import Model
from service.api.paging import PageRequest, page_of
from service.api.schemas.common import Answer
from service.api.schemas.models import ModelStep, Task, tree_task_of
from service.api.schemas.rules import (
    ClassRule,
    MultiOutputRule,
    NumberRule,
    class_rules,
    multi_output_rules,
    number_rules,
)
from service.serving.loaded_models import LoadedModel
from service.usecases.models.read_model import Difference


class ComparedTree(ModelStep):
    """One of the two trees that are compared."""

    n_leaves: int
    depth: int

    @classmethod
    def compared(cls, loaded: LoadedModel, step: int) -> "ComparedTree":
        view = loaded.view(step)
        return cls(**dict(ModelStep.of(loaded, step)), n_leaves=len(view.leaves), depth=view.max_depth)


class ErrorChange(Answer):
    """The error of two trees on the same rows."""

    before: float
    after: float
    change: Annotated[float, Field(description="`after` minus `before`; negative if the second tree is better.")]


class ErrorChanges(Answer):
    """By part; `null` if a part has no rows."""

    train: ErrorChange | None
    validation: ErrorChange | None
    test: ErrorChange | None


Kind = Annotated[
    Literal["gone", "new"],
    Field(description="`gone`: only the first tree has the rule. `new`: only the second tree has it."),
]


class ClassRuleChange(Answer):
    """A rule of a classification tree that is gone or new."""

    change: Kind
    rule: ClassRule


class NumberRuleChange(Answer):
    """A rule of a regression tree that is gone or new."""

    change: Kind
    rule: NumberRule


class MultiOutputRuleChange(Answer):
    """A rule of a tree for several targets that is gone or new."""

    change: Kind
    rule: MultiOutputRule


class StepDifference(Answer):
    """How the trees of two steps differ. Rules are the same if their conditions are."""

    before: ComparedTree
    after: ComparedTree
    n_gone: Annotated[int, Field(description="Number of rules that only the first tree has.")]
    n_new: Annotated[int, Field(description="Number of rules that only the second tree has.")]
    n_same: Annotated[int, Field(description="Number of rules that both trees have.")]
    moved: Annotated[
        float, Field(ge=0, le=1, description="Share of the training weight that falls under another rule.")
    ]
    errors: Annotated[
        ErrorChanges,
        Field(
            description="Error rate, mean cost (if wrong answers have costs), or mean squared error summed over the "
            "targets."
        ),
    ]
    next_cursor: str | None


class ClassDifference(StepDifference):
    """How two classification trees differ. `items` are the rules that are gone, then the new ones, in pages."""

    task: Literal["classification"]
    items: list[ClassRuleChange]


class NumberDifference(StepDifference):
    """How two regression trees differ. `items` are the rules that are gone, then the new ones, in pages."""

    task: Literal["regression"]
    items: list[NumberRuleChange]


class MultiOutputDifference(StepDifference):
    """How two trees for several targets differ. `items` are the rules that are gone, then the new ones, in pages."""

    task: Literal["multi_output_regression"]
    items: list[MultiOutputRuleChange]


AnyDifference = ClassDifference | NumberDifference | MultiOutputDifference
PruningDifference = TypeAliasType("PruningDifference", Annotated[AnyDifference, Field(discriminator="task")])


def difference_of(
    loaded: LoadedModel, before: int, after: int, difference: Difference, paging: PageRequest
) -> AnyDifference:
    """The difference as it is sent, with a page of rules."""
    rules = difference.rules
    changes: list[tuple[Literal["gone", "new"], int]] = [
        *(("gone", leaf) for leaf in rules.gone),
        *(("new", leaf) for leaf in rules.new),
    ]
    page, next_cursor = page_of(changes, paging)
    as_of = {"gone": loaded.as_of(before), "new": loaded.as_of(after)}
    shared: dict[str, Any] = {
        "before": ComparedTree.compared(loaded, before),
        "after": ComparedTree.compared(loaded, after),
        "n_gone": len(rules.gone),
        "n_new": len(rules.new),
        "n_same": rules.n_same,
        "moved": rules.moved,
        "errors": ErrorChanges.model_validate({part.value: _change(difference.errors[part]) for part in Part}),
        "next_cursor": next_cursor,
    }

    def shown(show: Callable[[Model, Sequence[Rule]], Sequence[Answer]]) -> list[dict[str, Any]]:
        return [
            {"change": change, "rule": rule}
            for change, model in as_of.items()
            for rule in show(model, [path_rule(model.tree, leaf, model.attributes) for c, leaf in page if c == change])
        ]

    match tree_task_of(loaded.model):
        case Task.CLASSIFICATION:
            return ClassDifference.model_validate(shared | {"task": "classification", "items": shown(class_rules)})
        case Task.REGRESSION:
            return NumberDifference.model_validate(shared | {"task": "regression", "items": shown(number_rules)})
        case Task.MULTI_OUTPUT_REGRESSION:
            items = shown(multi_output_rules)
            return MultiOutputDifference.model_validate(shared | {"task": "multi_output_regression", "items": items})
        case other:
            assert_never(other)


def _change(errors: tuple[float, float] | None) -> ErrorChange | None:
    if errors is None:
        return None
    before, after = errors
    return ErrorChange(before=before, after=after, change=after - before)
