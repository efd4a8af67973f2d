"""Models as they are listed and shown, and what a record for one looks like."""

from dataclasses import asdict
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from core.config.as_json import from_json
from core.records.schema import example_record, record_json_schema
from core.storage.serialization import AnyModel
from core.tree.model import Model as CoreModel
from service.api.schemas.common import Answer, Page
from service.api.schemas.configuring.configuration import Configuration, Target
from service.api.schemas.datasets import Cell
from service.serving.loaded_models import Loaded, LoadedModel, common_tree
from service.store.models import ModelRecord, ModelSummary

NumberByTarget = TypeAliasType(
    "NumberByTarget",
    Annotated[dict[str, float], Field(description="A number for each target.", examples=[{"height": 1.5, "width": 2}])],
)


class Task(StrEnum):
    """What a model predicts: a class, a number, a number for each of several targets, or how anomalous a record is."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"
    MULTI_OUTPUT_REGRESSION = "multi_output_regression"
    ANOMALY_DETECTION = "anomaly_detection"


def task_of(model: AnyModel | ModelSummary) -> Task:
    """The model's task; a list of targets is a task of its own, since its answers have another shape."""
    if model.task == Task.ANOMALY_DETECTION:
        return Task.ANOMALY_DETECTION
    return Task.MULTI_OUTPUT_REGRESSION if isinstance(model.target, list | tuple) else Task(model.task)


TreeTask = Literal[Task.CLASSIFICATION, Task.REGRESSION, Task.MULTI_OUTPUT_REGRESSION]


def tree_task_of(model: CoreModel) -> TreeTask:
    """The task of a single tree, or of one of many: a class, a number or several."""
    task = task_of(model)
    assert task is not Task.ANOMALY_DETECTION
    return task


class ModelStep(Answer):
    """The model that answered, and the step of its pruning history."""

    id: Annotated[str, Field(examples=["mdl_01k9x6v0m2b7c4d5e6f7g8h9ja"])]
    name: Annotated[str, Field(examples=["melon"])]
    version: Annotated[int, Field(examples=[3])]
    step: Annotated[
        int, Field(description="Step of the pruning history; 0 is the tree before any pruning.", examples=[5])
    ]
    digest: Annotated[str, Field(description="SHA-256 digest of the model's content.", examples=["sha256:9f2c…"])]

    @classmethod
    def of(cls, loaded: Loaded, step: int) -> "ModelStep":
        record = loaded.record
        return cls(id=record.id, name=record.name, version=record.version, step=step, digest=record.digest)


class ModelParent(Answer):
    """The model that another was pruned from. It may have been deleted since."""

    id: Annotated[str, Field(examples=["mdl_01k9x6v0m2b7c4d5e6f7g8h9ja"])]
    name: Annotated[str, Field(examples=["melon"])]
    version: Annotated[int, Field(examples=[3])]
    step: Annotated[
        int,
        Field(
            description="The step of its pruning history from which the new version was made: 0, the full tree, or the "
            "one chosen to be served."
        ),
    ]


ShownTarget = Annotated[Target | None, Field(description="`null` if no column is predicted.")]
ParentModel = Annotated[
    ModelParent | None, Field(description="The model it was pruned from; `null` if its tree was grown for it.")
]
ValidationDatasetId = Annotated[
    str | None,
    Field(
        description="Dataset used for validation in place of the division's validation part, if a model was pruned "
        "again with one; otherwise `null`."
    ),
]


class ModelListed(Answer):
    """A ready model in a list. The figures are those of the selected step, which is served by default."""

    id: Annotated[str, Field(examples=["mdl_01k9x6v0m2b7c4d5e6f7g8h9ja"])]
    name: Annotated[str, Field(examples=["melon"])]
    version: int
    task: Task
    target: ShownTarget
    classes: Annotated[
        list[str], Field(description="Classes, in the order that decides ties; empty if no class is predicted.")
    ]
    dataset_id: str
    validation_dataset_id: ValidationDatasetId
    parent: ParentModel
    digest: str
    size: Annotated[int, Field(description="Size in bytes, uncompressed.")]
    n_attributes: int
    n_trees: Annotated[int | None, Field(description="Number of trees; `null` for a single tree.")]
    n_nodes: Annotated[int, Field(description="Number of nodes in all trees; likewise `n_leaves`.")]
    n_leaves: int
    depth: Annotated[int, Field(description="Depth of the deepest tree.")]
    n_steps: Annotated[int, Field(description="Number of decisions in its pruning history.")]
    selected_step: int
    created_at: datetime
    ready_at: datetime

    @classmethod
    def values(cls, model: ModelSummary) -> dict[str, Any]:
        """The values of all fields, from a model's record and its facts."""
        facts = {"n_trees": None, **model.facts}
        names = ModelListed.model_fields
        fields = {name: facts[name] if name in facts else getattr(model, name) for name in names}
        parent = None if model.parent is None else ModelParent(**asdict(model.parent))
        return fields | {"task": task_of(model), "parent": parent}

    @classmethod
    def of(cls, model: ModelSummary) -> "ModelListed":
        return cls.model_validate(cls.values(model))


class ModelPage(Page[ModelListed]):
    """Ready models, newest first."""


class Model(ModelListed):
    """A ready model."""

    configuration: Configuration

    @classmethod
    def whole(cls, model: ModelRecord) -> "Model":
        return cls.model_validate(cls.values(model) | {"configuration": model.configuration})


class ModelAttribute(Answer):
    """An attribute that a record may have."""

    name: Annotated[str, Field(examples=["密度"])]
    kind: Annotated[Literal["numeric", "ordinal", "categorical"], Field(examples=["numeric"])]
    categories: Annotated[list[str] | None, Field(description="Categories in declared order; `null` for numbers.")]
    minimum: Annotated[float | None, Field(description="Smallest value in the training data; `null` for other kinds.")]
    maximum: Annotated[float | None, Field(description="Largest value in the training data; `null` for other kinds.")]
    cost: Annotated[float, Field(description="Cost of testing the attribute.")]
    cuts: Annotated[
        list[float] | None,
        Field(description="Where the attribute was cut into intervals before growth; `null` if it was not."),
    ]


ExampleRecord = TypeAliasType(
    "ExampleRecord", Annotated[dict[str, Cell], Field(description="A record that can be sent as is.")]
)
JsonSchema = TypeAliasType("JsonSchema", Annotated[dict[str, Any], Field(description="A JSON Schema.")])


class ModelSchema(Answer):
    """What a record for this model looks like."""

    model: ModelStep
    target: ShownTarget
    attributes: list[ModelAttribute]
    example: ExampleRecord
    json_schema: JsonSchema

    @classmethod
    def of(cls, loaded: Loaded, step: int) -> "ModelSchema":
        model = common_tree(loaded).model
        return cls(
            model=ModelStep.of(loaded, step),
            target=shown_target(loaded.model),
            attributes=attributes_of(common_tree(loaded)),
            example=example_record(model),
            json_schema=record_json_schema(model),
        )


def shown_target(model: AnyModel) -> str | list[str] | None:
    """The target, or the list of targets; None where no column is predicted."""
    return model.target if isinstance(model.target, str) else list(model.target) or None


def attributes_of(loaded: LoadedModel) -> list[ModelAttribute]:
    """The attributes as shown, with the cost of testing each."""
    algorithm = from_json(loaded.record.configuration).algorithm
    names = loaded.model.attributes.names
    return [attribute_of(loaded.model, column, algorithm.cost_of(name)) for column, name in enumerate(names)]


def attribute_of(model: CoreModel, column: int, cost: float) -> ModelAttribute:
    """An attribute as shown."""
    attribute, limits, cuts = model.attributes[column], model.ranges[column], model.cuts_of(column)
    return ModelAttribute.model_validate(
        {
            "name": attribute.name,
            "kind": attribute.kind.value,
            "categories": None if attribute.is_numeric else list(attribute.categories),
            "minimum": None if limits is None else limits[0],
            "maximum": None if limits is None else limits[1],
            "cost": cost,
            "cuts": None if cuts is None else list(cuts),
        }
    )
