"""The problem that a failed training reports to its caller.

Most mistakes are found before a training is queued. Those that only the data reveals make it fail, with a problem of
the same shape, words and titles as the API's own (a test compares them).
"""

from typing import Any

from core.tables import errors as core
from core.tables.errors import CoreError, Fault
from service import errors
from service.errors import ServiceError

MOST_ERRORS = 100

CALLERS_FAULTS: dict[type[Exception], tuple[int, str, str]] = {
    core.InvalidTable: (422, "invalid_table", "The data cannot be made into a table"),
    core.EmptyTable: (422, "empty_table", "The table is empty"),
    core.InvalidConfig: (422, "invalid_config", "The configuration does not fit"),
    core.RecordsDoNotFit: (422, "records_do_not_fit", "The records are not what the model was trained on"),
    errors.DatasetNotFound: (404, "dataset_not_found", "There is no such dataset"),
}


def problem_of(error: Exception) -> dict[str, Any] | None:
    """The problem to store with the job; None if the error is not the caller's fault."""
    known = next((CALLERS_FAULTS[base] for base in type(error).__mro__ if base in CALLERS_FAULTS), None)
    if known is None:
        return None
    assert isinstance(error, CoreError | ServiceError)
    status, word, title = known
    faults = [_listed(fault) for fault in error.faults[:MOST_ERRORS]]
    return {"type": f"/problems/{word}", "title": title, "status": status, "detail": str(error), "errors": faults}


def _listed(fault: Fault) -> dict[str, Any]:
    pointer = "#" + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in fault.path)
    return {
        "in": "body",
        "pointer": pointer,
        "parameter": None,
        "line": fault.line,
        "detail": fault.detail,
        "hint": fault.hint,
    }
