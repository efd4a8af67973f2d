"""The health of the service, and explanations of its problems."""

from typing import Annotated, Literal

from pydantic import Field

from service.api.schemas.common import Answer


class Health(Answer):
    """The service is healthy; otherwise the response is a problem."""

    status: Literal["alive", "ready"]


class ProblemExplanation(Answer):
    """What a kind of problem means."""

    type: Annotated[str, Field(examples=["/problems/dataset_not_found"])]
    title: Annotated[str, Field(examples=["There is no such dataset"])]
    status: Annotated[int, Field(description="The HTTP status code it comes with.", examples=[404])]
    explanation: Annotated[str, Field(examples=["GET /v1/datasets lists the datasets there are."])]
