"""Query parameters that hold a record."""

from typing import Any

from service.api.bodies import parse_json
from service.errors import InvalidParameter, MalformedBody


def record_in(parameter: str, text: str) -> dict[str, Any]:
    """The record in a parameter, which is strict JSON; else InvalidParameter."""
    try:
        record = parse_json(text.encode("utf-8", "surrogatepass"))
    except MalformedBody as error:
        raise InvalidParameter(parameter, error.detail.removeprefix("the body "), faults=error.faults) from error
    if not isinstance(record, dict):
        raise InvalidParameter(parameter, "must be a JSON object", hint='send a record, as in {"age": 30}')
    return record
