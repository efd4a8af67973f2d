"""A cache of the models that were used last; changes in the store are noticed within a second."""

import asyncio
import time
from collections import OrderedDict
from functools import cached_property, lru_cache
from typing import Any

from core.ensembles.insight.rules import ForestRule
from core.ensembles.isolation.model import IsolationModel
from core.ensembles.isolation.scores import IsolationPredictor
from core.ensembles.model import ForestModel
from core.ensembles.prediction.predictor import ForestPredictor
from core.rules.simplification import OrderedRules
from core.storage.serialization import AnyModel, load
from core.tables.schema import Schema
from core.tree.model import Model
from service.errors import InvalidParameter, NotForThisModel
from service.serving.kept import Kept
from service.serving.loaded_record import LoadedRecord
from service.serving.resolve_step import in_body, only_step
from service.serving.served_steps import STEPS_KEPT, ServedSteps
from service.store import models
from service.store.models import ModelRecord
from service.store.transactions import Database

FRESH_SECONDS = 1.0
MEMBERS_KEPT = 4


class LoadedModel(ServedSteps, LoadedRecord):
    """A model of one tree with its record, its steps, and cached measures and simplified rules of some steps."""

    def __init__(self, record: ModelRecord, model: Model) -> None:
        ServedSteps.__init__(self, model)
        LoadedRecord.__init__(self, record, model.attributes)
        self._parts: Kept[int, dict[str, Any]] = Kept(STEPS_KEPT)  # measures by step
        self.simplified: Kept[tuple[int, str], OrderedRules] = Kept(STEPS_KEPT)  # by step and kind of thresholds

    def parts(self, step: int) -> dict[str, Any] | None:
        """The measures of each part as of a step, if they are stored with the model or cached; else None."""
        stored = self.record.evaluation["parts"]
        return stored if stored is not None and step == self.model.history.selected else self._parts.get(step)

    def keep_parts(self, step: int, parts: dict[str, Any]) -> None:
        """Cache the measures of each part as of a step."""
        self._parts.keep(step, parts)


class LoadedTrees(LoadedRecord):
    """A model of many trees with its record; the trees used last are cached as models of their own."""

    model: ForestModel | IsolationModel

    def __init__(self, record: ModelRecord, attributes: Schema) -> None:
        super().__init__(record, attributes)
        self.number = only_step
        self.member = lru_cache(maxsize=MEMBERS_KEPT)(self._member)

    def __len__(self) -> int:
        return len(self.model)

    def number_in_body(self, step: str | int) -> int:
        """The number of the step given in a body under `step`; InvalidBody if it is malformed."""
        return in_body(self.number, step)

    def _member(self, index: int) -> LoadedModel:
        return LoadedModel(self.record, self.model.member(index))


class LoadedForest(LoadedTrees):
    """A committee with its record."""

    def __init__(self, record: ModelRecord, model: ForestModel) -> None:
        super().__init__(record, model.attributes)
        self.model: ForestModel = model
        self.strongest: list[ForestRule] | None = None  # its strongest rules, once they were requested

    @cached_property
    def predictor(self) -> ForestPredictor:
        """The predictor of the trees."""
        return ForestPredictor(self.model.forest)


class LoadedIsolation(LoadedTrees):
    """An isolation forest with its record."""

    def __init__(self, record: ModelRecord, model: IsolationModel) -> None:
        super().__init__(record, model.attributes)
        self.model: IsolationModel = model

    @cached_property
    def predictor(self) -> IsolationPredictor:
        """The predictor of the trees' path lengths."""
        return IsolationPredictor(self.model.isolation)


Loaded = LoadedModel | LoadedForest | LoadedIsolation


def one_tree(loaded: Loaded, index: int | None) -> LoadedModel:
    """The model's single tree, or one of many by its index; InvalidParameter if `index` does not fit."""
    if isinstance(loaded, LoadedModel):
        if index is not None:
            raise InvalidParameter("index", "this model has a single tree", hint="leave index out")
        return loaded
    if index is None or not 0 <= index < len(loaded):
        detail = f"this model has {len(loaded)} trees" + ("" if index is None else f", and none is tree {index}")
        raise InvalidParameter("index", detail, hint=f"ask for one of them: 0 to {len(loaded) - 1}")
    return loaded.member(index)


def common_tree(loaded: Loaded) -> LoadedModel:
    """The model's first tree, for what all its trees have in common: attributes, classes, targets."""
    return loaded if isinstance(loaded, LoadedModel) else loaded.member(0)


class LoadedModels:
    """Finds models by id, `name` or `name@version`, and keeps a limited number of them in memory."""

    def __init__(self, database: Database, *, limit: int) -> None:
        self._database, self._limit = database, limit
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()  # by id, the one used last at the end
        self._found: OrderedDict[str, tuple[float, str]] = OrderedDict()  # by reference: valid until, and the id
        self._locks: dict[str, asyncio.Lock] = {}

    async def get(self, ref: str) -> Loaded:
        """The ready model that the reference names now, or named at most a second ago."""
        until, model_id = self._found.get(ref, (0.0, ""))
        if time.monotonic() < until and model_id in self._loaded:
            self._loaded.move_to_end(model_id)
            return self._loaded[model_id]
        async with self._database.reading() as session:
            record = await models.get(session, ref)
        loaded = await self._load(record)
        self._remember(ref, record.id)
        return loaded

    async def tree(self, ref: str, *, instead: str) -> LoadedModel:
        """The model of one tree that the reference names; else NotForThisModel, which says what to do `instead`."""
        loaded = await self.get(ref)
        if not isinstance(loaded, LoadedModel):
            raise NotForThisModel(f"{loaded.record.name} has {len(loaded)} trees; {instead}")
        return loaded

    async def forest(self, ref: str, *, what: str) -> LoadedForest:
        """The committee that the reference names; else NotForThisModel, which says that committees have `what`."""
        loaded = await self.get(ref)
        if not isinstance(loaded, LoadedForest):
            raise NotForThisModel(
                f"{loaded.record.name} is no committee of trees; a random_forest, for example, has {what}"
            )
        return loaded

    def forget(self, model_id: str) -> None:
        """Drop a model that this process has deleted."""
        self._loaded.pop(model_id, None)

    async def _load(self, record: ModelRecord) -> Loaded:
        """Load a model once, even if several requests wait for it."""
        async with self._locks.setdefault(record.id, asyncio.Lock()):
            loaded = self._loaded.get(record.id)
            if loaded is None:
                async with self._database.reading() as session:
                    content = await models.read_content(session, record.id)
                loaded = loaded_from(record, await asyncio.to_thread(load, content))
                self._loaded[record.id] = loaded
                while len(self._loaded) > self._limit:
                    self._loaded.popitem(last=False)
        self._locks.pop(record.id, None)
        return loaded

    def _remember(self, ref: str, model_id: str) -> None:
        self._found[ref] = (time.monotonic() + FRESH_SECONDS, model_id)
        self._found.move_to_end(ref)
        while len(self._found) > 4 * self._limit:
            self._found.popitem(last=False)


def loaded_from(record: ModelRecord, model: AnyModel) -> Loaded:
    """The loaded form of a model, with its record."""
    match model:
        case Model():
            return LoadedModel(record, model)
        case ForestModel():
            return LoadedForest(record, model)
        case IsolationModel():
            return LoadedIsolation(record, model)
