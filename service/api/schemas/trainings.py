"""Trainings: how they are ordered, and how they are shown."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field

from core.config.as_json import importance_from_json
from service.api.schemas.common import Answer, Body, Page, ProblemError, WholeNumber
from service.api.schemas.configuring.configuration import (
    AlgorithmOptions,
    ClassWeights,
    Configuration,
    DivisionOptions,
    MisclassificationCosts,
    PruningOptions,
    RandomDivisionOptions,
    RetrainingOptions,
    Target,
    TargetKind,
    core_division,
)
from service.api.schemas.models import ModelParent, ValidationDatasetId
from service.store.models import ID_PREFIX
from service.store.trainings import TrainingRecord
from service.usecases.trainings.start_training import TrainingOrder

LARGEST_SEED = 2**63 - 1


def _is_model_name(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must not hold control characters")
    if "/" in text or "@" in text:
        raise ValueError("must not hold / or @, which have a meaning in addresses")
    if text != text.strip():
        raise ValueError("must not begin or end with a blank")
    if text.startswith(ID_PREFIX):
        raise ValueError(f"must not begin with {ID_PREFIX}, as ids do")
    if text in (".", ".."):
        raise ValueError("must not be . or .., which addresses lose")
    return text


ModelName = Annotated[str, Field(min_length=1, max_length=200, examples=["melon"]), AfterValidator(_is_model_name)]


class TrainingRequest(Body):
    """A request to train a model. Options that are omitted take the defaults of the method."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "melon",
                    "dataset_id": "ds_01k9x6v0m2b7c4d5e6f7g8h9ja",
                    "target": "好瓜",
                    "algorithm": {"kind": "c45", "stopping": {"max_depth": 4}},
                    "division": {"kind": "random", "train": 0.7, "validation": 0.3, "test": 0},
                    "pruning": {"kind": "reduced_error"},
                }
            ]
        }
    )

    name: Annotated[ModelName, Field(description="Name of the model. Training it again creates its next version.")]
    dataset_id: str
    target: Annotated[
        Target | None, Field(description="Required by every method except `isolation_forest`, which takes none.")
    ] = None
    target_kind: Annotated[
        TargetKind | None,
        Field(description="Kind of the target, if that of its column is not what is meant: 0/1 columns look numeric."),
    ] = None
    attributes: Annotated[
        list[str] | None,
        Field(
            min_length=1,
            description="Columns to learn from, in the order that decides ties. Default: every column except the "
            "target, the weight, the division and ignored ones.",
        ),
    ] = None
    sample_weight: Annotated[str | None, Field(description="Numeric column with the weight of each row.")] = None
    class_weights: Annotated[
        ClassWeights | None, Field(description="Weight of each class in training. Default: 1.")
    ] = None
    misclassification_costs: MisclassificationCosts | None = None
    seed: Annotated[
        WholeNumber, Field(ge=0, le=LARGEST_SEED, description="Seed of everything that is drawn at random.")
    ] = 0
    division: DivisionOptions = RandomDivisionOptions(kind="random")
    algorithm: AlgorithmOptions
    pruning: Annotated[
        PruningOptions | None,
        Field(
            description="How to prune the tree. Default: none for `id3` and `chaid`, `confidence` for `c45`, "
            "`cost_complexity` for `cart`, `quest` and `multivariate`. Models of many trees are not pruned."
        ),
    ] = None
    importance: Annotated[
        RetrainingOptions | None,
        Field(
            description="Additional importance measure to compute during training; `GET …/importance` shows it. `null` "
            "for none."
        ),
    ] = None

    def order(self) -> TrainingOrder:
        """The request as a `TrainingOrder`."""
        return TrainingOrder(
            name=self.name,
            dataset_id=self.dataset_id,
            target=self.target if isinstance(self.target, str) else tuple(self.target or ()),
            target_kind=self.target_kind,
            attributes=None if self.attributes is None else tuple(self.attributes),
            sample_weight=self.sample_weight,
            class_weights=self.class_weights,
            misclassification_costs=self.misclassification_costs,
            seed=self.seed,
            division=core_division(self.division),
            preset=self.algorithm.kind,
            overrides=self.algorithm.overrides(),
            pruning=None if self.pruning is None else self.pruning.model_dump(exclude_none=True),
            importance=None if self.importance is None else importance_from_json(self.importance.model_dump()),
        )


class TrainingProblem(Answer):
    """Why a training failed."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[ProblemError]


class Training(Answer):
    """A training, with its status and progress."""

    id: Annotated[str, Field(examples=["trn_01k9x6v0m2b7c4d5e6f7g8h9ja"])]
    name: Annotated[str, Field(examples=["melon"])]
    status: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    stage: Annotated[
        Literal["loading", "growing", "pruning", "evaluating", "retraining", "storing"] | None,
        Field(description="Current stage; `null` unless the training is running."),
    ]
    progress: Annotated[float, Field(ge=0, le=1, description="From 0 to 1.")]
    model_id: Annotated[
        str | None,
        Field(description="Id of the model to be created, known from the start; `null` if there will be none."),
    ]
    version: Annotated[int, Field(description="Version of the model under its name.")]
    dataset_id: str
    validation_dataset_id: ValidationDatasetId
    configuration: Configuration
    parent: Annotated[
        ModelParent | None, Field(description="The model that is pruned again; `null` if a model is newly trained.")
    ]
    warnings: list[str]
    problem: Annotated[TrainingProblem | None, Field(description="Why the training failed; `null` if it did not.")]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, training: TrainingRecord) -> "Training":
        return cls.model_validate(
            {name: getattr(training, name) for name in cls.model_fields}
            | {
                "warnings": list(training.warnings),
                "parent": None if training.parent is None else asdict(training.parent),
            }
        )


class TrainingPage(Page[Training]):
    """Trainings, newest first."""
