"""Which attributes a model relies on."""

from typing import Annotated

from pydantic import Field

from core.ensembles.insight.importance import forest_impurity_decrease, forest_times_selected
from core.ensembles.insight.retraining import Retrained, UnseenRows
from core.evaluation.importance import Fall, Measure, impurity_decrease, measure_of, times_selected
from service.api.schemas.common import Answer
from service.api.schemas.models import ModelStep
from service.serving.loaded_models import LoadedForest, LoadedModel, common_tree
from service.usecases.models.read_importance import AskedRows
from service.usecases.trainings.evaluation_json import retrained_from_json


class PermutationImportance(Answer):
    """How much worse the answers become when the attribute's values are handed out to the rows at random."""

    mean: Annotated[float, Field(description="Over the repeats; near 0 where the attribute does not matter.")]
    spread: Annotated[float, Field(description="The standard deviation of the repeats.")]
    part: Annotated[AskedRows, Field(description="The rows that were asked.")]


class RetrainingImportance(Answer):
    """How much worse the answers are of models trained with the attribute's values handed out at random.

    It is of the training as it was ordered, whatever step is asked for.
    """

    mean: Annotated[float, Field(description="Over the repeats; near 0 where others tell as much.")]
    spread: Annotated[float, Field(description="The standard deviation of the repeats.")]
    part: Annotated[
        UnseenRows,
        Field(
            description="The rows that were asked: `test`, else `out_of_bag`, each training row by the trees it was "
            "not drawn for, else `cross_validation`, each by a model trained without a fifth of the rows."
        ),
    ]


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
    retraining: Annotated[
        RetrainingImportance | None, Field(description="Null unless the training was ordered with `importance`.")
    ]


class Importance(Answer):
    """Every attribute of the model, in the order of its columns."""

    model: ModelStep
    measure: Annotated[
        Measure,
        Field(
            description="What permutation and retraining are about: how far accuracy or R² falls, or the mean cost of "
            "answers rises."
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
        stored = loaded.record.evaluation.get("retraining")
        retrained = None if stored is None else retrained_from_json(stored)
        return cls(
            model=ModelStep.of(loaded, step),
            measure=measure_of(common_tree(loaded).model),
            items=[
                AttributeImportance(
                    attribute=attribute.name,
                    times_selected=int(selected[column]),
                    impurity_decrease=float(decrease[column]),
                    permutation=None if falls is None else _permutation(falls[column], asked),
                    retraining=None if retrained is None else _retraining(retrained, column),
                )
                for column, attribute in enumerate(attributes)
            ],
        )


def _permutation(fall: Fall, asked: AskedRows | None) -> PermutationImportance:
    assert asked is not None
    return PermutationImportance(mean=fall.mean, spread=fall.spread, part=asked)


def _retraining(retrained: Retrained, column: int) -> RetrainingImportance:
    fall = retrained.falls[column]
    return RetrainingImportance(mean=fall.mean, spread=fall.spread, part=retrained.rows)
