"""The worked tables of `tests/golden/`, read by a small reader of its own.

Empty cells are missing. A column is numeric when every known cell reads as a number, else categorical with its values
in order of appearance; `categorical` names columns to be read as categories all the same.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Column, Table
from core.tables.target import ClassTarget

FOLDER = Path(__file__).parent / "golden"
ROW_NUMBER = "编号"

# The order in which ties fall as the documents print them.
PRINTED_ORDER = ("脐部", "色泽", "根蒂", "敲声", "纹理", "触感")


def golden_table(name: str, *, categorical: Sequence[str] = (), like: Table | None = None) -> Table:
    """The whole table; `like` lends its categories, so that two tables have the same codes."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    read = [
        _column(title, [row[place] for row in rows], title in categorical, like) for place, title in enumerate(header)
    ]
    return Table(Schema(tuple(attribute for attribute, _ in read)), tuple(values for _, values in read))


def golden_samples(
    name: str,
    *,
    attributes: Sequence[str] | None = None,
    categorical: Sequence[str] = (),
    like: Samples | None = None,
) -> Samples:
    """All rows with weight 1; the last column is the target, every other but the row number an attribute."""
    whole = golden_table(name, categorical=categorical)
    target = whole.schema[len(whole.schema) - 1].name
    names = attributes or [title for title in whole.schema.names if title not in (ROW_NUMBER, target)]
    classes = whole.schema[whole.schema.column(target)].categories
    if like is not None:
        lent = Schema((*like.attributes.schema, Attribute(target, Kind.CATEGORICAL, _classes(like))))
        whole = golden_table(name, categorical=categorical, like=Table(lent, (*like.attributes.columns, _codes(like))))
        classes = _classes(like)
    codes = whole.values(target).astype(np.int32)
    return Samples(whole.select(names), ClassTarget(classes, codes), np.ones(whole.n_rows))


def row_numbers(name: str) -> list[int]:
    """The numbers that the documents give the rows."""
    return [int(number) for number in golden_table(name).values(ROW_NUMBER)]


def _column(title: str, cells: list[str], as_categories: bool, like: Table | None) -> tuple[Attribute, Column]:
    known = [cell for cell in cells if cell]
    if not as_categories and all(map(_is_number, known)):
        return Attribute(title, Kind.NUMERIC), np.array([float(cell) if cell else np.nan for cell in cells])
    names = tuple(dict.fromkeys(known))
    if like is not None and title in like.schema:
        names = like.schema[like.schema.column(title)].categories
    codes = np.array([names.index(cell) if cell else -1 for cell in cells], dtype=np.int32)
    return Attribute(title, Kind.CATEGORICAL, names), codes


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _classes(samples: Samples) -> tuple[str, ...]:
    assert isinstance(samples.target, ClassTarget)
    return samples.target.classes


def _codes(samples: Samples) -> Column:
    assert isinstance(samples.target, ClassTarget)
    return samples.target.codes
