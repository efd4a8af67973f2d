"""The tables of the net, made by arithmetic on whole numbers, so that they need no file and no random numbers.

| table | rows | for |
|---|---|---|
| mixed | 220 | numbers, words in order and words, with holes, weights and three classes |
| ties | 220 | few distinct values and no holes: many cuts are equally good |
| words | 240 | words only, which is what ID3 takes |
| slanted | 220 | classes on both sides of sums of columns |
| rare | 300 | one class in ten rows is rare |
| complete | 1,500 | distinct values and no holes |
| large | 20,000 | every kind of column: what takes other ways with many rows |
"""

from collections.abc import Callable
from typing import Any

Columns = dict[str, list[Any]]

STATES = ("poor", "fair", "good", "new")
REGIONS = ("north", "east", "south", "west", "centre")


def scattered(row: int, salt: int, n: int) -> int:
    """A whole number from 0 to n - 1, without any order that could be seen."""
    mixed = (row * 2_654_435_761 + salt * 2_246_822_519) & 0xFFFFFFFF
    for factor in (0x7FEB352D, 0x846CA68B):
        mixed = ((mixed ^ (mixed >> 16)) * factor) & 0xFFFFFFFF
    return (mixed ^ (mixed >> 15)) % n


def column(n_rows: int, value: Callable[[int], Any]) -> list[Any]:
    """A column by what it has in each row."""
    return [value(row) for row in range(n_rows)]


def with_holes(values: list[Any], salt: int, share: int) -> list[Any]:
    """The column with one value in so many missing."""
    return [None if scattered(row, salt, share) == 0 else value for row, value in enumerate(values)]


def mixed(n: int = 220) -> Columns:
    """Every kind of column, with holes in four of them."""
    area = column(n, lambda row: 30 + scattered(row, 1, 120) / 2)
    age = column(n, lambda row: scattered(row, 2, 40))
    rooms = column(n, lambda row: 1 + scattered(row, 3, 5))
    state = column(n, lambda row: STATES[scattered(row, 4, 4)])
    region = column(n, lambda row: REGIONS[scattered(row, 5, 25) % 7 % 5])
    street = column(n, lambda row: f"street {scattered(row, 6, 400) % 23:02}")
    noise = column(n, lambda row: scattered(row, 7, 30))
    price = [
        round(2 * area[row] - age[row] + 25 * (region[row] == "south") + 8 * rooms[row] + noise[row], 2)
        for row in range(n)
    ]
    score = [price[row] + 30 * (state[row] == "good") + 3 * (int(street[row][-2:]) % 5) for row in range(n)]
    return {
        "area": with_holes(area, 11, 9),
        "age": age,
        "rooms": with_holes(rooms, 12, 12),
        "state": with_holes(state, 13, 10),
        "region": with_holes(region, 14, 8),
        "street": street,
        "weight": column(n, lambda row: (1 + scattered(row, 8, 5)) / 2),
        "part": column(n, lambda row: ("train", "train", "train", "validation", "test")[scattered(row, 9, 5)]),
        "price": price,
        "rent": [round(price[row] / 7 + scattered(row, 10, 9) - 3 * (state[row] == "poor"), 2) for row in range(n)],
        "sold": ["yes" if score[row] < 165 else "later" if score[row] < 200 else "no" for row in range(n)],
    }


def ties(n: int = 220) -> Columns:
    """Six columns of 3 to 13 values, a class and a number that depend on three of them."""
    values = {f"x{c}": column(n, lambda row, c=c: scattered(row, 20 + c, (3, 4, 5, 7, 9, 13)[c])) for c in range(6)}
    total = [values["x0"][row] + values["x2"][row] + values["x5"][row] // 3 for row in range(n)]
    return {
        **values,
        "weight": column(n, lambda row: 1 + scattered(row, 28, 3)),
        "kind": ["a" if total[row] + scattered(row, 26, 4) < 6 else "b" for row in range(n)],
        "kind of three": [("a", "b", "c")[(total[row] + scattered(row, 27, 3)) // 4 % 3] for row in range(n)],
        "amount": [2 * total[row] + scattered(row, 29, 3) for row in range(n)],
        "other amount": [values["x1"][row] * 3 - total[row] for row in range(n)],
    }


def words(n: int = 240) -> Columns:
    """Words of 2 to 12 kinds without holes, and two classes."""
    sizes = {"colour": 2, "root": 3, "sound": 4, "texture": 3, "place": 12}
    values = {
        name: [f"{name[0]}{scattered(row, salt, size)}" for row in range(n)]
        for salt, (name, size) in enumerate(sizes.items(), 30)
    }
    points = [
        2 * (values["texture"][row] == "t1") + (values["root"][row] == "r0") + scattered(row, 36, 3) for row in range(n)
    ]
    return {**values, "ripe": ["yes" if each >= 2 else "no" for each in points]}


def slanted(n: int = 220) -> Columns:
    """Numbers whose sums tell two classes, and three."""
    values = {f"x{c}": column(n, lambda row, c=c: scattered(row, 40 + c, 1000) / 8) for c in range(4)}
    total = [values["x0"][row] + values["x1"][row] - values["x2"][row] / 2 for row in range(n)]
    return {
        **values,
        "with holes": with_holes(column(n, lambda row: scattered(row, 45, 60)), 46, 6),
        "word": column(n, lambda row: "pqr"[scattered(row, 47, 3)]),
        "weight": column(n, lambda row: (2 + scattered(row, 48, 3)) / 2),
        "side": ["over" if total[row] + scattered(row, 49, 20) > 110 else "under" for row in range(n)],
        "band": [("low", "middle", "high")[(total[row] > 70) + (total[row] > 130)] for row in range(n)],
    }


def rare(n: int = 300) -> Columns:
    """Numbers and a word with holes; one class is rare."""
    first = column(n, lambda row: scattered(row, 50, 300) / 4)
    second = column(n, lambda row: scattered(row, 51, 90))
    return {
        "first": first,
        "second": with_holes(second, 53, 15),
        "word": column(n, lambda row: "uvw"[scattered(row, 52, 3)]),
        "fraud": ["yes" if first[row] > 55 and second[row] > 35 - scattered(row, 54, 9) else "no" for row in range(n)],
    }


def complete(n: int = 1500) -> Columns:
    """Distinct numbers, a class of three and a number."""
    values = {f"x{c}": column(n, lambda row, c=c: scattered(row, 60 + c, 1 << 30) / 1024) for c in range(5)}
    high = {name: [value > 1 << 19 for value in each] for name, each in values.items()}
    return {
        **values,
        "few": column(n, lambda row: scattered(row, 66, 12)),
        "kind": [
            ("a", "b", "c")[(high["x0"][row] + high["x1"][row] * high["x3"][row] + scattered(row, 67, 4) // 3) % 3]
            for row in range(n)
        ],
        "amount": [
            round(values["x1"][row] / 4096 + 90 * high["x2"][row] + scattered(row, 68, 60), 1) for row in range(n)
        ],
    }


def large(n: int = 20_000) -> Columns:
    """Numbers of many and of few values, words of 5 and of 300 kinds; two columns with holes."""
    values = {f"x{c}": column(n, lambda row, c=c: scattered(row, 70 + c, 1 << 28) / 256) for c in range(4)}
    few = column(n, lambda row: scattered(row, 75, 90))
    level = column(n, lambda row: scattered(row, 76, 300))
    colour = column(n, lambda row: scattered(row, 77, 5))
    points = [
        (values["x0"][row] > 1 << 19)
        + (values["x1"][row] > 700_000) * (few[row] > 40)
        + (level[row] % 7 < 2)
        + (scattered(row, 78, 5) == 0)
        for row in range(n)
    ]
    return {
        **values,
        "few": few,
        "two": column(n, lambda row: scattered(row, 79, 2)),
        "level": [f"level {each:03}" for each in level],
        "colour": [("red", "green", "blue", "black", "white")[each] for each in colour],
        "x with holes": with_holes(column(n, lambda row: scattered(row, 80, 1 << 28) / 256), 81, 7),
        "colour with holes": with_holes(column(n, lambda row: "rgbkw"[scattered(row, 82, 5)]), 83, 7),
        "weight": column(n, lambda row: (1 + scattered(row, 84, 4)) / 4),
        "kind": [("a", "b", "c", "d")[min(each, 3)] for each in points],
        "yes or no": ["yes" if each > 1 else "no" for each in points],
        "amount": [round(40 * points[row] + values["x2"][row] / 65536 + scattered(row, 85, 9), 1) for row in range(n)],
        "other amount": [round(values["x3"][row] / 99999 + 5 * colour[row], 1) for row in range(n)],
    }


TABLES: dict[str, Callable[[], Columns]] = {
    "mixed": mixed,
    "ties": ties,
    "words": words,
    "slanted": slanted,
    "rare": rare,
    "complete": complete,
    "large": large,
}
SCHEMAS: dict[str, Any] = {"mixed": {"state": {"kind": "ordinal", "order": list(STATES)}}}


def dataset_body(name: str) -> dict[str, Any]:
    """The table as it is sent."""
    return {"name": name, "columns": TABLES[name](), "schema": SCHEMAS.get(name, {})}
