"""What the words in a problem's `type` mean."""

from fastapi import APIRouter
from starlette.exceptions import HTTPException

from service.api.bodies import StrictRoute
from service.api.problems import KINDS, NOT_FOUND, responses_of
from service.api.schemas.health import ProblemExplanation

router = APIRouter(route_class=StrictRoute, tags=["operation"])


@router.get("/problems/{word}", responses=responses_of([NOT_FOUND]))
async def get_problem(word: str) -> ProblemExplanation:
    """Explain one kind of problem: the address is the problem's `type`."""
    if word not in KINDS:
        raise HTTPException(NOT_FOUND.status)
    kind = KINDS[word]
    return ProblemExplanation(type=kind.type, title=kind.title, status=kind.status, explanation=kind.explanation)
