"""Rules as SQL expressions for SQLite and Postgres, to be put between SELECT and FROM.

Names and texts are quoted as the SQL standard says, so data can only be a name or a text. Thresholds and predicted
numbers are written such that both databases read back the same float64.
"""

import math
from collections.abc import Iterable, Sequence

from core.rules.extraction import Rule
from core.splits.split import Split, Term
from core.tables.schema import Attribute, Schema
from core.tables.target import Task
from core.tree.conditions import (
    Above,
    AtMost,
    Between,
    Condition,
    IsKnown,
    IsOneOf,
    Linear,
    OnOneAttribute,
    branch_condition,
)
from core.tree.model import Model
from core.tree.tree import TreeView

NEVER, ALWAYS = "1 = 0", "1 = 1"
MOST_TERMS = 50  # of a sum; SQLite allows expressions a thousand deep, and parses a long sum as a deep one
SURE_DIGITS, SMALLEST, LARGEST = 15, 1e-7, 1e15  # of decimals that every parser rounds correctly to float64
LARGEST_POWER = 62  # the largest power of two that fits a signed 64-bit integer


def case_sql(model: Model, rules: Sequence[Rule], default: int | None) -> str:
    """A CASE for each target, under its name; `model` is as of the rules' step.

    Without a default, it is NULL if no rule is known to hold because a deciding value is NULL.
    """
    return ",\n".join(
        f"{_case(model, rules, default, output)} AS {identifier(target)}" for output, target in enumerate(model.targets)
    )


def _case(model: Model, rules: Sequence[Rule], default: int | None, output: int) -> str:
    lines = [
        f"  WHEN {conditions_sql(rule.conditions, model.attributes)} THEN {_answer(model, rule, output)}\n"
        for rule in rules
    ]
    if default is None:
        return f"CASE\n{''.join(lines)}END"
    otherwise = literal(model.classes[default])
    return f"CASE\n{''.join(lines)}  ELSE {otherwise}\nEND" if lines else otherwise


def _answer(model: Model, rule: Rule, output: int) -> str:
    if rule.label is not None:
        return literal(model.classes[rule.label])
    return as_float(float(model.tree.answers[rule.leaf][output]))


def weighted_sql(model: Model, view: TreeView) -> str:
    """The probability of each class, or the mean of each target, also if values are NULL; right to 12 digits.

    Every leaf adds its answer times a weight, the product of a factor for each test on its path: 1 if the test holds, 0
    if not, and r_v if the value is NULL or a category that the model does not know.
    """
    is_class = model.task is Task.CLASSIFICATION
    names = [f"P({name})" for name in model.classes] if is_class else model.targets
    weights = {leaf: _weight(view, leaf, model.attributes) for leaf in view.leaves}
    return ",\n".join(f"{_weighted(view, weights, output)} AS {identifier(name)}" for output, name in enumerate(names))


def _weighted(view: TreeView, weights: dict[int, list[str] | None], output: int) -> str:
    terms = [
        " * ".join([f"CAST({answer!r} AS DOUBLE PRECISION)", *tests])
        for leaf, tests in weights.items()
        if tests is not None and (answer := float(view.tree.answers[leaf][output])) != 0
    ]
    return summed(terms) if terms else "CAST(0.0 AS DOUBLE PRECISION)"


def summed(terms: Sequence[str]) -> str:
    """The sum of the terms, in nested groups if there are very many."""
    while len(terms) > MOST_TERMS:
        terms = [summed(terms[start : start + MOST_TERMS]) for start in range(0, len(terms), MOST_TERMS)]
    return "(" + "\n  + ".join(terms) + ")"


def _weight(view: TreeView, leaf: int, schema: Schema) -> list[str] | None:
    """The factors of a leaf's weight, from the root down; None if it is always 0."""
    tree, factors, node = view.tree, list[str](), leaf
    while node > 0:
        parent = int(tree.parent[node])
        factor = _factor(tree.split(parent), int(tree.branch[node]), float(tree.share[node]), schema)
        if factor is None:
            return None
        factors.append(factor)
        node = parent
    return factors[::-1]


def _factor(split: Split, branch: int, share: float, schema: Schema) -> str | None:
    attribute = schema[split.column]
    holds = conditions_sql([branch_condition(split, branch, attribute)], schema)
    others = [branch_condition(split, other, attribute) for other in range(split.n_branches) if other != branch]
    if split.missing_branch >= 0:
        return f"CASE WHEN {holds} THEN 1 ELSE 0 END"
    if share == 0:
        return None if holds == NEVER else f"CASE WHEN {holds} THEN 1 ELSE 0 END"
    if split.terms:
        fails = conditions_sql(others, schema)
    elif attribute.is_numeric:
        fails = f"{identifier(attribute.name)} IS NOT NULL"
    else:
        codes = sorted({code for one in others if isinstance(one, IsOneOf) for code in one.codes})
        fails = condition_sql(IsOneOf(split.column, tuple(codes)), attribute)
    return f"CASE WHEN {holds} THEN 1 WHEN {fails} THEN 0 ELSE {share!r} END"


def conditions_sql(conditions: Iterable[Condition], schema: Schema) -> str:
    """The conjunction of the conditions."""
    every = (
        linear_sql(condition, schema)
        if isinstance(condition, Linear)
        else condition_sql(condition, schema[condition.column])
        for condition in conditions
    )
    return " AND ".join(every) or ALWAYS


def linear_sql(condition: Linear, schema: Schema) -> str:
    """A condition on a weighted sum; NULL if a value is NULL, or a category that the model does not know."""
    terms = " + ".join(_term(term, schema[term.column]) for term in condition.terms)
    return f"{terms} {condition.side} {number(condition.threshold)}"


def _term(term: Term, attribute: Attribute) -> str:
    name = identifier(attribute.name)
    if term.code < 0:
        return f"{as_float(term.weight)} * {name}"
    categories = [literal(category) for category in attribute.categories]
    is_it, known = f"{name} = {categories[term.code]}", f"{name} IN ({', '.join(categories)})"
    return f"CASE WHEN {is_it} THEN {as_float(term.weight)} WHEN {known} THEN 0.0 END"


def condition_sql(condition: OnOneAttribute, attribute: Attribute) -> str:
    """A condition; NULL and unknown categories satisfy only conditions that include missing values."""
    name = identifier(attribute.name)
    match condition:
        case IsOneOf(_, codes, True) if not attribute.is_numeric:
            others = [literal(other) for code, other in enumerate(attribute.categories) if code not in set(codes)]
            return f"({name} IS NULL OR {name} NOT IN ({', '.join(others)}))" if others else ALWAYS
        case IsOneOf(_, (), True):
            return f"{name} IS NULL"
        case _:
            known = known_sql(condition, attribute)
            return f"({known} OR {name} IS NULL)" if condition.or_missing else known


def known_sql(condition: OnOneAttribute, attribute: Attribute) -> str:
    """A condition on a value that is known."""
    name = identifier(attribute.name)
    match condition:
        case IsKnown():
            return f"{name} IS NOT NULL"
        case AtMost(_, threshold):
            return f"{name} <= {number(threshold)}"
        case Above(_, threshold):
            return f"{name} > {number(threshold)}"
        case Between(_, above, at_most):
            return f"{name} > {number(above)} AND {name} <= {number(at_most)}"
        case IsOneOf(_, ()):
            return NEVER
        case IsOneOf(_, (code,)):
            return f"{name} = {literal(attribute.categories[code])}"
        case IsOneOf(_, codes):
            return f"{name} IN ({', '.join(literal(attribute.categories[code]) for code in codes)})"


def identifier(name: str) -> str:
    """A quoted column name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A quoted text."""
    return "'" + text.replace("'", "''") + "'"


def as_float(value: float) -> str:
    """A number of type float64 in Postgres too, where a plain decimal is not."""
    return f"CAST({value!r} AS DOUBLE PRECISION)" if _is_plain(value) else number(value)


def number(value: float) -> str:
    """A decimal that reads back as the same number, or powers of two where SQLite may read a decimal as another."""
    if _is_plain(value):
        return repr(value)
    mantissa, exponent = math.frexp(value)
    whole, power = int(mantissa * 2**53), exponent - 53
    sign, factors = "*" if power > 0 else "/", list[str]()
    while power:
        step = min(abs(power), LARGEST_POWER)
        factors.append(f" {sign} CAST({2**step} AS DOUBLE PRECISION)")
        power += -step if power > 0 else step
    return f"(CAST({whole} AS DOUBLE PRECISION){''.join(factors)})"


def _is_plain(value: float) -> bool:
    digits = repr(abs(value)).partition("e")[0].replace(".", "").strip("0")
    return value == 0 or (len(digits) <= SURE_DIGITS and SMALLEST <= abs(value) <= LARGEST)
