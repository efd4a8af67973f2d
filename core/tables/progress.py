"""Progress of a piece of work: reported often, so that users can follow and cancel it.

A `Watch` is called with a number from 0 to 1 that never falls. An exception that it raises ends the work.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Watch = Callable[[float], None]
Item = TypeVar("Item")


def ignore_progress(_: float) -> None:
    """A watch that ignores progress."""


def part_of(watch: Watch, start: float, end: float) -> Watch:
    """The watch of a part of the work, which goes from `start` to `end` of the whole."""
    return lambda done: watch(start + done * (end - start))


def watched(items: Sequence[Item], watch: Watch) -> Iterator[Item]:
    """The items one by one; before each, the watch is called with the part done so far, and with 1 after the last."""
    for number, item in enumerate(items):
        watch(number / len(items))
        yield item
    watch(1.0)
