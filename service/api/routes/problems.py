"""What the words in a problem's `type` mean."""

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.exceptions import HTTPException

from service.api.bodies import StrictRoute
from service.api.problems import KINDS, NOT_FOUND, responses_of
from service.api.schemas.health import ProblemExplanation

router = APIRouter(route_class=StrictRoute, tags=["operation"])


@router.get("/problems/{word}", responses=responses_of([NOT_FOUND]))
async def get_problem(
    word: Annotated[str, Path(description="The last part of the problem's `type`.", examples=["model_not_found"])],
) -> ProblemExplanation:
    """Explain one kind of problem. Its URL is the `type` of such a problem."""
    if word not in KINDS:
        raise HTTPException(NOT_FOUND.status)
    kind = KINDS[word]
    return ProblemExplanation(type=kind.type, title=kind.title, status=kind.status, explanation=kind.explanation)
