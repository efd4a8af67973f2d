"""Answer records with a model of any kind: one tree, a committee or an isolation forest."""

from core.ensembles.voting import Voting
from core.prediction.routing import MissingPolicy
from core.records.records import EncodedRecords
from service.serving.loaded_models import Loaded, LoadedForest, LoadedIsolation, LoadedModel
from service.usecases.predictions.ask_isolation import IsolationAnswered, refuse_other_ways
from service.usecases.predictions.predict import Order, order_of
from service.usecases.predictions.predict_forest import ForestAnswered, ForestOrder, answer_forest, forest_order_of

AnyOrder = Order | ForestOrder | None  # None for an isolation forest, which has no options


def order_for(loaded: Loaded, *, step: str | int, policy: MissingPolicy | None, voting: Voting | None) -> AnyOrder:
    """The order for a client's options; InvalidBody for those that the model does not support."""
    match loaded:
        case LoadedModel():
            return order_of(loaded, step=step, policy=policy, voting=voting)
        case LoadedForest():
            return forest_order_of(loaded, step=step, policy=policy, voting=voting)
        case LoadedIsolation():
            refuse_other_ways(loaded, step=step, policy=policy, voting=voting)
            return None


def answer_by_many(
    loaded: LoadedForest | LoadedIsolation, order: AnyOrder, records: EncodedRecords, *, kernels: bool
) -> ForestAnswered | IsolationAnswered:
    """The answers of a model of many trees."""
    if isinstance(loaded, LoadedIsolation):
        return IsolationAnswered(loaded, records, kernels)
    assert isinstance(order, ForestOrder)
    return answer_forest(loaded, order, records, kernels=kernels)
