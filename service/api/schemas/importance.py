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
    """How much worse predictions become if the attribute's values are shuffled among the rows."""

    mean: Annotated[float, Field(description="Mean over the repeats; near 0 if the attribute does not matter.")]
    spread: Annotated[float, Field(description="Standard deviation over the repeats.")]
    part: Annotated[AskedRows, Field(description="The rows used for measuring.")]


class RetrainingImportance(Answer):
    """How much worse predictions become if the model is trained again with the attribute's values shuffled.

    It refers to the training as it was configured, whatever step is requested.
    """

    mean: Annotated[
        float, Field(description="Mean over the repeats; near 0 if other attributes carry the same information.")
    ]
    spread: Annotated[float, Field(description="Standard deviation over the repeats.")]
    part: Annotated[
        UnseenRows,
        Field(
            description="The rows used for measuring: `test`; if there are none, `out_of_bag`, each training row "
            "predicted by the trees it was not drawn for; or else `cross_validation`, each training row predicted by a "
            "model trained without its fifth of the rows."
        ),
    ]


class AttributeImportance(Answer):
    """How much a model relies on an attribute."""

    attribute: str
    times_selected: Annotated[int, Field(description="Number of nodes, in all trees, that test the attribute.")]
    impurity_decrease: Annotated[
        float,
        Field(
            description="Share of the tree's total decrease of impurity; for many trees, the mean of that. The shares "
            "of all attributes sum to 1; they are all 0 if nothing decreases impurity."
        ),
    ]
    permutation: Annotated[PermutationImportance | None, Field(description="`null` unless `part` was given.")]
    retraining: Annotated[
        RetrainingImportance | None, Field(description="`null` unless the training was configured with `importance`.")
    ]


class Importance(Answer):
    """Importance of every attribute of the model, in the order of its columns."""

    model: ModelStep
    measure: Annotated[
        Measure,
        Field(
            description="The measure that `permutation` and `retraining` refer to: how much accuracy or R² decreases, "
            "or the mean cost increases."
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
