"""Progress of a piece of work: reported often, so that people see it move and can cancel it.

A `Watch` hears a number from 0 to 1 that never falls. What it raises ends the work.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Watch = Callable[[float], None]
Item = TypeVar("Item")


def nobody(_: float) -> None:
    """A watch that ignores progress."""


def part_of(watch: Watch, start: float, end: float) -> Watch:
    """The watch of a part of the work, which goes from `start` to `end` of the whole."""
    return lambda done: watch(start + done * (end - start))


def watched(items: Sequence[Item], watch: Watch) -> Iterator[Item]:
    """The items one by one; the watch hears before each how many have been dealt with, and 1 after the last."""
    for number, item in enumerate(items):
        watch(number / len(items))
        yield item
    watch(1.0)
