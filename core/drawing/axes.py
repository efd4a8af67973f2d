"""Axes of a chart: the position of a number, and the ticks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # distances between ticks, times a power of 10
PADDING = 1.12  # at the ends of a logarithmic scale
TINY = 1e-100  # an axis of smaller numbers ends at 1
WIDE = 20.0  # a range whose ends differ by more than this factor is drawn on a logarithmic scale


@dataclass(frozen=True, slots=True)
class Axis:
    """Numbers from `low` to `high` on a line from `start` to `end`, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    is_logarithmic: bool = False

    def position(self, number: float) -> float:
        """The position of a number on the line."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        return self.start + (self._scaled(number) - low) / (high - low) * (self.end - self.start)

    def _scaled(self, number: float) -> float:
        return math.log(number) if self.is_logarithmic else number


def count_axis(smallest: int, largest: int, start: float, end: float, *, n_ticks: int = 9) -> Axis:
    """An axis of integers from 1 on, with some padding at its ends; logarithmic if the range is wide."""
    if largest > WIDE * smallest:
        low, high = smallest / PADDING, largest * PADDING
        ticks = tuple(tick for tick in _decades(smallest, largest) if low <= tick <= high)
        return Axis(low, high, start, end, _some(ticks, n_ticks), is_logarithmic=True)
    return whole_axis(smallest, largest, start, end, n_ticks=n_ticks)


def whole_axis(smallest: int, largest: int, start: float, end: float, *, n_ticks: int = 9) -> Axis:
    """A linear axis of integers from 1 on, with some padding at its ends."""
    padding = max(0.5, 0.04 * (largest - smallest))
    apart = max(1.0, math.ceil(_apart((largest - smallest) / n_ticks)))
    low, high = max(0.0, smallest - padding), largest + padding
    return Axis(low, high, start, end, _multiples(low, high, apart))


def amount_axis(smallest: float, largest: float, start: float, end: float, *, n_ticks: int = 6) -> Axis:
    """An axis of numbers from 0 up, or from below the smallest if all are far from 0; it ends at ticks."""
    largest = largest if largest > TINY else 1.0
    is_far = 0.5 * largest <= smallest < (1 - 1e-9) * largest
    low = smallest if is_far else 0.0
    apart = _apart((largest - low) / n_ticks)
    first, last = math.floor(low / apart + 1e-9) * apart, math.ceil(largest / apart - 1e-9) * apart
    return Axis(first, last, start, end, _multiples(first, last, apart))


def range_axis(low: float, high: float, start: float, end: float, *, n_ticks: int = 8) -> Axis:
    """An axis between exactly these two numbers."""
    return Axis(low, high, start, end, _multiples(low, high, _apart((high - low) / n_ticks)))


def number_words(ticks: Sequence[float]) -> list[str]:
    """The labels of an axis, all with the same number of decimals, and with thin spaces in large numbers."""
    if any(0 < abs(tick) < 1e-4 or abs(tick) >= 1e7 for tick in ticks):
        return [f"{tick:.6g}" for tick in ticks]
    decimals = max(len(f"{tick:.10f}".rstrip("0").partition(".")[2]) for tick in ticks)
    return [f"{tick:,.{decimals}f}".replace(",", "\u202f" if abs(tick) >= 10_000 else "") for tick in ticks]


def _apart(least: float) -> float:
    """The smallest round number not below this one."""
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in STEPS if step * power >= least * (1 - 1e-9))


def _multiples(low: float, high: float, apart: float) -> tuple[float, ...]:
    first, last = math.ceil(low / apart - 1e-9), math.floor(high / apart + 1e-9)
    digits = max(0, 2 - math.floor(math.log10(apart)))
    return tuple(round(number * apart, digits) for number in range(first, last + 1))


def _decades(smallest: int, largest: int) -> list[float]:
    """1, 2, 5, 10, 20, 50, … around the range."""
    powers = range(math.floor(math.log10(smallest)), math.ceil(math.log10(largest)) + 1)
    return [float(step * 10**power) for power in powers for step in (1, 2, 5)]


def _some(ticks: tuple[float, ...], n_ticks: int) -> tuple[float, ...]:
    """All ticks if they are few enough, else the powers of 10 among them."""
    return ticks if len(ticks) <= n_ticks else tuple(t for t in ticks if math.log10(t) % 1 < 1e-9)
