"""Answer records with whatever a model is: one tree, a committee or an isolation forest."""

from core.ensembles.voting import Voting
from core.prediction.routing import MissingPolicy
from core.records.records import EncodedRecords
from service.serving.loaded_models import Loaded, LoadedForest, LoadedIsolation, LoadedModel
from service.usecases.predictions.ask_isolation import IsolationAnswered, refuse_other_ways
from service.usecases.predictions.predict import Order, order_of
from service.usecases.predictions.predict_forest import ForestAnswered, ForestOrder, answer_forest, forest_order_of

AnyOrder = Order | ForestOrder | None  # an isolation forest can be asked in one way only


def order_for(loaded: Loaded, *, step: str | int, policy: MissingPolicy | None, voting: Voting | None) -> AnyOrder:
    """The order that a client means, or InvalidBody where the model has nothing for it."""
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
    """What many trees answer."""
    if isinstance(loaded, LoadedIsolation):
        return IsolationAnswered(loaded, records, kernels)
    assert isinstance(order, ForestOrder)
    return answer_forest(loaded, order, records, kernels=kernels)
