"""Pydantic's findings as faults in plain words, with exact paths into what the client sent."""

from collections.abc import Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import TypeAliasType

from core.tables.errors import Fault
from core.tables.errors import Path as FaultPath
from core.tables.suggestion import did_you_mean, quoted
from service.errors import InvalidBody

MOST_FAULTS = 100

# Replacements for those messages of pydantic that speak of its internals; {names} come from the finding's context.
WORDS = {
    "missing": "required, but missing",
    "extra_forbidden": "not a known key here",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "none_required": "must be null",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "too_short": "must have at least {min_length} {entries}",
    "too_long": "must have at most {max_length} {entries}",
    "union_tag_invalid": "must be one of {expected_tags}",
    "union_tag_not_found": "required, but missing",
}


def validated(shape: Any, value: Any) -> Any:
    """The value as a `shape` (a model or any type), or InvalidBody with every fault in it."""
    try:
        return TypeAdapter(shape).validate_python(value)
    except ValidationError as error:
        faults = body_faults(error.errors(include_url=False), value, shape)
        raise InvalidBody("the body does not fit", *faults) from error


def parameter_fault(finding: Mapping[str, Any]) -> tuple[str, str, Fault]:
    """Where a parameter is (query, path or header), its name, and its fault."""
    location, name = finding["loc"][:2]
    return location, str(name), Fault(_words(finding), hint=_word_hint(finding))


def body_faults(findings: Sequence[Mapping[str, Any]], body: Any, shape: Any) -> list[Fault]:
    """The faults of a body of type `shape`; the findings of a union's members at the same path become one fault."""
    by_place: dict[FaultPath, list[Fault]] = {}
    for finding in findings[: 10 * MOST_FAULTS]:
        path = _path_into(body, finding["loc"], finding)
        by_place.setdefault(path, []).append(Fault(_words(finding), path, _hint(finding, shape)))
    return [_merged(same) for same in by_place.values()][:MOST_FAULTS]


def _merged(same: list[Fault]) -> Fault:
    details = dict.fromkeys(fault.detail for fault in same)
    hints = [fault.hint for fault in same if fault.hint]
    return Fault(", or ".join(details), same[0].path, hints[0] if hints else None)


def _path_into(body: Any, loc: Sequence[str | int], finding: Mapping[str, Any]) -> FaultPath:
    """The path in the body: pydantic's, without the tags of union members, which the client has not sent."""
    path: list[str | int] = []
    for part in loc:
        is_there = part in body if isinstance(body, dict) else isinstance(body, list) and isinstance(part, int)
        if is_there:
            path.append(part)
            body = body[part]
    if finding["type"] == "missing" and loc:
        path.append(loc[-1])
    if finding["type"].startswith("union_tag"):
        path.append(finding["ctx"]["discriminator"].strip("'"))
    return tuple(path)


def _words(finding: Mapping[str, Any]) -> str:
    context = finding.get("ctx", {})
    if not finding["loc"] and finding["type"] == "missing":
        return "the body is empty, but this call needs one"
    if finding["type"] == "value_error":
        return str(context["error"])
    if finding["type"] in WORDS:
        limits = {name: _plain(value) for name, value in context.items()}
        is_one = limits.get("min_length", limits.get("max_length")) == 1
        return WORDS[finding["type"]].format(**limits, entries="entry" if is_one else "entries")
    message = str(finding["msg"])
    return message[:1].lower() + message[1:]


def _plain(value: Any) -> Any:
    """A limit as people write it, such as 1 for 1.0."""
    return f"{value:.15g}" if isinstance(value, float) else value


def _hint(finding: Mapping[str, Any], shape: Any) -> str | None:
    if finding["type"] == "extra_forbidden":
        loc = finding["loc"]
        known, others = sorted(_known_keys(shape, loc[:-1])), _kinds_that_know(shape, loc)
        if others:
            return f"it is for {' and '.join(others)}"
        return did_you_mean(str(loc[-1]), known) or (f"known here: {', '.join(known)}" if known else None)
    return _word_hint(finding)


def _word_hint(finding: Mapping[str, Any]) -> str | None:
    """A hint for a word that is not one of the choices: the nearest choice, else what was sent."""
    context = finding.get("ctx", {})
    expected = context.get("expected_tags") or context.get("expected")
    sent = context.get("tag", finding.get("input"))
    if not isinstance(expected, str) or not isinstance(sent, str):
        return None
    choices = [choice.strip(" '") for choice in expected.replace(" or ", ",").split(",")]
    return did_you_mean(sent, choices) or f"{quoted(sent)} was sent"


def _known_keys(shape: Any, loc: Iterable[str | int]) -> set[str]:
    """The keys of the models that are possible at a path."""
    shapes = _shapes_at(shape, loc)
    return {field.alias or name for one in shapes if _is_model(one) for name, field in one.model_fields.items()}


def _shapes_at(shape: Any, loc: Iterable[str | int]) -> list[Any]:
    """The types that are possible at a path."""
    shapes = _members(shape)
    for part in loc:
        below = [inner for one in shapes for inner in _members(_child(one, part))]
        # If no type has such a child, the part is the tag of a union's member, which narrows the choice.
        shapes = below or [one for one in shapes if _is_tagged(one, part)] or shapes
    return shapes


def _kinds_that_know(shape: Any, loc: Sequence[str | int]) -> list[str]:
    """The kinds of a union that have a key which the kind that was sent does not have."""
    if len(loc) < 2:
        return []
    *_, kind, key = loc
    members = [one for one in _shapes_at(shape, loc[:-2]) if _is_model(one)]
    if not any(_is_tagged(one, kind) for one in members):
        return []
    return [tag for one in members if key in _known_keys(one, ()) for tag in _tags(one)]


def _members(shape: Any) -> list[Any]:
    """The plain types that a type consists of: aliases resolved, annotations removed, unions flattened."""
    if isinstance(shape, TypeAliasType):
        return _members(shape.__value__)
    origin = get_origin(shape)
    if origin is Annotated:
        return _members(get_args(shape)[0])
    if origin in (Union, UnionType):
        return [one for member in get_args(shape) for one in _members(member)]
    return [] if shape in (None, NoneType) else [shape]


def _child(shape: Any, part: str | int) -> Any:
    if _is_model(shape):
        return next((f.annotation for name, f in shape.model_fields.items() if (f.alias or name) == part), None)
    inner = get_args(shape)
    if get_origin(shape) is dict:
        return inner[1]
    return inner[0] if inner and isinstance(part, int) else None


def _is_model(shape: Any) -> bool:
    return isinstance(shape, type) and issubclass(shape, BaseModel)


def _is_tagged(shape: Any, tag: str | int) -> bool:
    """Whether the type is a model with a literal field that has this word as a choice."""
    return _is_model(shape) and tag in _tags(shape)


def _tags(shape: type[BaseModel]) -> list[str]:
    """The words that the literal fields of a model have as choices."""
    literals = (field.annotation for field in shape.model_fields.values() if get_origin(field.annotation) is Literal)
    return [word for literal in literals for word in get_args(literal) if isinstance(word, str)]
