"""The models that were used last, loaded once and kept; what changes in the store is noticed within a second."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from core.json_scan import RecordScanner
from core.model import Model
from core.record_reader import RecordReader
from core.rules.simplification import OrderedRules
from core.serialization import load_tree
from service.serving.kept import Kept
from service.serving.served_steps import STEPS_KEPT, ServedSteps
from service.store import models
from service.store.models import ModelRecord
from service.store.transactions import Database

FRESH_SECONDS = 1.0
MADE_KEPT = 16

Made = TypeVar("Made")


class LoadedModel(ServedSteps):
    """A model with its record, its steps, and the measures and simplified rules of those asked for last."""

    def __init__(self, record: ModelRecord, model: Model) -> None:
        super().__init__(model)
        self.record = record
        self._parts: Kept[int, dict[str, Any]] = Kept(STEPS_KEPT)  # measures by step
        self.simplified: Kept[tuple[int, str], OrderedRules] = Kept(STEPS_KEPT)  # by step and kind of thresholds
        self._make_once = lru_cache(maxsize=MADE_KEPT)(self._make)

    @cached_property
    def reader(self) -> RecordReader:
        """Reads records for it one by one."""
        return RecordReader(self.model.attributes, self.record.facts["unused_columns"])

    @cached_property
    def scanner(self) -> RecordScanner:
        """Reads many records for it at once; made by compiled code."""
        return RecordScanner(self.model.attributes, self.record.facts["unused_columns"])

    def once(self, make: Callable[..., Made], *details: Hashable) -> Made:
        """What layers above make of this model, kept with it: `make(model, *details)`, those asked for last."""
        made: Made = self._make_once(make, *details)
        return made

    def _make(self, make: Callable[..., Any], *details: Hashable) -> Any:
        return make(self, *details)

    def parts(self, step: int) -> dict[str, Any] | None:
        """The measures of each part as of a step, if they were stored with the model or found out before."""
        stored = self.record.evaluation["parts"]
        return stored if stored is not None and step == self.model.history.selected else self._parts.get(step)

    def keep_parts(self, step: int, parts: dict[str, Any]) -> None:
        """Remember the measures as of a step."""
        self._parts.keep(step, parts)


class LoadedModels:
    """Finds models by id, `name` or `name@version`, and keeps a limited number of them in memory."""

    def __init__(self, database: Database, *, limit: int) -> None:
        self._database, self._limit = database, limit
        self._loaded: OrderedDict[str, LoadedModel] = OrderedDict()  # by id, the one used last at the end
        self._found: OrderedDict[str, tuple[float, str]] = OrderedDict()  # what a reference meant, and until when
        self._locks: dict[str, asyncio.Lock] = {}

    async def get(self, ref: str) -> LoadedModel:
        """The ready model that the reference names now, or at most a second ago."""
        until, model_id = self._found.get(ref, (0.0, ""))
        if time.monotonic() < until and model_id in self._loaded:
            self._loaded.move_to_end(model_id)
            return self._loaded[model_id]
        async with self._database.reading() as session:
            record = await models.get(session, ref)
        loaded = await self._load(record)
        self._remember(ref, record.id)
        return loaded

    def forget(self, model_id: str) -> None:
        """Drop a model that was deleted here."""
        self._loaded.pop(model_id, None)

    async def _load(self, record: ModelRecord) -> LoadedModel:
        """Read the content once, however many requests wait for it."""
        async with self._locks.setdefault(record.id, asyncio.Lock()):
            loaded = self._loaded.get(record.id)
            if loaded is None:
                async with self._database.reading() as session:
                    content = await models.read_content(session, record.id)
                loaded = LoadedModel(record, await asyncio.to_thread(load_tree, content))
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
