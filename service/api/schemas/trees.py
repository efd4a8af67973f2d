"""Trees as data: every node with its counts, its split and the shares of its branches."""

import math
from typing import Annotated, Any, Literal, assert_never

import numpy as np
from pydantic import Field
from typing_extensions import TypeAliasType

from core.growth.best_split import Candidate
from core.missing.surrogates import Surrogate
from core.splits import split as core
from core.splits.split import SplitKind
from core.tree.conditions import branch_condition, group_names
from core.tree.model import Model
from service.api.schemas.common import Answer
from service.api.schemas.conditions import Condition, Weights, condition_of, weights_of
from service.api.schemas.models import ModelStep, NumberByTarget, Task, tree_task_of
from service.serving.loaded_models import LoadedModel

Distribution = TypeAliasType(
    "Distribution",
    Annotated[dict[str, float], Field(description="Weight of each class.", examples=[{"是": 8, "否": 9}])],
)
CandidatesByNode = dict[int, list[Candidate]]


class SplitCandidate(Answer):
    """An attribute, or a weighted sum of several, that the node could have been split on."""

    attribute: Annotated[str, Field(description="Attribute of the split. For a linear test, the first one.")]
    gain: Annotated[
        float | None,
        Field(
            description="Decrease of impurity, times the share of weight whose value is known; `null` if statistical "
            "tests choose the attribute."
        ),
    ]
    score: Annotated[
        float | None,
        Field(description="Value by which attributes are compared; `null` if statistical tests choose the attribute."),
    ]
    threshold: Annotated[
        float | None, Field(description="For numbers: the best threshold; with QUEST, only for the chosen attribute.")
    ]
    values: Annotated[
        list[str] | None, Field(description="For categories in two groups: the values that go to the first child.")
    ]
    weights: Annotated[Weights | None, Field(description="For a linear test: the weights of the sum.")]
    known: Annotated[float, Field(description="The share of the node's weight whose value is known.")]
    n_thresholds: Annotated[int | None, Field(description="Number of thresholds tried.")]
    statistic: Annotated[
        float | None,
        Field(
            description="Statistic of the attribute's test, if statistical tests choose the attribute. QUEST: "
            "chi-squared for categorical attributes, F for ordered ones. CHAID: chi-squared for classification, F for "
            "regression."
        ),
    ]
    degrees_of_freedom: Annotated[
        list[float] | None,
        Field(
            description="Degrees of freedom of `statistic`: one number for chi-squared; between and within groups for "
            "F."
        ),
    ]
    p_value: Annotated[float | None, Field(description="p-value of `statistic`.")]
    log10_p_value: Annotated[
        float | None, Field(description="Base-10 logarithm of the p-value, which distinguishes even very small ones.")
    ]
    adjusted_p_value: Annotated[
        float | None,
        Field(
            description="Bonferroni-adjusted p-value, at most 1. QUEST: p times the number of attributes. CHAID: p "
            "times the number of ways to form that many groups."
        ),
    ]
    groups: Annotated[
        list[list[str | None]] | None,
        Field(
            description="CHAID: for each branch, its values that occur in the node, or its interval of numbers; `null` "
            "stands for missing."
        ),
    ]
    levene_statistic: Annotated[
        float | None,
        Field(description="QUEST, ordered attributes: F statistic of Levene's test for unequal variances."),
    ]
    levene_log10_p_value: Annotated[
        float | None, Field(description="Base-10 logarithm of the p-value of Levene's test.")
    ]


class NodeSplit(Answer):
    """The split of an inner node."""

    attribute: Annotated[str, Field(description="Attribute of the split. For a linear test, the first one.")]
    kind: SplitKind
    threshold: Annotated[
        float | None,
        Field(description="For numbers and weighted sums: values up to the threshold go to the first child."),
    ]
    weights: Annotated[Weights | None, Field(description="For a linear test: the weights of the sum.")]
    score: Annotated[
        float | None,
        Field(description="Value by which attributes are compared; `null` if statistical tests choose the attribute."),
    ]
    gain: Annotated[
        float | None, Field(description="Decrease of impurity; `null` if statistical tests choose the attribute.")
    ]
    candidates: Annotated[
        list[SplitCandidate] | None,
        Field(description="With `candidates=true`: every valid candidate; otherwise `null`."),
    ]


class SurrogateSplit(Answer):
    """A split on another attribute, which stands in if the value is missing."""

    attribute: str
    agreement: Annotated[float, Field(description="Share of weight that it sends the same way as the split.")]
    threshold: Annotated[
        float | None,
        Field(description="For numbers: values up to the threshold go to the first child, unless `reversed`."),
    ]
    values: Annotated[
        list[str] | None, Field(description="For other attributes: the values that go to the first child.")
    ]
    reversed: Annotated[
        bool, Field(description="For numbers: values up to the threshold go to the second child instead.")
    ]


Surrogates = Annotated[
    list[SurrogateSplit], Field(description="Tried in this order; the last resort is the child with the largest share.")
]
NodeId = Annotated[int, Field(description="Id of the node, the same in every step.")]
Test = Annotated[Condition | None, Field(description="Condition that leads here from the parent; `null` for the root.")]
Weight = Annotated[float, Field(description="Weight of the training rows that reach the node.")]
Split = Annotated[NodeSplit | None, Field(description="`null` for a leaf.")]
Shares = Annotated[
    list[float], Field(description="Share of a record's weight that each child gets if the value is not known.")
]


class ClassNode(Answer):
    """A node of a classification tree."""

    id: NodeId
    parent: int | None
    depth: int
    test: Test
    weight: Weight
    distribution: Distribution
    label: str
    impurity: float
    split: Split
    children: list[int]
    shares: Shares
    surrogates: Surrogates


class NumberNode(Answer):
    """A node of a regression tree."""

    id: NodeId
    parent: int | None
    depth: int
    test: Test
    weight: Weight
    mean: float
    spread: Annotated[float, Field(description="Standard deviation of the target.")]
    n_outputs: int
    impurity: float
    split: Split
    children: list[int]
    shares: Shares
    surrogates: Surrogates


class MultiOutputNode(Answer):
    """A node of a tree for several targets."""

    id: NodeId
    parent: int | None
    depth: int
    test: Test
    weight: Weight
    mean: Annotated[NumberByTarget, Field(description="Mean of each target.")]
    spread: Annotated[NumberByTarget, Field(description="Standard deviation of each target.")]
    n_outputs: Annotated[int, Field(description="Number of targets.")]
    impurity: Annotated[float, Field(description="Impurity, summed over the targets.")]
    split: Split
    children: list[int]
    shares: Shares
    surrogates: Surrogates


class ClassTree(Answer):
    """A tree that predicts a class."""

    model: ModelStep
    task: Literal["classification"]
    classes: list[str]
    n_nodes: int
    n_leaves: int
    depth: int
    nodes: Annotated[
        list[ClassNode], Field(description="Nodes, depth first and from left to right, beginning with the root.")
    ]


class NumberTree(Answer):
    """A tree that predicts a number."""

    model: ModelStep
    task: Literal["regression"]
    n_nodes: int
    n_leaves: int
    depth: int
    nodes: Annotated[
        list[NumberNode], Field(description="Nodes, depth first and from left to right, beginning with the root.")
    ]


class MultiOutputTree(Answer):
    """A tree that predicts a number for each of several targets."""

    model: ModelStep
    task: Literal["multi_output_regression"]
    targets: list[str]
    n_nodes: int
    n_leaves: int
    depth: int
    nodes: Annotated[
        list[MultiOutputNode], Field(description="Nodes, depth first and from left to right, beginning with the root.")
    ]


AnyTree = ClassTree | NumberTree | MultiOutputTree
Tree = TypeAliasType("Tree", Annotated[AnyTree, Field(discriminator="task")])


def tree_of(loaded: LoadedModel, step: int, candidates: CandidatesByNode | None) -> AnyTree:
    """The tree as of a step."""
    model, view = loaded.as_of(step), loaded.view(step)
    nodes = [(node, _node(model, node, bool(view.is_leaf[node]), candidates)) for node in view.nodes]
    shown: dict[str, Any] = {
        "model": ModelStep.of(loaded, step),
        "n_nodes": len(nodes),
        "n_leaves": len(view.leaves),
        "depth": view.max_depth,
    }
    match tree_task_of(model):
        case Task.CLASSIFICATION:
            classes, class_nodes = list(model.classes), [_class_node(model, *one) for one in nodes]
            return ClassTree(task="classification", classes=classes, nodes=class_nodes, **shown)
        case Task.REGRESSION:
            return NumberTree(task="regression", nodes=[_number_node(model, *one) for one in nodes], **shown)
        case Task.MULTI_OUTPUT_REGRESSION:
            targets, output_nodes = list(model.targets), [_multi_output_node(model, *one) for one in nodes]
            return MultiOutputTree(task="multi_output_regression", targets=targets, nodes=output_nodes, **shown)
        case other:
            assert_never(other)


def means_of(model: Model, node: int) -> list[float]:
    """What a node answers for each target."""
    return [float(mean) for mean in model.tree.answers[node]]


def spreads_of(model: Model, node: int) -> list[float]:
    """The standard deviation of each target among the samples that answer for a node."""
    return [math.sqrt(variance) for variance in model.tree.variances[int(model.tree.answering[node])]]


def by_target(model: Model, numbers: list[float]) -> dict[str, float]:
    """A number for each target, under its name."""
    return dict(zip(model.targets, numbers, strict=True))


def _class_node(model: Model, node: int, shared: dict[str, object]) -> ClassNode:
    weights = {name: float(weight) for name, weight in zip(model.classes, model.tree.values[node], strict=True)}
    return ClassNode.model_validate(
        shared | {"distribution": weights, "label": model.classes[int(model.tree.labels[node])]}
    )


def _number_node(model: Model, node: int, shared: dict[str, object]) -> NumberNode:
    (mean,), (spread,) = means_of(model, node), spreads_of(model, node)
    return NumberNode.model_validate(shared | {"mean": mean, "spread": spread, "n_outputs": 1})


def _multi_output_node(model: Model, node: int, shared: dict[str, object]) -> MultiOutputNode:
    return MultiOutputNode.model_validate(
        shared
        | {
            "mean": by_target(model, means_of(model, node)),
            "spread": by_target(model, spreads_of(model, node)),
            "n_outputs": len(model.targets),
        }
    )


def _node(model: Model, node: int, is_leaf: bool, candidates: CandidatesByNode | None) -> dict[str, object]:
    tree = model.tree
    parent = int(tree.parent[node])
    children = [] if is_leaf else tree.children(node)
    return {
        "id": node,
        "parent": None if parent < 0 else parent,
        "depth": int(tree.depth[node]),
        "test": None if parent < 0 else _test(model, parent, node),
        "weight": float(tree.weight[node]),
        "impurity": float(tree.impurity[node]),
        "split": None if is_leaf else _split(model, node, candidates),
        "children": children,
        "shares": [float(share) for share in tree.share[children]],
        "surrogates": [] if is_leaf else [_surrogate(model, one) for one in tree.surrogates_of(node)],
    }


def _test(model: Model, parent: int, node: int) -> object:
    split = model.tree.split(parent)
    return condition_of(
        branch_condition(split, int(model.tree.branch[node]), model.attributes[split.column]), model.attributes
    )


def _split(model: Model, node: int, candidates: CandidatesByNode | None) -> NodeSplit:
    split = model.tree.split(node)
    return NodeSplit(
        attribute=model.attributes[split.column].name,
        kind=split.kind,
        threshold=_threshold(model, split),
        weights=_weights(model, split),
        score=_figure(model.tree.score[node]),
        gain=_figure(model.tree.gain[node]),
        candidates=None if candidates is None else [_candidate(model, one) for one in candidates[node]],
    )


def _surrogate(model: Model, surrogate: Surrogate) -> SurrogateSplit:
    split, attribute = surrogate.split, model.attributes[surrogate.split.column]
    codes = np.arange(len(attribute.categories), dtype=np.int32)
    first = np.flatnonzero(surrogate.branches(codes) == 0)
    return SurrogateSplit(
        attribute=attribute.name,
        agreement=surrogate.agreement,
        threshold=_threshold(model, split),
        values=None if attribute.is_numeric else [attribute.categories[code] for code in first],
        reversed=attribute.is_numeric and surrogate.is_reversed,
    )


def _candidate(model: Model, candidate: Candidate) -> SplitCandidate:
    split, test, levene = candidate.split, candidate.significance, candidate.levene
    return SplitCandidate(
        attribute=model.attributes[split.column].name,
        gain=_figure(candidate.gain),
        score=_figure(candidate.score),
        threshold=_threshold(model, split),
        weights=_weights(model, split),
        values=_first_values(model, split),
        known=candidate.known,
        n_thresholds=candidate.n_thresholds,
        statistic=None if test is None else test.statistic,
        degrees_of_freedom=None if test is None else list(test.degrees_of_freedom),
        p_value=None if test is None else test.p_value,
        log10_p_value=None if test is None else test.log10_p_value,
        adjusted_p_value=candidate.adjusted_p_value,
        groups=_groups(model, candidate),
        levene_statistic=None if levene is None else levene.statistic,
        levene_log10_p_value=None if levene is None else levene.log10_p_value,
    )


def _groups(model: Model, candidate: Candidate) -> list[list[str | None]] | None:
    """CHAID's groups, as names of values."""
    split, attribute = candidate.split, model.attributes[candidate.split.column]
    return None if candidate.groups is None else [group_names(split, group, attribute) for group in candidate.groups]


def _figure(value: float) -> float | None:
    """A figure of a split; None for NaN, which means that the split has none."""
    return None if math.isnan(value) else float(value)


def _first_values(model: Model, split: core.Split) -> list[str] | None:
    """The values of the first branch of a binary split of categories; None for others, or if not worked out."""
    if split.kind not in (SplitKind.GROUPS, SplitKind.ONE_VS_REST) or not split.branch_of:
        return None
    categories = model.attributes[split.column].categories
    return [name for name, branch in zip(categories, split.branch_of, strict=True) if branch == 0]


def _threshold(model: Model, split: core.Split) -> float | None:
    """The threshold of a split of numbers; None for intervals, and for ordinals, which show values instead."""
    is_told = bool(split.terms) or model.attributes[split.column].is_numeric
    return split.threshold if is_told and not math.isnan(split.threshold) else None


def _weights(model: Model, split: core.Split) -> dict[str, float] | None:
    return weights_of(split.terms, model.attributes) if split.terms else None
