"""The pruning history: every decision with its evidence."""

from typing import Annotated

from pydantic import Field

from core.tree.history import CrossValidation, Decision, Method, PruningStep
from core.tree.model import Model
from service.api.schemas.common import Answer, Page


class PruningEvidence(Answer):
    """The counts behind a decision; null where they do not apply."""

    branch_leaves: Annotated[
        int | None,
        Field(description="The leaves of the node's subtree before the decision; null in models of earlier versions."),
    ]
    rows: Annotated[int | None, Field(description="How many validation rows judged.")]
    weight: Annotated[float | None, Field(description="Their weight.")]
    correct_before: Annotated[float | None, Field(description="The weight answered rightly as the tree stood.")]
    correct_after: Annotated[float | None, Field(description="The same with the other choice made.")]
    cost_before: Annotated[float | None, Field(description="Where wrong answers have costs: their sum as it stood.")]
    cost_after: Annotated[float | None, Field(description="The same with the other choice made.")]
    errors: Annotated[
        float | None,
        Field(
            description="Confidence pruning: the training weight that the node as a leaf would answer wrongly; where "
            "wrong answers have costs, each counts by its cost over the largest."
        ),
    ]
    cf: Annotated[float | None, Field(description="Confidence pruning: the confidence level.")]
    bound: Annotated[float | None, Field(description="Confidence pruning: the upper limit of the leaf's error rate.")]
    leaf_estimate: Annotated[float | None, Field(description="Confidence pruning: errors expected of the leaf.")]
    subtree_estimate: Annotated[float | None, Field(description="Confidence pruning: errors expected of the subtree.")]
    raised_estimate: Annotated[
        float | None, Field(description="Confidence pruning: errors expected of the heaviest branch in its place.")
    ]
    raised_node: Annotated[int | None, Field(description="Confidence pruning: the child at the heaviest branch.")]
    node_cost: Annotated[
        float | None, Field(description="Cost-complexity pruning: C(t), what the node costs as a leaf.")
    ]
    branch_cost: Annotated[float | None, Field(description="Cost-complexity pruning: C(T_t), what its subtree costs.")]
    link: Annotated[
        float | None,
        Field(description="Cost-complexity pruning: g(t), what the subtree saves for each leaf beyond the first."),
    ]


class PruningEntry(Answer):
    """One decision. The tree after it is the step of that number."""

    step: Annotated[int, Field(examples=[1])]
    node: Annotated[int, Field(description="The node it is about.", examples=[9])]
    attribute: Annotated[str, Field(description="What the node asked before.", examples=["texture"])]
    method: Method
    decision: Annotated[
        Decision,
        Field(
            description="`cut`: the node became a leaf; `kept`: it stayed; `raised`: its heaviest branch took its "
            "place."
        ),
    ]
    before: Annotated[
        float,
        Field(
            description="The measure as the tree stood: accuracy, mean cost or mean squared error on validation rows; "
            "for `collapse` the training weight answered wrongly, for `confidence` the errors expected of the subtree, "
            "for `cost_complexity` the cost of the whole tree."
        ),
    ]
    after: Annotated[
        float, Field(description="The measure with the other choice made: the cut, the branch raised, or the split.")
    ]
    alpha: Annotated[
        float | None,
        Field(description="For cost-complexity pruning: the alpha from which on the node is a leaf."),
    ]
    evidence: PruningEvidence
    leaves: Annotated[int, Field(description="Leaves left after the decision.")]
    depth: Annotated[int, Field(description="Depth left after the decision.")]

    @classmethod
    def of(cls, step: PruningStep, model: Model) -> "PruningEntry":
        return cls(
            step=step.number,
            node=step.node,
            attribute=model.attributes[int(model.history.tested_columns[step.number - 1])].name,
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


class CrossValidationEntry(Answer):
    """How the trees of one alpha answered rows that they were grown without."""

    alpha: Annotated[float, Field(description="From this alpha on, until the next, the tree is that of `step`.")]
    step: int
    leaves: Annotated[int, Field(description="Leaves of the tree of that step.")]
    error: Annotated[
        float,
        Field(description="The share answered wrongly, the mean cost, or the mean squared error of rows left out."),
    ]
    standard_error: Annotated[float, Field(description="Of that error.")]


class CrossValidationTable(Answer):
    """The table by which alpha was chosen, from the full tree to the root."""

    folds: int
    items: list[CrossValidationEntry]

    @classmethod
    def of(cls, table: CrossValidation) -> "CrossValidationTable":
        columns = (table.alpha, table.step, table.leaves, table.error, table.standard_error)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return cls(
            folds=table.n_folds,
            items=[
                CrossValidationEntry(alpha=alpha, step=step, leaves=leaves, error=error, standard_error=spread)
                for alpha, step, leaves, error, spread in rows
            ],
        )


class PruningPage(Page[PruningEntry]):
    """Decisions in the order they were made."""
