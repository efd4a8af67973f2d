"""The pruning history: every decision with what it was based on."""

from typing import Annotated

from pydantic import Field

from core.pruning.history import Decision, Method, PruningStep
from service.api.schemas.common import Answer, Page


class PruningEvidence(Answer):
    """The counts behind a decision; null where they do not apply."""

    rows: Annotated[int | None, Field(description="How many validation rows judged.")]
    weight: Annotated[float | None, Field(description="Their weight.")]
    correct_before: Annotated[float | None, Field(description="The weight answered rightly as the tree stood.")]
    correct_after: Annotated[float | None, Field(description="The same with the other choice made.")]
    cost_before: Annotated[float | None, Field(description="Where wrong answers have costs: their sum as it stood.")]
    cost_after: Annotated[float | None, Field(description="The same with the other choice made.")]


class PruningEntry(Answer):
    """One decision. The tree after it is the step of that number."""

    step: Annotated[int, Field(examples=[1])]
    node: Annotated[int, Field(description="The node it is about.", examples=[9])]
    method: Method
    decision: Annotated[Decision, Field(description="`cut`: the node became a leaf; `kept`: it stayed.")]
    before: Annotated[
        float,
        Field(
            description="The measure as the tree stood: accuracy, mean cost or mean squared error on validation rows; "
            "for `collapse` the training weight answered wrongly."
        ),
    ]
    after: Annotated[float, Field(description="The measure with the other choice made: the cut, or the split.")]
    alpha: Annotated[float | None, Field(description="For cost-complexity pruning.")]
    evidence: PruningEvidence
    leaves: Annotated[int, Field(description="Leaves left after the decision.")]
    depth: Annotated[int, Field(description="Depth left after the decision.")]

    @classmethod
    def of(cls, step: PruningStep) -> "PruningEntry":
        return cls(
            step=step.number,
            node=step.node,
            method=step.method,
            decision=step.decision,
            before=step.before,
            after=step.after,
            alpha=step.alpha,
            evidence=PruningEvidence.model_validate(
                {name: step.evidence.get(name) for name in PruningEvidence.model_fields}
            ),
            leaves=step.leaves,
            depth=step.depth,
        )


class PruningPage(Page[PruningEntry]):
    """Decisions in the order they were made."""
