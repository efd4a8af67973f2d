"""Shapes that every resource shares: bodies, answers, pages and problems."""

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, StrictBool, StrictInt
from pydantic_core import CoreSchema

# JSON distinguishes numbers, truth values and text; pydantic would also accept "3" for 3 and 1 for true.
WholeNumber = StrictInt
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Flag = StrictBool


class Body(BaseModel):
    """Base of what clients send: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Answer(BaseModel):
    """Base of what clients get: no field has a default, so every field is always present."""

    model_config = ConfigDict(frozen=True, validate_by_name=True, validate_by_alias=True)


class OneOf:
    """Marks a union whose members exclude each other, so that the document says `oneOf` instead of `anyOf`.

    Give the union a public name with it: `Step = TypeAliasType("Step", Annotated[int | str, OneOf()])`.
    """

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        described = handler(schema)
        if "anyOf" in described:
            described["oneOf"] = described.pop("anyOf")
        return described


Item = TypeVar("Item")


class Page(Answer, Generic[Item]):
    """A part of a list; send `next_cursor` as `cursor` to get the next part.

    Subclass it with a name for each resource: `class DatasetPage(Page[DatasetListed])`.
    """

    items: list[Item]
    next_cursor: Annotated[str | None, Field(description="`null` on the last page.", examples=["eyJhIjoiZHNfMDFrOSJ9"])]


Location = Literal["body", "query", "path", "header", "file"]


class ProblemError(Answer):
    """One error: what is wrong, where it is, and how to fix it."""

    location: Annotated[Location, Field(alias="in", description="Part of the request that is wrong.")]
    pointer: Annotated[
        str | None,
        Field(
            description="For a body, or JSON in a parameter: `#` followed by an RFC 6901 JSON Pointer in plain "
            "Unicode.",
            examples=["#/schema/纹理/kind"],
        ),
    ]
    parameter: Annotated[
        str | None, Field(description="For a query, path or header parameter, or a part of a form: its name.")
    ]
    line: Annotated[int | None, Field(description="For a file, or a body of lines: the line number, counted from 1.")]
    detail: Annotated[str, Field(description="What is wrong.", examples=["not a known key here"])]
    hint: Annotated[str | None, Field(description="How to fix it, if known.", examples=["did you mean kind?"])]


class Problem(Answer):
    """Why a request failed (RFC 9457, `application/problem+json`)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "/problems/dataset_not_found",
                    "title": "There is no such dataset",
                    "status": 404,
                    "detail": "there is no dataset ds_01k9; GET /v1/datasets lists those there are",
                    "instance": "/v1/datasets/ds_01k9",
                    "request_id": "req_5f0c1f9f2b7d4e0c",
                    "errors": [],
                }
            ]
        }
    )

    type: Annotated[str, Field(description="`/problems/<word>`; a GET there explains the kind of problem.")]
    title: Annotated[str, Field(description="The kind of problem, in a few words.")]
    status: Annotated[int, Field(description="The HTTP status code.")]
    detail: Annotated[str, Field(description="What went wrong in this case.")]
    instance: Annotated[str, Field(description="The path of the request.")]
    request_id: Annotated[str, Field(description="Identifies this request in the service's logs.")]
    errors: Annotated[list[ProblemError], Field(description="The individual errors, at most 100.")]
