"""The OpenAPI document as a contract: what generated clients rely on."""

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from service.api.routes import ROUTERS
from service.app import create_app
from service.settings import Settings

COMMITTED = Path(__file__).parent.parent.parent / "openapi.json"
METHODS = ("get", "post", "put", "patch", "delete")
OPERATIONS = {
    "create_dataset": "POST /v1/datasets",
    "list_datasets": "GET /v1/datasets",
    "get_dataset": "GET /v1/datasets/{dataset_id}",
    "delete_dataset": "DELETE /v1/datasets/{dataset_id}",
    "create_training": "POST /v1/trainings",
    "list_trainings": "GET /v1/trainings",
    "get_training": "GET /v1/trainings/{training_id}",
    "cancel_training": "POST /v1/trainings/{training_id}/cancel",
    "delete_training": "DELETE /v1/trainings/{training_id}",
    "list_models": "GET /v1/models",
    "get_model": "GET /v1/models/{model}",
    "delete_model": "DELETE /v1/models/{model}",
    "get_schema": "GET /v1/models/{model}/schema",
    "get_tree": "GET /v1/models/{model}/tree",
    "list_pruning_steps": "GET /v1/models/{model}/pruning",
    "get_pruned_tree": "GET /v1/models/{model}/pruning/{step}",
    "compare_pruning_steps": "GET /v1/models/{model}/pruning/{a}/diff/{b}",
    "prune_model": "POST /v1/models/{model}/prunings",
    "get_rules": "GET /v1/models/{model}/rules",
    "get_evaluation": "GET /v1/models/{model}/evaluation",
    "get_importance": "GET /v1/models/{model}/importance",
    "get_proximity": "GET /v1/models/{model}/proximity",
    "find_neighbours": "POST /v1/models/{model}/neighbours",
    "draw_boundary": "GET /v1/models/{model}/boundary",
    "export_model": "GET /v1/models/{model}/export",
    "predict": "POST /v1/models/{model}/predict",
    "compare": "POST /v1/models/{model}/compare",
    "get_livez": "GET /livez",
    "get_readyz": "GET /readyz",
    "get_metrics": "GET /metrics",
    "get_problem": "GET /problems/{word}",
}
# A value that may be of several plain types: told apart by its type, not by a tag.
NAMED_CHOICES = {"Base", "Cell", "MaxFeatures", "SampleSize", "Step", "Target"}
# A request may ask for some parts of these answers; the others are then left out.
ASKED_FOR_IN_PARTS = {"AnomalyPrediction", "ClassPrediction", "MultiOutputPrediction", "NumberPrediction"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(Settings(embedded_worker=False)).openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        yield from ((f"{method.upper()} {path}", item[method]) for method in METHODS if method in item)


def schemas_in(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema below a value, with where it stands; examples and defaults are no schemas."""
    if isinstance(value, dict):
        yield place, value
        for key, inner in value.items():
            if key == "properties":
                for name, schema in inner.items():
                    yield from schemas_in(schema, f"{place}.{name}")
            elif key not in ("examples", "example", "default", "enum", "const", "discriminator"):
                yield from schemas_in(inner, f"{place}/{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from schemas_in(inner, f"{place}/{number}")


def named(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    schemas: dict[str, dict[str, Any]] = document["components"]["schemas"]
    return schemas


def reached(document: dict[str, Any], value: Any) -> set[str]:
    """The named schemas that a value refers to, directly or not."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        for _, schema in schemas_in(waiting.pop()):
            name = str(schema.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found.add(name)
                waiting.append(named(document)[name])
    return found


def test_the_committed_document_is_the_live_one(document: dict[str, Any]) -> None:
    assert json.loads(COMMITTED.read_text("utf-8")) == document, "run: make openapi"


def test_the_committed_document_is_written_as_the_command_writes_it(document: dict[str, Any]) -> None:
    assert COMMITTED.read_text("utf-8") == json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def test_the_document_is_valid(document: dict[str, Any]) -> None:
    validate(document)


def test_operations_are_exactly_these(document: dict[str, Any]) -> None:
    assert {operation["operationId"]: name for name, operation in operations(document)} == OPERATIONS


def test_operation_ids_are_the_names_of_functions() -> None:
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    assert sorted(route.endpoint.__name__ for route in routes) == sorted(OPERATIONS)
    for route in routes:
        assert route.name == route.endpoint.__name__
        assert inspect.getdoc(route.endpoint), route.name


def test_every_union_is_named_or_has_a_discriminator(document: dict[str, Any]) -> None:
    for place, schema in schemas_in(document["paths"]):
        members = schema.get("anyOf", schema.get("oneOf", []))
        assert len([one for one in members if one.get("type") != "null"]) <= 1, place
    for name, top in named(document).items():
        for place, schema in schemas_in(top):
            for word in ("anyOf", "oneOf"):
                members = [one for one in schema.get(word, []) if one.get("type") != "null"]
                if len(members) <= 1:
                    continue  # something or null
                assert (word, place) == ("oneOf", ""), (name, place)
                if name not in NAMED_CHOICES:
                    mapping = schema["discriminator"]["mapping"]
                    assert sorted(mapping.values()) == sorted(one["$ref"] for one in members), name


def test_every_tag_of_a_union_is_the_one_value_of_its_member(document: dict[str, Any]) -> None:
    for name, schema in named(document).items():
        if "discriminator" not in schema:
            continue
        key = schema["discriminator"]["propertyName"]
        for tag, reference in schema["discriminator"]["mapping"].items():
            member = named(document)[reference.rpartition("/")[2]]
            assert member["properties"][key].get("const") == tag, (name, tag)
            assert key in member["required"], (name, tag)


def test_no_object_is_anonymous(document: dict[str, Any]) -> None:
    for place, schema in schemas_in(document["paths"]):
        assert schema.get("type") != "object", place
    for name, top in named(document).items():
        for place, schema in schemas_in(top):
            assert place == "" or schema.get("type") != "object", (name, place)


def test_objects_that_are_sent_say_that_no_other_keys_are_taken(document: dict[str, Any]) -> None:
    bodies = [operation["requestBody"] for _, operation in operations(document) if "requestBody" in operation]
    for name in reached(document, bodies):
        schema = named(document)[name]
        if "properties" in schema:
            assert schema["additionalProperties"] is False, name


def test_every_property_of_an_answer_is_required_unless_a_request_may_leave_it_out(document: dict[str, Any]) -> None:
    answers = [operation["responses"] for _, operation in operations(document)]
    for name in reached(document, answers):
        schema = named(document)[name]
        required = set() if name in ASKED_FOR_IN_PARTS else set(schema.get("properties", ()))
        assert set(schema.get("required", ())) == required, name


def test_every_named_schema_is_used(document: dict[str, Any]) -> None:
    assert reached(document, document["paths"]) == set(named(document))


def test_no_schema_is_named_by_a_generator(document: dict[str, Any]) -> None:
    for name in named(document):
        assert name.isidentifier(), name
        assert not name.endswith(("Input", "Output")), name
        assert not name.startswith(("Body_", "HTTP", "Validation")), name


def test_everything_is_described(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        assert operation["summary"], name
        assert operation["description"], name
        for status, response in operation["responses"].items():
            assert response["description"], (name, status)
            for header, said in response.get("headers", {}).items():
                assert said["description"], (name, status, header)
        for parameter in operation.get("parameters", []) if "/v1/" in name else ():
            assert parameter["description"], (name, parameter["name"])
    for name, schema in named(document).items():
        if "properties" in schema:
            assert schema["description"], name


def test_nothing_of_the_framework_shows(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    for word in ("HTTPValidationError", "ValidationError", "Successful Response", "pydantic", "FastAPI"):
        assert word not in text


def test_answers_that_never_change_say_so(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        if name.startswith(("GET /v1/models/{model}", "GET /v1/datasets/{dataset_id}")):
            assert "ETag" in operation["responses"]["200"]["headers"], name
            assert "304" in operation["responses"], name


def test_long_work_says_where_to_follow_it(document: dict[str, Any]) -> None:
    headers = document["paths"]["/v1/trainings"]["post"]["responses"]["202"]["headers"]
    assert set(headers) == {"Location", "Retry-After"}


def examples_of(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], Any]]:
    for name, top in named(document).items():
        for place, schema in schemas_in(top):
            yield from ((f"{name}{place}", schema, example) for example in schema.get("examples", []))
            if "default" in schema:
                yield f"{name}{place} default", schema, schema["default"]
    for name, operation in operations(document):
        for parameter in operation.get("parameters", []):
            for example in parameter["schema"].get("examples", []):
                yield f"{name} {parameter['name']}", parameter["schema"], example


def test_examples_and_defaults_fit_their_schemas(document: dict[str, Any]) -> None:
    found = list(examples_of(document))
    for place, schema, example in found:
        whole = {"allOf": [schema], "components": document["components"]}
        errors = [error.message for error in Draft202012Validator(whole).iter_errors(example)]
        assert errors == [], place
    sent = {place for place, _, _ in found}
    assert {"DatasetUpload", "TrainingRequest", "PredictionRequest", "Problem"} <= sent
