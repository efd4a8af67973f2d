"""What every loaded model has: its record, how records for it are read, and what was made of it."""

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
    """A model's record, and readers of records with its attributes."""

    def __init__(self, record: ModelRecord, attributes: Schema) -> None:
        self.record, self.attributes = record, attributes
        self._make_once = lru_cache(maxsize=MADE_KEPT)(self._make)

    @cached_property
    def reader(self) -> RecordReader:
        """Reads records for it one by one."""
        return RecordReader(self.attributes, self.record.facts["unused_columns"])

    @cached_property
    def scanner(self) -> RecordScanner:
        """Reads many records for it at once; made by compiled code."""
        return RecordScanner(self.attributes, self.record.facts["unused_columns"])

    def once(self, make: Callable[..., Made], *details: Hashable) -> Made:
        """What layers above make of this model, kept with it: `make(model, *details)`, those asked for last."""
        made: Made = self._make_once(make, *details)
        return made

    def _make(self, make: Callable[..., Any], *details: Hashable) -> Any:
        return make(self, *details)
