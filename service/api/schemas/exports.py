"""A whole model as one document."""

from typing import Annotated, Literal

from pydantic import Field

from service.api.schemas.common import Answer
from service.api.schemas.configuring.configuration import Configuration
from service.api.schemas.configuring.pruning import CrossValidationTable, PruningEntry
from service.api.schemas.models import ModelAttribute, ModelStep, ShownTarget, attributes_of, shown_target
from service.api.schemas.trees import Tree, tree_of
from service.serving.loaded_models import LoadedModel


class ModelExport(Answer):
    """A complete model, to keep or to read elsewhere."""

    format: Literal["niwaki-tree"]
    format_version: Annotated[Literal[1], Field(description="Increases when this format changes.")]
    model: ModelStep
    target: ShownTarget
    attributes: list[ModelAttribute]
    configuration: Configuration
    tree: Annotated[Tree, Field(description="The tree at the requested step; `step=full` has every node ever grown.")]
    pruning: Annotated[list[PruningEntry], Field(description="Every pruning decision, in order.")]
    cross_validation: Annotated[
        CrossValidationTable | None,
        Field(description="Every alpha, if it was chosen by cross-validation; otherwise `null`."),
    ]

    @classmethod
    def of(cls, loaded: LoadedModel, step: int) -> "ModelExport":
        model, table = loaded.model, loaded.model.history.cross_validation
        return cls(
            format="niwaki-tree",
            format_version=1,
            model=ModelStep.of(loaded, step),
            target=shown_target(model),
            attributes=attributes_of(loaded),
            configuration=Configuration.model_validate(loaded.record.configuration),
            tree=tree_of(loaded, step, None),
            pruning=[PruningEntry.of(entry, model) for entry in model.history.steps],
            cross_validation=None if table is None else CrossValidationTable.of(table),
        )
