"""A change of the API that breaks programs is declared in the changelog; each kind of such a change is found."""

import copy
import json
import re
from typing import Any

import pytest

from tests.contract.breaking_changes import (
    CHANGELOG,
    DOCUMENT,
    RELEASED,
    Change,
    breaking_changes,
    declared_since,
    listed,
    listing,
)


def reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def small_document() -> dict[str, Any]:
    """One call that takes and answers a bit of everything."""
    order = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "method"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 80},
            "method": reference("Method"),
            "depth": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None},
            "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1, "default": 0.5},
            "order": {"type": "string", "enum": ["up", "down"], "default": "up"},
            "columns": {"type": "array", "items": {"type": "string"}, "maxItems": 9},
            "free": {"type": "string"},
        },
    }
    answer = {
        "type": "object",
        "required": ["id", "status", "method", "bounds", "note", "weights", "n"],
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "status": {"type": "string", "enum": ["waiting", "ready"]},
            "method": reference("Method"),
            "bounds": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "weights": {"type": "object", "additionalProperties": {"type": "number"}},
            "n": {"type": "integer"},
        },
    }
    method = {
        "oneOf": [reference("Tree"), reference("Forest")],
        "discriminator": {
            "propertyName": "kind",
            "mapping": {"tree": reference("Tree")["$ref"], "forest": reference("Forest")["$ref"]},
        },
    }
    schemas = {"Order": order, "Answer": answer, "Method": method}
    for kind in ("tree", "forest"):
        properties = {"kind": {"type": "string", "const": kind}, "seed": {"type": "integer"}}
        schemas[kind.title()] = {"type": "object", "required": ["kind"], "properties": properties}
    call = {
        "operationId": "grow",
        "parameters": [
            {"name": "wait", "in": "query", "required": False, "schema": {"type": "integer", "maximum": 20}},
            {"name": "page", "in": "query", "required": False, "schema": {"type": "string"}},
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": reference("Order")}, "text/csv": {"schema": {"type": "string"}}},
        },
        "responses": {
            "200": {
                "headers": {"ETag": {"schema": {"type": "string"}}},
                "content": {
                    "application/json": {"schema": reference("Answer")},
                    "text/plain": {"schema": {"type": "string"}},
                },
            },
            "404": {"content": {}},
        },
    }
    info = {"version": "1.0.0"}
    return {"info": info, "paths": {"/v1/plants": {"post": call}}, "components": {"schemas": schemas}}


CALL = "paths /v1/plants post"
PARAMETERS = f"{CALL} parameters"
ORDER = "components schemas Order"
ANSWER = "components schemas Answer"
GONE = object()

BREAKING = [
    ("paths /v1/plants", {}, "POST /v1/plants is gone"),
    ("paths", {}, "POST /v1/plants is gone"),
    (f"{CALL} operationId", "plant", "POST /v1/plants has another operationId: plant"),
    (f"{PARAMETERS} 1", GONE, "POST /v1/plants ?page is no longer taken"),
    (f"{PARAMETERS} 1 required", True, "POST /v1/plants ?page is now required"),
    (f"{PARAMETERS} 1 name", "leaf", "POST /v1/plants ?page is no longer taken"),
    (
        f"{PARAMETERS} +",
        {"name": "leaf", "in": "query", "required": True, "schema": {"type": "string"}},
        "POST /v1/plants ?leaf is now required",
    ),
    (f"{PARAMETERS} 0 schema maximum", 10, "POST /v1/plants ?wait has a lower upper limit"),
    (f"{PARAMETERS} 0 schema type", "boolean", "POST /v1/plants ?wait is no longer taken as integer"),
    (f"{CALL} requestBody", GONE, "POST /v1/plants no longer takes a body"),
    (f"{CALL} requestBody content text/csv", GONE, "POST /v1/plants has no text/csv any longer"),
    (f"{CALL} responses 200", GONE, "POST /v1/plants 200 is no longer answered"),
    (f"{CALL} responses 200 content text/plain", GONE, "POST /v1/plants 200 has no text/plain any longer"),
    (f"{CALL} responses 200 headers ETag", GONE, "POST /v1/plants 200 ETag is no longer sent"),
    (f"{CALL} responses 200 headers ETag schema type", "integer", "POST /v1/plants 200 ETag may now be integer"),
    (f"{ORDER} required +", "free", "Order.free is now required"),
    (f"{ORDER} properties free", GONE, "Order.free is no longer taken"),
    (f"{ORDER} properties free type", "integer", "Order.free is no longer taken as string"),
    (f"{ORDER} properties free enum", ["yes"], 'Order.free now takes only "yes"'),
    (f"{ORDER} properties free pattern", "^a", "Order.free has another pattern: ^a"),
    (f"{ORDER} properties free format", "date", "Order.free has another format: date"),
    (f"{ORDER} properties name minLength", 2, "Order.name has a higher lower limit"),
    (f"{ORDER} properties name maxLength", 79, "Order.name has a lower upper limit"),
    (f"{ORDER} properties depth anyOf 1", GONE, "Order.depth is no longer taken as null"),
    (f"{ORDER} properties depth anyOf 0 minimum", 2, "Order.depth has a higher lower limit"),
    (f"{ORDER} properties depth default", 3, "Order.depth has another default: null to 3"),
    (f"{ORDER} properties share exclusiveMaximum", 1, "Order.share has a lower upper limit"),
    (f"{ORDER} properties share exclusiveMinimum", 0.1, "Order.share has a higher lower limit"),
    (f"{ORDER} properties share type", "integer", "Order.share is no longer taken as number"),
    (f"{ORDER} properties order enum", ["up"], 'Order.order no longer takes "down"'),
    (f"{ORDER} properties order default", "down", 'Order.order has another default: "up" to "down"'),
    (f"{ORDER} properties columns items type", "integer", "Order.columns[] is no longer taken as string"),
    (f"{ORDER} properties columns maxItems", 8, "Order.columns has a lower upper limit"),
    ("components schemas Method oneOf 0", GONE, "Method is no longer taken as kind=tree"),
    ("components schemas Method oneOf 0", GONE, "Method is never kind=tree any longer"),
    ("components schemas Tree required +", "seed", "Tree.seed is now required"),
    ("components schemas Tree properties seed", GONE, "Tree.seed is no longer answered"),
    ("components schemas Tree additionalProperties", False, "Tree.* are no longer taken"),
    (f"{ANSWER} properties n", GONE, "Answer.n is no longer answered"),
    (f"{ANSWER} properties n type", "number", "Answer.n may now be number"),
    (f"{ANSWER} required 0", GONE, "Answer.id may now be left out"),
    (f"{ANSWER} properties id format", GONE, "Answer.id has another format: None"),
    (f"{ANSWER} properties status enum", ["waiting"], 'Answer.status never answers "ready"'),
    (f"{ANSWER} properties status enum", GONE, 'Answer.status may now be other than "ready", "waiting"'),
    (f"{ANSWER} properties bounds maxItems", 3, "Answer.bounds has another maxItems: 3"),
    (f"{ANSWER} properties bounds minItems", GONE, "Answer.bounds has another minItems: None"),
    (f"{ANSWER} properties bounds items type", "string", "Answer.bounds[] may now be string"),
    (f"{ANSWER} properties note anyOf +", {"type": "boolean"}, "Answer.note may now be boolean"),
    (f"{ANSWER} properties weights additionalProperties", False, "Answer.weights.* are no longer answered"),
    (f"{ANSWER} properties weights additionalProperties type", "string", "Answer.weights.* may now be string"),
]

HARMLESS = [
    ("info version", "1.1.0"),
    ("paths /v1/herbs", {"get": {"operationId": "herbs", "responses": {"200": {}}}}),
    (f"{PARAMETERS} +", {"name": "leaf", "in": "query", "required": False, "schema": {"type": "string"}}),
    (f"{PARAMETERS} 0 schema maximum", 30),
    (f"{PARAMETERS} 0 schema type", "number"),
    (f"{CALL} requestBody required", False),
    (f"{CALL} requestBody content application/x-ndjson", {"schema": {"type": "string"}}),
    (f"{CALL} responses 404", GONE),
    (f"{CALL} responses 409", {"content": {}}),
    (f"{CALL} responses 200 content image/svg+xml", {"schema": {"type": "string"}}),
    (f"{ORDER} required 0", GONE),
    (f"{ORDER} properties new", {"type": "string"}),
    (f"{ORDER} properties name maxLength", GONE),
    (f"{ORDER} properties name minLength", 0),
    (f"{ORDER} properties share exclusiveMinimum", GONE),
    (f"{ORDER} properties order enum +", "sideways"),
    (f"{ORDER} properties free description", "Anything."),
    (f"{ANSWER} properties new", {"type": "string"}),
    (f"{ANSWER} properties status enum +", "failed"),
    (f"{ANSWER} properties note anyOf 1", GONE),
    (f"{ANSWER} properties bounds items type", "integer"),
    (f"{ANSWER} properties n minimum", 0),
]


def changed(path: str, value: Any) -> dict[str, Any]:
    """The small document with one thing changed; a path that ends in + appends to a list."""
    document = copy.deepcopy(small_document())
    *way, last = path.split(" ")
    inner: Any = document
    for key in way:
        inner = inner[int(key) if isinstance(inner, list) else key]
    if last == "+":
        inner.append(value)
    elif value is GONE:
        del inner[int(last) if isinstance(inner, list) else last]
    else:
        inner[int(last) if isinstance(inner, list) else last] = value
    return document


@pytest.mark.parametrize(("path", "value", "told"), BREAKING)
def test_what_breaks_programs_is_found(path: str, value: Any, told: str) -> None:
    assert told in {str(change) for change in breaking_changes(small_document(), changed(path, value))}


@pytest.mark.parametrize(("path", "value"), HARMLESS)
def test_what_breaks_nothing_is_passed_over(path: str, value: Any) -> None:
    assert breaking_changes(small_document(), changed(path, value)) == []


@pytest.mark.parametrize(
    ("path", "value", "names"),
    [
        (f"{PARAMETERS} 1", GONE, ("POST /v1/plants", "grow")),
        (f"{ORDER} properties free", GONE, ("Order",)),
        (f"{ORDER} properties columns maxItems", 8, ("Order",)),
        ("components schemas Tree required +", "seed", ("Tree",)),
    ],
)
def test_it_is_named_by_its_operation_or_schema(path: str, value: Any, names: tuple[str, ...]) -> None:
    assert [change.names for change in breaking_changes(small_document(), changed(path, value))] == [names]


def test_a_body_may_not_become_required() -> None:
    old = changed(f"{CALL} requestBody", GONE)
    assert [str(change) for change in breaking_changes(old, small_document())] == [
        "POST /v1/plants now requires a body"
    ]


def test_a_new_tag_breaks_nothing() -> None:
    old = changed("components schemas Method oneOf 1", GONE)
    assert breaking_changes(old, small_document()) == []


def test_a_schema_may_have_another_name() -> None:
    renamed = json.loads(json.dumps(small_document()).replace("Answer", "Plant"))
    assert breaking_changes(small_document(), renamed) == []


def test_a_schema_may_contain_itself() -> None:
    inner = {"anyOf": [reference("Tree"), {"type": "null"}]}
    old, new = (changed("components schemas Tree properties inner", inner) for _ in range(2))
    assert breaking_changes(old, new) == []
    del new["components"]["schemas"]["Tree"]["properties"]["seed"]
    told = ["Tree.seed is no longer answered", "Tree.seed is no longer taken"]
    assert [str(change) for change in breaking_changes(old, new)] == told


def test_choices_that_nothing_tells_apart_are_refused() -> None:
    unclear = changed(f"{ANSWER} properties note anyOf +", {"type": "string", "enum": ["none"]})
    with pytest.raises(ValueError, match="nothing tells two choices apart: string"):
        breaking_changes(small_document(), unclear)


def test_a_listing_holds_all_that_is_compared() -> None:
    kept = listed(listing(small_document()))
    for path, value, told in BREAKING:
        assert told in {str(change) for change in breaking_changes(kept, changed(path, value))}


def test_a_listing_has_no_texts() -> None:
    described = changed(f"{ORDER} properties free description", "Anything.")
    described["components"]["schemas"]["Order"]["properties"]["title"] = {"type": "string", "title": "Title"}
    kept = listed(listing(described))["components"]["schemas"]["Order"]["properties"]
    assert (kept["free"], kept["title"]) == ({"type": "string"}, {"type": "string"})


CHANGES = """# Changelog

## 1.1.0

### Changed

- Breaking: `Order` no longer takes `free`, which
  `POST /v1/herbs` made superfluous.
- A faster start.

## 1.0.0

- Breaking: `Answer` is another.
"""


def test_declarations_are_those_of_later_versions() -> None:
    wanted = "Breaking: `Order` no longer takes `free`, which `POST /v1/herbs` made superfluous."
    assert declared_since("1.0.0", CHANGES) == [wanted]
    with pytest.raises(ValueError, match=r"no section 0\.9\.0"):
        declared_since("0.9.0", CHANGES)


@pytest.mark.parametrize(
    ("name", "is_declared"),
    [("Order", True), ("POST /v1/herbs", True), ("Ord", False), ("Answer", False), ("POST /v1", False)],
)
def test_a_declaration_says_the_name(name: str, is_declared: bool) -> None:
    assert Change("here", "is gone", (name,)).is_declared_in(declared_since("1.0.0", CHANGES)) == is_declared


def test_every_breaking_change_since_the_last_release_is_in_the_changelog() -> None:
    released = listed(RELEASED.read_text("utf-8"))
    declared = declared_since(released["info"]["version"], CHANGELOG.read_text("utf-8"))
    found = breaking_changes(released, json.loads(DOCUMENT.read_text("utf-8")))
    undeclared = [str(change) for change in found if not change.is_declared_in(declared)]
    assert undeclared == [], "each needs a line '- Breaking: …' in CHANGELOG.md that names its operation or schema"


def test_what_is_compared_is_the_last_release() -> None:
    versions = re.findall(r"^## (\S+)", CHANGELOG.read_text("utf-8"), flags=re.MULTILINE)
    current = json.loads(DOCUMENT.read_text("utf-8"))["info"]["version"]
    assert versions[0] == current
    assert listed(RELEASED.read_text("utf-8"))["info"]["version"] == versions[1], (
        "before the version changes, run: make released-api"
    )
