import re
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import validate

from service.app import create_app
from service.settings import Settings

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(Settings(embedded_worker=False)).openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        yield from ((f"{method.upper()} {path}", item[method]) for method in item.keys() & METHODS)


def everything_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from everything_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from everything_in(inner)


def test_the_document_is_valid(document):
    validate(document)


def test_operations_are_named_like_our_functions(document):
    names = [operation["operationId"] for _, operation in operations(document)]
    assert {"create_dataset", "list_datasets", "get_dataset", "delete_dataset"} <= set(names)
    assert len(names) == len(set(names))
    assert all(re.fullmatch("[a-z_]+", name) for name in names)


def test_every_operation_has_a_tag_and_says_what_it_does(document):
    tags = {tag["name"] for tag in document["tags"]}
    for name, operation in operations(document):
        assert set(operation["tags"]) <= tags, name
        assert operation["description"], name


def test_every_error_is_a_problem(document):
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            assert response["description"], (name, status)
            if int(status) >= 400:
                expected = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
                assert response["content"] == expected, (name, status)


def test_common_problems_are_documented(document):
    for name, operation in operations(document):
        documented = set(operation["responses"])
        assert "500" in documented, name
        if "requestBody" in operation:
            assert {"400", "413", "415", "422"} <= documented, name
        if "/v1/" in name:
            assert "503" in documented, name


def test_nothing_of_the_framework_shows(document):
    assert "ValidationError" not in str(document)
    assert "Successful Response" not in str(document)


def test_no_twins_and_no_missing_references(document):
    schemas = document["components"]["schemas"]
    assert not [name for name in schemas if name.endswith(("-Input", "-Output"))]
    references = {found["$ref"] for found in everything_in(document) if isinstance(found.get("$ref"), str)}
    assert {reference.removeprefix("#/components/schemas/") for reference in references} <= set(schemas)


def test_no_object_is_anonymous(document):
    for name, schema in document["components"]["schemas"].items():
        inner = [found for found in everything_in(schema) if found is not schema]
        assert not [found for found in inner if found.get("type") == "object" and "properties" in found], name


def test_unions_of_objects_have_discriminators(document):
    union = document["components"]["schemas"]["ColumnDeclaration"]
    assert union["discriminator"]["propertyName"] == "kind"
    assert set(union["discriminator"]["mapping"]) == {"numeric", "categorical", "ordinal", "ignore"}


def test_answers_have_no_optional_fields(document):
    for name in ("Dataset", "DatasetColumn", "DatasetPage", "DatasetListed", "Problem", "ProblemError"):
        schema = document["components"]["schemas"][name]
        assert set(schema["required"]) == set(schema["properties"]), name


def test_a_dataset_is_sent_in_three_ways(document):
    body = document["paths"]["/v1/datasets"]["post"]["requestBody"]
    assert set(body["content"]) == {"application/json", "text/csv", "multipart/form-data"}


@pytest.mark.anyio
async def test_docs_need_no_other_host(edge):
    page = await edge.get("/docs")
    assert page.status_code == 200
    assert "http" not in re.sub(r"http-equiv|<!DOCTYPE.*?>", "", page.text)
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert address.startswith("/docs/assets/")
        assert (await edge.get(address)).status_code == 200
    assert (await edge.get("/openapi.json")).status_code == 200
