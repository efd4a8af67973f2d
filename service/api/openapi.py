"""The OpenAPI document: FastAPI's, with all problems described and without FastAPI's own errors."""

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from service.api.problems import INTERNAL, INVALID_REQUEST, ProblemKind, kind_of, responses_of
from service.api.schemas.common import Problem
from service.errors import BodyTooLarge, MalformedBody, StoreUnavailable, UnsupportedContentCoding, UnsupportedMediaType

FRAMEWORK_SCHEMAS = ("HTTPValidationError", "ValidationError")
FRAMEWORK_DESCRIPTION = "Successful Response"
METHODS = ("get", "post", "put", "patch", "delete")


class DocumentedApp(FastAPI):
    """An application whose document is completed by `completed`."""

    def __init__(self, *, described_bodies: Sequence[type[BaseModel]] = (), **options: Any) -> None:
        super().__init__(**options)
        self._described_bodies = described_bodies

    def openapi(self) -> dict[str, Any]:
        """The document, made once."""
        if self.openapi_schema is None:
            self.openapi_schema = completed(super().openapi(), self._described_bodies)
        return self.openapi_schema


def answers_with(status: int, **headers: str) -> dict[int | str, dict[str, Any]]:
    """For `responses=` of a route: the headers of an answer and their descriptions; `_` in a name stands for `-`."""
    described = {
        name.replace("_", "-"): {"description": says, "schema": {"type": "string"}} for name, says in headers.items()
    }
    return {status: {"headers": described}}


def schema_named(shape: type[BaseModel]) -> dict[str, Any]:
    """For the `content` of a body or an answer: a reference to the model's schema."""
    return {"schema": {"$ref": f"#/components/schemas/{shape.__name__}"}}


def completed(document: dict[str, Any], described_bodies: Sequence[type[BaseModel]]) -> dict[str, Any]:
    """Add the schemas of problems and of bodies that routes read by themselves, and the problems of every call."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in FRAMEWORK_SCHEMAS:
        schemas.pop(name, None)
    for name, schema in _schemas_of(described_bodies, Problem).items():
        schemas.setdefault(name, schema)
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    for path, item in document["paths"].items():
        for operation in (item[method] for method in METHODS if method in item):
            operation["summary"] = operation["operationId"].replace("_", " ").capitalize()
            _describe_success(operation["responses"])
            _add_problems(operation, path)
    return document


def _describe_success(responses: dict[str, Any]) -> None:
    for status, response in responses.items():
        if response["description"] == FRAMEWORK_DESCRIPTION:
            response["description"] = HTTPStatus(int(status)).phrase


def _schemas_of(described_bodies: Sequence[type[BaseModel]], answer: type[BaseModel]) -> dict[str, Any]:
    _, described = models_json_schema(
        [*((model, "validation") for model in described_bodies), (answer, "serialization")],
        ref_template="#/components/schemas/{model}",
    )
    return dict(described["$defs"])


def _add_problems(operation: dict[str, Any], path: str) -> None:
    responses = operation["responses"]
    if _is_frameworks(responses.get("422", {})):
        del responses["422"]
    for status, response in responses_of(_common_problems(operation, path)).items():
        known = responses.setdefault(str(status), {**response, "description": ""})
        lines = [*known["description"].splitlines(), *response["description"].splitlines()]
        known["description"] = "\n".join(dict.fromkeys(lines))
    operation["responses"] = dict(sorted(responses.items()))


def _is_frameworks(response: dict[str, Any]) -> bool:
    return any(name in str(response.get("content")) for name in FRAMEWORK_SCHEMAS)


def _common_problems(operation: dict[str, Any], path: str) -> Iterator[ProblemKind]:
    """The problems that any call of this kind can have, so that routes document only their own."""
    if "requestBody" in operation:
        yield from map(kind_of, (MalformedBody, BodyTooLarge, UnsupportedMediaType, UnsupportedContentCoding))
    if "requestBody" in operation or "parameters" in operation:
        yield INVALID_REQUEST
    yield INTERNAL
    if path.startswith("/v1/"):
        yield kind_of(StoreUnavailable)
