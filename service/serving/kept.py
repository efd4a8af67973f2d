"""A cache of a limited number of computed values."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """The last `limit` values that were kept, by key."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[Key, Value] = OrderedDict()  # the newest at the end

    def get(self, key: Key) -> Value | None:
        """The value of the key, or None."""
        return self._values.get(key)

    def keep(self, key: Key, value: Value) -> None:
        """Store a value, and drop the oldest ones beyond the limit."""
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._limit:
            self._values.popitem(last=False)
