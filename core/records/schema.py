"""The form of a model's records: an example, and a JSON Schema (draft 2020-12).

The schema accepts exactly what a prediction accepts. An unseen category is no fault, so known ones are listed and any
other passes.
"""

import sys
from typing import Any

from core.records.records import Value, takes_booleans, takes_numbers
from core.tables.schema import Attribute, Kind
from core.tree.conditions import number_text
from core.tree.model import Model, Range

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MOST_LISTED = 1_000  # categories listed for an attribute
FLOAT64 = {"minimum": -sys.float_info.max, "maximum": sys.float_info.max}


def example_record(model: Model) -> dict[str, Value]:
    """A complete record: first categories, and the middle of each range.

    A number without training values is 0; an attribute without categories is left out.
    """
    record: dict[str, Value] = {}
    for attribute, limits in zip(model.attributes, model.ranges, strict=True):
        if attribute.is_numeric:
            record[attribute.name] = 0.0 if limits is None else limits[0] / 2 + limits[1] / 2
        elif attribute.categories:
            record[attribute.name] = attribute.categories[0]
    return record


def record_json_schema(model: Model) -> dict[str, Any]:
    """The JSON Schema of one record; any attribute may be left out or null."""
    described = zip(model.attributes, model.ranges, strict=True)
    return {
        "$schema": DIALECT,
        "title": f"A record to predict {' and '.join(model.targets)} from",
        "description": "An attribute that is left out or null is missing.",
        "type": "object",
        "properties": {
            attribute.name: number_schema(limits) if attribute.is_numeric else category_schema(attribute)
            for attribute, limits in described
        },
        "additionalProperties": False,
        "examples": [example_record(model)],
    }


def number_schema(limits: Range) -> dict[str, Any]:
    """Any number that fits float64, or null."""
    seen = (
        "No training row has one." if limits is None else f"In training from {' to '.join(map(number_text, limits))}."
    )
    return {"description": seen, "type": ["number", "null"], **FLOAT64}


def category_schema(attribute: Attribute) -> dict[str, Any]:
    """One of the known categories, or any other value of an accepted type, which counts as unseen."""
    known = list(attribute.categories[:MOST_LISTED])
    types = ["string", *(["boolean"] if takes_booleans(attribute) else [])]
    numbers = [{"type": "number", **FLOAT64}] if takes_numbers(attribute) else []
    others = [{"description": "Any other counts as never seen.", "type": types}, *numbers, {"type": "null"}]
    order = "From low to high. " if attribute.kind is Kind.ORDINAL else ""
    more = len(attribute.categories) - len(known)
    listed = (
        f"{order}The first {len(known)} of {len(known) + more} values that the model knows."
        if more
        else f"{order}The values that the model knows."
    )
    return {"anyOf": [{"description": listed, "enum": known}, *others] if known else others}
