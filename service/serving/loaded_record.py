"""What every loaded model has: its stored record, readers of the records to predict, and a cache."""

from collections.abc import Callable, Hashable
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from core.records.json_scan import RecordScanner
from core.records.reader import RecordReader
from core.tables.schema import Schema
from service.store.models import ModelRecord

MADE_KEPT = 16

Made = TypeVar("Made")


class LoadedRecord:
    """A model's stored record, and readers of the records that it predicts."""

    def __init__(self, record: ModelRecord, attributes: Schema) -> None:
        self.record, self.attributes = record, attributes
        self._make_once = lru_cache(maxsize=MADE_KEPT)(self._make)

    @cached_property
    def reader(self) -> RecordReader:
        """Reads records one by one."""
        return RecordReader(self.attributes, self.record.facts["unused_columns"])

    @cached_property
    def scanner(self) -> RecordScanner:
        """Reads many records at once by compiled code, which is also needed to make the scanner."""
        return RecordScanner(self.attributes, self.record.facts["unused_columns"])

    def once(self, make: Callable[..., Made], *details: Hashable) -> Made:
        """`make(model, *details)`, cached with the model: for what layers above make of it."""
        made: Made = self._make_once(make, *details)
        return made

    def _make(self, make: Callable[..., Any], *details: Hashable) -> Any:
        return make(self, *details)
