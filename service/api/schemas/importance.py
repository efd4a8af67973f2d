"""Which attributes a model relies on."""

from typing import Annotated

from pydantic import Field

from core.ensembles.importance import forest_impurity_decrease, forest_times_selected
from core.importance import Fall, Measure, impurity_decrease, measure_of, times_selected
from service.api.schemas.common import Answer
from service.api.schemas.models import ModelStep
from service.serving.loaded_models import LoadedForest, LoadedModel, common_tree
from service.usecases.read_importance import AskedRows


class PermutationImportance(Answer):
    """How much worse the answers become when the attribute's values are handed out to the rows at random."""

    mean: Annotated[float, Field(description="Over the repeats; near 0 where the attribute does not matter.")]
    spread: Annotated[float, Field(description="The standard deviation of the repeats.")]
    part: Annotated[AskedRows, Field(description="The rows that were asked.")]


class AttributeImportance(Answer):
    """How much a model relies on an attribute."""

    attribute: str
    times_selected: Annotated[int, Field(description="How many nodes, of all trees, ask the attribute.")]
    impurity_decrease: Annotated[
        float,
        Field(
            description="Its part of all that the tree tells apart, of many the mean of that; all parts sum to 1, or "
            "are 0 in a leaf."
        ),
    ]
    permutation: Annotated[PermutationImportance | None, Field(description="Null unless `part` was asked for.")]


class Importance(Answer):
    """Every attribute of the model, in the order of its columns."""

    model: ModelStep
    measure: Annotated[
        Measure,
        Field(
            description="What permutation is about: how far accuracy or R² falls, or the mean cost of answers rises."
        ),
    ]
    items: list[AttributeImportance]

    @classmethod
    def of(
        cls, loaded: LoadedModel | LoadedForest, step: int, asked: AskedRows | None, falls: list[Fall] | None
    ) -> "Importance":
        attributes = loaded.model.attributes
        if isinstance(loaded, LoadedModel):
            view = loaded.view(step)
            selected, decrease = times_selected(view, len(attributes)), impurity_decrease(view, len(attributes))
        else:
            forest = loaded.model.forest
            selected = forest_times_selected(forest, len(attributes))
            decrease = forest_impurity_decrease(forest, len(attributes))
        return cls(
            model=ModelStep.of(loaded, step),
            measure=measure_of(common_tree(loaded).model),
            items=[
                AttributeImportance(
                    attribute=attribute.name,
                    times_selected=int(selected[column]),
                    impurity_decrease=float(decrease[column]),
                    permutation=None if falls is None else _permutation(falls[column], asked),
                )
                for column, attribute in enumerate(attributes)
            ],
        )


def _permutation(fall: Fall, asked: AskedRows | None) -> PermutationImportance:
    assert asked is not None
    return PermutationImportance(mean=fall.mean, spread=fall.spread, part=asked)
