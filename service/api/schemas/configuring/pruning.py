"""The pruning history: every decision with its evidence."""

from typing import Annotated

from pydantic import Field

from core.tree.history import CrossValidation, Decision, Method, PruningStep
from core.tree.model import Model
from service.api.schemas.common import Answer, Page


class PruningEvidence(Answer):
    """The figures behind a decision; `null` where they do not apply."""

    branch_leaves: Annotated[
        int | None,
        Field(
            description="Number of leaves of the node's subtree before the decision; `null` in models of earlier "
            "versions."
        ),
    ]
    rows: Annotated[int | None, Field(description="Number of validation rows.")]
    weight: Annotated[
        float | None,
        Field(
            description="Weight of the validation rows; for pruning by training rows, the training weight of the node."
        ),
    ]
    correct_before: Annotated[float | None, Field(description="Weight predicted correctly by the tree as it stood.")]
    correct_after: Annotated[float | None, Field(description="The same with the alternative that was considered.")]
    cost_before: Annotated[
        float | None, Field(description="If wrong answers have costs: their sum for the tree as it stood.")
    ]
    cost_after: Annotated[float | None, Field(description="The same with the alternative that was considered.")]
    errors: Annotated[
        float | None,
        Field(
            description="Confidence pruning: training weight that the node as a leaf would predict wrongly; if wrong "
            "answers have costs, each counts by its cost divided by the largest cost."
        ),
    ]
    cf: Annotated[float | None, Field(description="Confidence pruning: the confidence level.")]
    bound: Annotated[float | None, Field(description="Confidence pruning: the upper limit of the leaf's error rate.")]
    leaf_estimate: Annotated[float | None, Field(description="Confidence pruning: expected errors of the leaf.")]
    subtree_estimate: Annotated[float | None, Field(description="Confidence pruning: expected errors of the subtree.")]
    raised_estimate: Annotated[
        float | None,
        Field(description="Confidence pruning: expected errors of the heaviest branch in the node's place."),
    ]
    raised_node: Annotated[int | None, Field(description="Confidence pruning: the child on the heaviest branch.")]
    node_cost: Annotated[
        float | None, Field(description="Cost-complexity pruning: C(t), the cost of the node as a leaf.")
    ]
    branch_cost: Annotated[float | None, Field(description="Cost-complexity pruning: C(T_t), the cost of its subtree.")]
    link: Annotated[
        float | None,
        Field(description="Cost-complexity pruning: g(t), what the subtree saves per leaf beyond the first."),
    ]


class PruningEntry(Answer):
    """A pruning decision. The tree after it is the step with this number."""

    step: Annotated[int, Field(examples=[1])]
    node: Annotated[int, Field(description="The node that the decision is about.", examples=[9])]
    attribute: Annotated[
        str, Field(description="Attribute that the node tested before the decision.", examples=["texture"])
    ]
    method: Method
    decision: Annotated[
        Decision,
        Field(
            description="`cut`: the node became a leaf. `kept`: the node kept its subtree. `raised`: its heaviest "
            "branch took its place."
        ),
    ]
    before: Annotated[
        float,
        Field(
            description="The measure for the tree as it stood: accuracy, mean cost or mean squared error on the "
            "validation rows; for `collapse` the training weight predicted wrongly by the subtree, for `confidence` "
            "the expected errors of the subtree, for `cost_complexity` the cost of the whole tree."
        ),
    ]
    after: Annotated[
        float,
        Field(
            description="The measure with the alternative that was considered: the cut, the raised branch or (for "
            "`validate_splits`) the split."
        ),
    ]
    alpha: Annotated[
        float | None,
        Field(description="Cost-complexity pruning: the alpha from which on the node is a leaf."),
    ]
    evidence: PruningEvidence
    leaves: Annotated[int, Field(description="Number of leaves of the tree after the decision.")]
    depth: Annotated[int, Field(description="Depth of the tree after the decision.")]

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
    """How well the trees of one alpha predict rows that they were not grown from."""

    alpha: Annotated[float, Field(description="From this alpha up to the next one, the tree is that of `step`.")]
    step: int
    leaves: Annotated[int, Field(description="Number of leaves of the tree at that step.")]
    error: Annotated[
        float,
        Field(description="Error rate, mean cost or mean squared error on the held-out rows."),
    ]
    standard_error: Annotated[float, Field(description="Standard error of `error`.")]


class CrossValidationTable(Answer):
    """The cross-validation by which alpha was chosen, from the full tree to the root."""

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
    """Pruning decisions, in the order in which they were made."""
