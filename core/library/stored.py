"""Trained models as bytes, and back."""

from core.ensembles.isolation.model import IsolationModel
from core.ensembles.model import ForestModel
from core.library.trained_forest import TrainedForest, TrainedIsolation
from core.library.trained_tree import Trained
from core.storage import serialization
from core.tree.model import Model


def dump(trained: Trained | TrainedForest | TrainedIsolation) -> bytes:
    """The model in the newest format: the same bytes that the service stores."""
    return serialization.dump(trained.model)


def load(content: bytes) -> Trained | TrainedForest | TrainedIsolation:
    """The model that `dump` wrote, now or in any earlier release, ready to answer.

    Raises `core.storage.serialization.UnknownFormatError` for anything else.
    """
    match serialization.load(content):
        case Model() as model:
            return Trained(model)
        case ForestModel() as model:
            return TrainedForest(model)
        case IsolationModel() as model:
            return TrainedIsolation(model)
