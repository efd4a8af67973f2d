"""Which attributes a model relies on."""

from typing import Annotated

from pydantic import Field

from core.division import Part
from core.importance import Fall, Measure, impurity_decrease, measure_of, times_selected
from service.api.schemas.common import Answer
from service.api.schemas.models import ModelStep
from service.serving.loaded_models import LoadedModel


class PermutationImportance(Answer):
    """How much worse the answers become when the attribute's values are handed out to the rows at random."""

    mean: Annotated[float, Field(description="Over the repeats; near 0 where the attribute does not matter.")]
    spread: Annotated[float, Field(description="The standard deviation of the repeats.")]
    part: Annotated[Part, Field(description="The rows that were asked.")]


class AttributeImportance(Answer):
    """How much a model relies on an attribute."""

    attribute: str
    times_selected: Annotated[int, Field(description="How many nodes ask the attribute.")]
    impurity_decrease: Annotated[
        float, Field(description="Its part of all that the tree tells apart; all parts sum to 1, or are 0 in a leaf.")
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
    def of(cls, loaded: LoadedModel, step: int, part: Part | None, falls: list[Fall] | None) -> "Importance":
        view, attributes = loaded.view(step), loaded.model.attributes
        selected, decrease = times_selected(view, len(attributes)), impurity_decrease(view, len(attributes))
        return cls(
            model=ModelStep.of(loaded, step),
            measure=measure_of(loaded.model),
            items=[
                AttributeImportance(
                    attribute=attribute.name,
                    times_selected=int(selected[column]),
                    impurity_decrease=float(decrease[column]),
                    permutation=None if falls is None else _permutation(falls[column], part),
                )
                for column, attribute in enumerate(attributes)
            ],
        )


def _permutation(fall: Fall, part: Part | None) -> PermutationImportance:
    assert part is not None
    return PermutationImportance(mean=fall.mean, spread=fall.spread, part=part)
