"""How to answer bodies that contain only records: the options of a JSON body as query parameters."""

from typing import Annotated, Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import QueryParams

from core.ensembles.voting import Voting
from core.prediction.routing import MissingPolicy
from core.tables.suggestion import did_you_mean
from service.api.predicting.record_parameters import record_in
from service.api.schemas.configuring.voting import VotingOptions, core_voting
from service.api.schemas.predictions import PredictionField, PredictionRequest
from service.api.uploads import FILE_TOKENS
from service.api.validation import validated
from service.errors import InvalidBody, InvalidParameter

IN_BODY = PredictionRequest.model_fields


class PredictionQuery(BaseModel):
    """The options of a prediction whose body is NDJSON, CSV or an Arrow stream."""

    model_config = ConfigDict(frozen=True)

    missing: Annotated[MissingPolicy | None, Field(description=IN_BODY["missing"].description)] = None
    step: Annotated[str, Field(description=IN_BODY["step"].description)] = "selected"
    explain: Annotated[bool, Field(description=IN_BODY["explain"].description)] = False
    ignore_unknown: Annotated[bool, Field(description=IN_BODY["ignore_unknown"].description)] = False
    voting: Annotated[
        str | None,
        Field(description=f"{IN_BODY['voting'].description} As a JSON object.", examples=['{"kind": "majority"}']),
    ] = None
    fields: Annotated[
        tuple[PredictionField, ...] | None,
        Field(min_length=1, description=f"{IN_BODY['fields'].description} Repeat the parameter for several fields."),
    ] = None
    missing_tokens: Annotated[
        list[str],
        Field(
            description='CSV only: cells that mean missing. Default: `["", "?", "NA"]`. Repeat the parameter for '
            "several values."
        ),
    ] = list(FILE_TOKENS)

    def core_voting(self) -> Voting | None:
        """The voting in core's terms, or InvalidParameter with its faults."""
        if self.voting is None:
            return None
        try:
            return core_voting(validated(VotingOptions, record_in("voting", self.voting)))
        except InvalidBody as error:
            raise InvalidParameter("voting", error.detail, faults=error.faults) from error


KNOWN = tuple(PredictionQuery.model_fields)
LISTS = ("fields", "missing_tokens")


def query_parameters() -> list[dict[str, Any]]:
    """The parameters for the OpenAPI document, without defaults, which generated clients would send with JSON, too."""
    described = PredictionQuery.model_json_schema(ref_template="#/components/schemas/{model}")["properties"]
    return [
        {
            "name": name,
            "in": "query",
            "required": False,
            "description": schema["description"] + (" With JSON, set it in the body." if name in IN_BODY else ""),
            "schema": _when_given(schema),
        }
        for name, schema in described.items()
    ]


def _when_given(schema: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = schema["anyOf"][0] if "anyOf" in schema else schema
    return {key: value for key, value in given.items() if key not in ("default", "description", "title")}


def read_query(sent: QueryParams, *, has_tokens: bool) -> PredictionQuery:
    """The options in a query; InvalidParameter or RequestValidationError if they are invalid. Only CSV has tokens."""
    for name in sent:
        if name == "missing_tokens" and not has_tokens:
            raise InvalidParameter(name, "only CSV has missing tokens", hint="send null where a value is missing")
        if name not in KNOWN:
            hint = did_you_mean(name, KNOWN) or f"this call takes {', '.join(KNOWN)}"
            raise InvalidParameter(name, "not a parameter of this call", hint=hint)
        if name not in LISTS and len(sent.getlist(name)) > 1:
            raise InvalidParameter(name, "stands more than once")
    try:
        return PredictionQuery.model_validate(
            {name: sent.getlist(name) if name in LISTS else sent[name] for name in sent}
        )
    except ValidationError as error:
        found = [{**finding, "loc": ("query", *finding["loc"])} for finding in error.errors(include_url=False)]
        raise RequestValidationError(found) from error


def refuse_query(sent: QueryParams) -> None:
    """Raise InvalidParameter if the query has options: those of a JSON body belong in the body."""
    for name in sent:
        if name in KNOWN:
            raise InvalidParameter(
                name, "stands in the query, but with a JSON body the options stand in the body", hint="move it there"
            )
