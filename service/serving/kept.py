"""A limited number of things found out before, so that they are not found out again."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """The values that were kept last."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[Key, Value] = OrderedDict()  # the newest at the end

    def get(self, key: Key) -> Value | None:
        """What is kept under the key, if anything is."""
        return self._values.get(key)

    def keep(self, key: Key, value: Value) -> None:
        """Remember a value, and forget the oldest one where there are too many."""
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._limit:
            self._values.popitem(last=False)
