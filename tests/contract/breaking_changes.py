"""What in one OpenAPI document would break programs that were written for an earlier one.

A program sends what the earlier document allows and reads what it promises. So every request that was valid must stay
valid and mean the same, and every answer must still have what was promised. Only what goes over the wire counts: the
name of a schema does not. New operations, optional fields, fields of answers and values of an enumeration break
nothing; programs are expected to pass over what they do not know.

`python -m tests.contract.breaking_changes` writes the listing of `openapi.json` that a release leaves behind.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = ROOT / "openapi.json"
CHANGELOG = ROOT / "CHANGELOG.md"
RELEASED = Path(__file__).parent / "released_api.json"

METHODS = ("get", "put", "post", "delete", "patch")
TOLD_TO_READERS = ("title", "summary", "description", "example", "examples", "tags")
LOWER_LIMITS = {"minimum": False, "exclusiveMinimum": True, "minLength": False, "minItems": False}
UPPER_LIMITS = {"maximum": False, "exclusiveMaximum": True, "maxLength": False, "maxItems": False}

Schema = Mapping[str, Any]
Document = Mapping[str, Any]


class Way(Enum):
    """Who sends a value: the program, which must not be refused, or the service, which must keep its promises."""

    REQUEST = "request"
    ANSWER = "answer"


@dataclass(frozen=True, order=True)
class Change:
    """Something that breaks programs, and the names by which a changelog may speak of it."""

    place: str
    what: str
    names: tuple[str, ...] = field(compare=False)

    def __str__(self) -> str:
        return f"{self.place} {self.what}"

    def is_declared_in(self, lines: list[str]) -> bool:
        patterns = [rf"(?<![\w/]){re.escape(name)}(?![\w/])" for name in self.names]
        return any(re.search(pattern, line) for pattern in patterns for line in lines)


def breaking_changes(old: Document, new: Document) -> list[Change]:
    """Every change from one document to the other that breaks programs."""
    return sorted(set(Comparison(old, new).of_operations()))


def declared_since(version: str, changelog: str) -> list[str]:
    """What the sections of a changelog above a version's declare as `- Breaking: …`, one line each."""
    later = re.split(rf"^## {re.escape(version)}\b", changelog, flags=re.MULTILINE)
    if len(later) != 2:
        raise ValueError(f"the changelog has no section {version}")
    points = re.findall(r"^- (.*(?:\n  .*)*)", later[0], flags=re.MULTILINE)
    return [" ".join(point.split()) for point in points if point.startswith("Breaking: ")]


def listing(document: Document) -> str:
    """A document without its texts, one line for each operation and schema."""
    plain = without_texts(document)
    calls = [json.dumps(name) + ": " + json.dumps(call) for name, call in sorted(operations(plain))]
    schemas = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in sorted(plain["components"]["schemas"].items())]
    blocks = (",\n".join(lines) for lines in (calls, schemas))
    version = json.dumps(plain["info"]["version"])
    return '{{"version": {},\n"operations": {{\n{}\n}},\n"schemas": {{\n{}\n}}}}\n'.format(version, *blocks)


def listed(text: str) -> Document:
    """The document of a listing."""
    held = json.loads(text)
    paths: dict[str, dict[str, Any]] = {}
    for name, call in held["operations"].items():
        method, path = name.split(" ")
        paths.setdefault(path, {})[method.lower()] = call
    return {"info": {"version": held["version"]}, "paths": paths, "components": {"schemas": held["schemas"]}}


def operations(document: Document) -> Iterator[tuple[str, Any]]:
    for path, item in document["paths"].items():
        yield from ((f"{method.upper()} {path}", item[method]) for method in METHODS if method in item)


def without_texts(value: Any, *, are_names: bool = False) -> Any:
    """A value without what is only for readers; the keys of `properties` and the like are names, not keywords."""
    if isinstance(value, list):
        return [without_texts(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_texts(inner, are_names=not are_names and key in ("properties", "mapping", "schemas", "headers"))
        for key, inner in value.items()
        if are_names or key not in TOLD_TO_READERS
    }


class Comparison:
    """Two documents, and which of their named schemas have been compared."""

    def __init__(self, old: Document, new: Document) -> None:
        self.old = old
        self.new = new
        self.seen: set[tuple[Any, ...]] = set()

    def of_operations(self) -> Iterator[Change]:
        calls = dict(operations(self.new))
        for name, old in operations(self.old):
            names = (name, str(old["operationId"]))
            if name not in calls:
                yield Change(name, "is gone", names)
                continue
            new = calls[name]
            if old["operationId"] != new["operationId"]:
                yield Change(name, f"has another operationId: {new['operationId']}", names)
            yield from self.of_parameters(name, names, old, new)
            yield from self.of_bodies(name, names, old, new)
            yield from self.of_answers(name, names, old["responses"], new["responses"])

    def of_parameters(self, place: str, names: tuple[str, ...], old: Schema, new: Schema) -> Iterator[Change]:
        before, after = ({(one["in"], one["name"]): one for one in call.get("parameters", ())} for call in (old, new))
        for key, parameter in before.items():
            told = f"{place} ?{key[1]}"
            if key not in after:
                yield Change(told, "is no longer taken", names)
                continue
            if after[key].get("required") and not parameter.get("required"):
                yield Change(told, "is now required", names)
            yield from self.of_schemas(told, names, parameter["schema"], after[key]["schema"], Way.REQUEST)
        for key in after.keys() - before.keys():
            if after[key].get("required"):
                yield Change(f"{place} ?{key[1]}", "is now required", names)

    def of_bodies(self, place: str, names: tuple[str, ...], old: Schema, new: Schema) -> Iterator[Change]:
        before, after = old.get("requestBody"), new.get("requestBody")
        if before is not None and after is None:
            yield Change(place, "no longer takes a body", names)
            return
        if after is not None and after.get("required") and not (before or {}).get("required"):
            yield Change(place, "now requires a body", names)
        if before is not None and after is not None:
            yield from self.of_contents(place, names, before, after, Way.REQUEST)

    def of_answers(self, place: str, names: tuple[str, ...], old: Schema, new: Schema) -> Iterator[Change]:
        for status, before in old.items():
            told = f"{place} {status}"
            if status in new:
                yield from self.of_contents(told, names, before, new[status], Way.ANSWER)
                yield from self.of_headers(told, names, before.get("headers", {}), new[status].get("headers", {}))
            elif status.startswith("2"):
                yield Change(told, "is no longer answered", names)

    def of_headers(self, place: str, names: tuple[str, ...], old: Schema, new: Schema) -> Iterator[Change]:
        for header, before in old.items():
            if header not in new:
                yield Change(f"{place} {header}", "is no longer sent", names)
            else:
                after = new[header]
                yield from self.of_schemas(f"{place} {header}", names, before["schema"], after["schema"], Way.ANSWER)

    def of_contents(self, place: str, names: tuple[str, ...], old: Schema, new: Schema, way: Way) -> Iterator[Change]:
        after = new.get("content", {})
        for media_type, before in old.get("content", {}).items():
            if media_type not in after:
                yield Change(place, f"has no {media_type} any longer", names)
            else:
                schemas = before.get("schema", {}), after[media_type].get("schema", {})
                yield from self.of_schemas(f"{place} {media_type}", names, *schemas, way)

    def of_schemas(self, place: str, names: tuple[str, ...], old: Schema, new: Schema, way: Way) -> Iterator[Change]:
        """Changes between two schemas; those inside a schema that has a name are told by that name."""
        if way is Way.REQUEST and old.get("default") != new.get("default"):
            default = f"{json.dumps(old.get('default'))} to {json.dumps(new.get('default'))}"
            yield Change(place, f"has another default: {default}", names)
        if "$ref" in old:
            place, names = named(old)
        before, after = choices(self.old, old), choices(self.new, new)
        if way is Way.REQUEST:
            yield from self.of_taken_choices(place, names, before, after)
        else:
            yield from self.of_answered_choices(place, names, before, after)

    def of_taken_choices(
        self, place: str, names: tuple[str, ...], old: Mapping[str, "Choice"], new: Mapping[str, "Choice"]
    ) -> Iterator[Change]:
        for kind, before in old.items():
            taken_as = "number" if kind == "integer" and kind not in new else kind
            if taken_as in new:
                yield from self.of_kinds(place, names, before, new[taken_as], Way.REQUEST)
            elif "any" not in new:
                yield Change(place, f"is no longer taken as {kind}", names)

    def of_answered_choices(
        self, place: str, names: tuple[str, ...], old: Mapping[str, "Choice"], new: Mapping[str, "Choice"]
    ) -> Iterator[Change]:
        for kind, after in new.items():
            known_as = "number" if kind == "integer" and kind not in old else kind
            if known_as in old:
                yield from self.of_kinds(place, names, old[known_as], after, Way.ANSWER)
            elif "any" not in old and not is_tagged(kind):
                yield Change(place, f"may now be {kind}", names)
        for kind in old.keys() - new.keys():
            if is_tagged(kind):
                yield Change(place, f"is never {kind} any longer", names)

    def of_kinds(self, place: str, names: tuple[str, ...], old: "Choice", new: "Choice", way: Way) -> Iterator[Change]:
        """Changes between two schemas of one kind: a plain type or the objects of one tag. Named ones take one turn."""
        if old.name is not None:
            place, names = old.name
            turn = (place, new.name or json.dumps(new.schema), way)
            if turn in self.seen:
                return
            self.seen.add(turn)
        yield from (Change(place, what, names) for what in changed_values(old.schema, new.schema, way))
        yield from (Change(place, what, names) for what in changed_limits(old.schema, new.schema, way))
        if "items" in old.schema:
            yield from self.of_schemas(f"{place}[]", names, old.schema["items"], new.schema.get("items", {}), way)
        if old.schema.get("type") == "object":
            yield from self.of_objects(place, names, old.schema, new.schema, way)

    def of_objects(self, place: str, names: tuple[str, ...], old: Schema, new: Schema, way: Way) -> Iterator[Change]:
        before, after = old.get("properties", {}), new.get("properties", {})
        first, then = set(old.get("required", ())), set(new.get("required", ()))
        for name in before.keys() - after.keys():
            told = "is no longer taken" if way is Way.REQUEST else "is no longer answered"
            yield Change(f"{place}.{name}", told, names)
        if way is Way.REQUEST:
            yield from (Change(f"{place}.{name}", "is now required", names) for name in then - first)
        else:
            left_out = (first - then) & after.keys()
            yield from (Change(f"{place}.{name}", "may now be left out", names) for name in left_out)
        for name in before.keys() & after.keys():
            yield from self.of_schemas(f"{place}.{name}", names, before[name], after[name], way)
        yield from self.of_other_fields(place, names, old, new, way)

    def of_other_fields(
        self, place: str, names: tuple[str, ...], old: Schema, new: Schema, way: Way
    ) -> Iterator[Change]:
        before, after = old.get("additionalProperties", True), new.get("additionalProperties", True)
        if isinstance(before, Mapping) and after is not False:
            yield from self.of_schemas(f"{place}.*", names, before, {} if after is True else after, way)
        elif isinstance(before, Mapping) or (way is Way.REQUEST and before is True and after is not True):
            told = "are no longer taken" if way is Way.REQUEST else "are no longer answered"
            yield Change(f"{place}.*", told, names)


@dataclass(frozen=True)
class Choice:
    """A schema that is no union, and its name if it has one."""

    schema: Schema
    name: tuple[str, tuple[str]] | None


def named(reference: Schema) -> tuple[str, tuple[str]]:
    name = str(reference["$ref"]).rpartition("/")[2]
    return name, (name,)


def choices(document: Document, schema: Schema, tag: str = "") -> dict[str, Choice]:
    """The plain schemas that a value may satisfy, by what tells them apart: the tag of an object, else the type."""
    name = None
    if "$ref" in schema:
        name = named(schema)
        schema = document["components"]["schemas"][name[0]]
    members = schema.get("anyOf", schema.get("oneOf"))
    if members is None:
        return {tag or str(schema.get("type", "any")): Choice(schema, name)}
    discriminator = schema.get("discriminator", {"mapping": {}})
    tags = {reference: f"{discriminator['propertyName']}={tag}" for tag, reference in discriminator["mapping"].items()}
    found: dict[str, Choice] = {}
    for member in members:
        for kind, choice in choices(document, member, tags.get(member.get("$ref"), "")).items():
            if kind in found:
                raise ValueError(f"nothing tells two choices apart: {kind}")
            found[kind] = choice
    return found


def is_tagged(kind: str) -> bool:
    return "=" in kind


def changed_values(old: Schema, new: Schema, way: Way) -> Iterator[str]:
    """Values that are no longer taken, or no longer what was promised."""
    before, after = allowed_values(old), allowed_values(new)
    if before is not None and after is not None:
        told = "no longer takes" if way is Way.REQUEST else "never answers"
        yield from (f"{told} {value}" for value in sorted(before - after))
    elif way is Way.REQUEST and after is not None:
        yield f"now takes only {', '.join(sorted(after))}"
    elif way is Way.ANSWER and before is not None:
        yield f"may now be other than {', '.join(sorted(before))}"
    for word in ("format", "pattern"):
        narrower, wider = (new, old) if way is Way.REQUEST else (old, new)
        if word in narrower and narrower[word] != wider.get(word):
            yield f"has another {word}: {new.get(word)}"


def allowed_values(schema: Schema) -> set[str] | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return None if values is None else {json.dumps(value, ensure_ascii=False) for value in values}


def changed_limits(old: Schema, new: Schema, way: Way) -> Iterator[str]:
    """Limits that refuse what was taken; of answers, only the lengths of lists, which programs may count on."""
    lists = [word for word in ("minItems", "maxItems") if word in old and way is Way.ANSWER]
    for word in lists:
        wider = new.get(word) is None or (new[word] < old[word] if word == "minItems" else new[word] > old[word])
        if wider:
            yield f"has another {word}: {new.get(word)}"
    if way is Way.ANSWER:
        return
    if tightest(new, LOWER_LIMITS, 1) > tightest(old, LOWER_LIMITS, 1):
        yield "has a higher lower limit"
    if tightest(new, UPPER_LIMITS, -1) > tightest(old, UPPER_LIMITS, -1):
        yield "has a lower upper limit"


def tightest(schema: Schema, words: Mapping[str, bool], sign: int) -> tuple[float, bool]:
    """The limit that refuses most, such that a greater one refuses more; a schema of one type has one kind of limit."""
    limits = [(sign * schema[word], is_exclusive) for word, is_exclusive in words.items() if word in schema]
    return max(limits, default=(-float("inf"), False))


if __name__ == "__main__":
    RELEASED.write_text(listing(json.loads(DOCUMENT.read_text("utf-8"))), "utf-8")
