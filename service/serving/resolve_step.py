"""Resolving a step of a pruning history: a number, `selected`, `full`, `leaves:7` or `alpha:0.01`."""

import math
import re
from collections.abc import Callable

from core.tables.errors import Fault
from core.tree.history import History
from service.errors import InvalidBody, InvalidParameter, StepNotFound

FORMS = "a step's number, selected, full, leaves:7 or alpha:0.01"


def resolve_step(history: History, step: str, *, location: str = "query", parameter: str = "step") -> int:
    """The number of the step; StepNotFound if the history has no such step, InvalidParameter if `step` is malformed."""
    if step == "selected":
        return history.selected
    if step == "full":
        return 0
    if re.fullmatch(r"[0-9]{1,9}", step):
        return _numbered(history, int(step))
    kind, _, value = step.partition(":")
    if kind == "leaves" and re.fullmatch(r"[0-9]{1,9}", value):
        return _with_leaves(history, int(value))
    if kind == "alpha":
        return _with_alpha(history, value, location, parameter)
    raise InvalidParameter(parameter, f"{step!r} names no step", hint=f"use {FORMS}", location=location)


def in_body(number: Callable[[str], int], step: str | int) -> int:
    """`number` of the step given in a body under `step`; InvalidBody if it is malformed."""
    try:
        return number(str(step))
    except InvalidParameter as error:
        fault = error.faults[0]
        raise InvalidBody(error.detail, Fault(fault.detail, ("step",), fault.hint)) from error


def only_step(step: str, *, location: str = "query", parameter: str = "step") -> int:
    """The only step, 0, of many trees, which are never pruned; for others the errors of `resolve_step`."""
    if step in ("selected", "full", "0"):
        return 0
    if re.fullmatch(r"[0-9]{1,9}", step):
        raise StepNotFound(f"there is no step {step}; many trees together are not pruned, and have only step 0")
    detail = "many trees together are not pruned, and have only step 0"
    raise InvalidParameter(parameter, detail, hint="leave it out, or use selected, full or 0", location=location)


def _numbered(history: History, number: int) -> int:
    if number > len(history.steps):
        raise StepNotFound(f"there is no step {number}; this model has steps 0 (full) to {len(history.steps)}")
    return number


def _with_leaves(history: History, n_leaves: int) -> int:
    number = history.largest_with_leaves(n_leaves)
    if number is None:
        fewest = int(history.leaves_by_step.min())
        raise StepNotFound(f"no step has at most {n_leaves} leaves; the smallest tree has {fewest}")
    return number


def _with_alpha(history: History, value: str, location: str, parameter: str) -> int:
    try:
        alpha = float(value)
    except ValueError:
        alpha = math.nan
    if math.isnan(alpha):
        hint = "use a number, as in alpha:0.01"
        raise InvalidParameter(parameter, f"{value!r} is not a number", hint=hint, location=location)
    if not history.has_alphas:
        detail = "this model was not pruned by cost-complexity: its steps have no alpha"
        raise InvalidParameter(
            parameter, detail, hint="use a step's number, selected, full or leaves:7", location=location
        )
    return history.last_with_alpha(alpha)
