"""Rules as the source of a Python function without dependencies.

Everything that comes from data is written by `repr`, so it can only be a string or number literal.
"""

import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from core.arithmetic.ties import TIE
from core.rules.simplification import OrderedRules
from core.rules.text import conclusion
from core.splits.split import Split, SplitKind, Term
from core.tables.schema import Schema
from core.tables.target import Task
from core.tree.conditions import Above, AtMost, Between, Condition, IsKnown, IsOneOf, Linear
from core.tree.model import Model
from core.tree.tree import TreeView

TREE = '''"""A decision tree made by Niwaki, as a function: predict({{"attribute": value, ...}}).

Values are numbers, or texts for categories. A value is missing if it is None, NaN, left out, or a category that the
tree does not know; the record then takes the branch for missing values, or where there is none goes down every branch
with the branch's share of its weight.
"""

# node: (attribute, its branches, the branch of missing values or None, the nodes below, their shares). Branches are
# cuts of a number, ascending, each the highest that still goes left of it, or the branch of each category.
TESTS = {{
{tests}}}

# leaf: {what}
ANSWERS = {{
{answers}}}

NAMES = {names}
{costs}

def predict(record):
    """The answer for a record."""
    total = [0.0] * len(NAMES)
    waiting = [(0, 1.0)]
    while waiting:
        node, weight = waiting.pop()
        if node in ANSWERS:
            total = [so_far + weight * part for so_far, part in zip(total, ANSWERS[node])]
            continue
        attribute, branches, missing, below, shares = TESTS[node]
        branch = branch_of({value}, branches, missing)
        if branch is not None:
            waiting.append((below[branch], weight))
            continue
        for child, share in reversed(list(zip(below, shares))):
            if weight * share > 0:
                waiting.append((child, weight * share))
    {result}


def branch_of(value, branches, missing):
    """The branch of a value; None where it has none."""
    if value is None or value != value:
        return missing
    if isinstance(branches, dict):
        return branches.get(text_of(value), missing)
    return sum(value > cut for cut in branches)

{label}
{sums}{text}'''

TEXT = '''
def text_of(value):
    """A category as text: 3 and 3.0 are "3", True is "true"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(int(value)) if value == int(value) else repr(value)
    return value
'''

SUMS = '''
def value_of(record, attribute):
    """The value of an attribute, or of a sum: a list of attributes, each with a weight, or one for every category."""
    if not isinstance(attribute, list):
        return record.get(attribute)
    total = 0.0
    for name, weight in attribute:
        value = record.get(name)
        if value is None or value != value:
            return None
        part = weight.get(text_of(value)) if isinstance(weight, dict) else weight * value
        if part is None:
            return None
        total += part
    return total

'''

LABEL = f'''
def label_of(shares):
    """The class of largest share; of those that are as large, the first."""
    return next(name for name, share in zip(NAMES, shares) if share >= max(shares) - {TIE!r})
'''

CHEAPEST_LABEL = f'''
def label_of(shares):
    """The class that is expected to cost least; of those that are as cheap, the first."""
    expected = [sum(share * row[place] for share, row in zip(shares, COSTS)) for place in range(len(NAMES))]
    tolerance = {TIE!r} * max(1.0, max(map(max, COSTS)))
    return next(name for name, cost in zip(NAMES, expected) if cost <= min(expected) + tolerance)
'''

ORDERED = '''"""Rules made by Niwaki, as a function: predict({{"attribute": value, ...}}).

Values are numbers, or texts for categories. The first rule answers of which all conditions hold, else the default. A
value that is None, NaN or left out satisfies no condition, unless the condition says so.
"""

# (conditions, class). A condition is an attribute with the categories it may have; or in a dictionary, as "not", with
# those it may not have, where a missing value is as good as any other; or with the number it must be above, the one it
# may be at most (None where there is no such end), and whether it may be missing.
RULES = [
{rules}]

DEFAULT = {default}


def predict(record):
    """The answer for a record."""
    for conditions, label in RULES:
        if all(holds({value}, wanted) for attribute, wanted in conditions):
            return {{"label": label}}
    return {{"label": DEFAULT}}


def holds(value, wanted):
    """Whether a value fits."""
    is_missing = value is None or value != value
    if isinstance(wanted, dict):
        return is_missing or text_of(value) not in wanted["not"]
    if isinstance(wanted, list):
        return not is_missing and text_of(value) in wanted
    above, at_most, or_missing = wanted
    if is_missing:
        return or_missing
    return (above is None or value > above) and (at_most is None or value <= at_most)

{sums}{text}'''


def tree_python(model: Model, view: TreeView) -> str:
    """The tree as a function that also handles missing values, by weights; `model` is as of the tree's step."""
    tree, leaves = view.tree, set(view.leaves)
    inner = [node for node in view.nodes if node not in leaves]
    is_class, costs = model.task is Task.CLASSIFICATION, tree.costs
    return TREE.format(
        tests=_entries((node, _test(view, node, model.attributes)) for node in inner),
        answers=_entries((leaf, tuple(tree.answers[leaf].tolist())) for leaf in view.leaves),
        what="the share of each class" if is_class else "the mean of each target",
        names=repr(list(model.classes if is_class else model.targets)),
        costs="" if costs is None else f"COSTS = {costs.tolist()!r}  # of answering the second class to the first\n",
        result=_result(model),
        label="" if not is_class else LABEL if costs is None else CHEAPEST_LABEL,
        text=TEXT,
        **_reading(tree.has_linear_tests),
    )


def ordered_python(model: Model, ordered: OrderedRules) -> str:
    """Simplified rules as a function."""
    rules = [
        ([_wanted(c, model.attributes) for c in rule.conditions], conclusion(model, rule)) for rule in ordered.rules
    ]
    return ORDERED.format(
        rules="".join(f"    {rule!r},\n" for rule in rules),
        default=repr(model.classes[ordered.default]),
        text=TEXT,
        **_reading(any(isinstance(one, Linear) for rule in ordered.rules for one in rule.conditions)),
    )


def _reading(has_sums: bool) -> dict[str, str]:
    """The template's parts that read the value of a test."""
    value = "value_of(record, attribute)" if has_sums else "record.get(attribute)"
    return {"value": value, "sums": SUMS if has_sums else ""}


def _entries(entries: Iterable[tuple[int, object]]) -> str:
    return "".join(f"    {node}: {value!r},\n" for node, value in entries)


def _test(view: TreeView, node: int, schema: Schema) -> tuple[object, ...]:
    split, children = view.tree.split(node), view.tree.children(node)
    attribute = schema[split.column]
    if split.terms:
        asked = _sum(split.terms, schema)
        return asked, (split.threshold,), None, tuple(children), tuple(view.tree.share[children].tolist())
    branches = _cuts(split) if attribute.is_numeric else _branch_by_category(split, attribute.categories)
    missing = split.missing_branch if split.missing_branch >= 0 else None
    return attribute.name, branches, missing, tuple(children), tuple(view.tree.share[children].tolist())


def _sum(terms: Sequence[Term], schema: Schema) -> list[tuple[str, float | dict[str, float]]]:
    """Each attribute of a sum with its weight, or with a weight for every category."""
    weights: dict[str, float | dict[str, float]] = {}
    for term in terms:
        attribute = schema[term.column]
        if term.code < 0:
            weights[attribute.name] = term.weight
        else:
            of_all = weights.setdefault(attribute.name, dict.fromkeys(attribute.categories, 0.0))
            assert isinstance(of_all, dict)
            of_all[attribute.categories[term.code]] = term.weight
    return list(weights.items())


def _cuts(split: Split) -> tuple[float, ...]:
    """The cuts between the branches of a numeric split; of merged intervals, only cuts between different branches."""
    if split.kind is SplitKind.MERGED_INTERVALS:
        neighbours = pairwise(split.branch_of[:-1])
        return tuple(cut for cut, (one, other) in zip(split.cuts, neighbours, strict=True) if one != other)
    return (split.threshold,) if split.kind is SplitKind.THRESHOLD else split.cuts


def _branch_by_category(split: Split, categories: tuple[str, ...]) -> dict[str, int]:
    """The branch of each category that has one; ordinal categories are compared by their position."""
    positions = np.arange(len(categories), dtype=np.int32)
    return {
        name: branch for name, branch in zip(categories, split.branches(positions).tolist(), strict=True) if branch >= 0
    }


def _result(model: Model) -> str:
    if model.task is Task.CLASSIFICATION:
        return 'return {"label": label_of(total), "probabilities": dict(zip(NAMES, total))}'
    if isinstance(model.target, str):
        return 'return {"mean": total[0]}'
    return 'return {"mean": dict(zip(NAMES, total))}'


Wanted = list[str] | dict[str, list[str]] | tuple[float | None, float | None, bool]


def _wanted(condition: Condition, schema: Schema) -> tuple[object, Wanted]:
    if isinstance(condition, Linear):
        ends = (condition.threshold, None) if condition.is_above else (None, condition.threshold)
        return _sum(condition.terms, schema), (*ends, False)
    attribute, or_missing = schema[condition.column], condition.or_missing
    match condition:
        case IsOneOf(_, (), True) if attribute.is_numeric:
            return attribute.name, (sys.float_info.max, None, True)  # no number is above the largest
        case IsOneOf(_, codes, True):
            others = [name for code, name in enumerate(attribute.categories) if code not in set(codes)]
            return attribute.name, {"not": others}
        case IsOneOf(_, codes):
            return attribute.name, [attribute.categories[code] for code in codes]
        case IsKnown():
            return attribute.name, (None, None, or_missing)
        case AtMost(_, threshold):
            return attribute.name, (None, threshold, or_missing)
        case Above(_, threshold):
            return attribute.name, (threshold, None, or_missing)
        case Between(_, above, at_most):
            return attribute.name, (above, at_most, or_missing)
