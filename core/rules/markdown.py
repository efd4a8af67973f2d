"""Rules as a Markdown table."""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.rules.evidence import class_evidence, number_evidence
from core.rules.extraction import Rule
from core.rules.text import whole_text
from core.tables.schema import Attribute, Schema
from core.tables.target import Task
from core.tree.conditions import number_text
from core.tree.model import Model

# Characters with a meaning in Markdown, or in HTML inside it.
SPECIAL = re.compile(r"[\\`*_{}\[\]<>()#!|~&$]")
LINE_ENDS = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


def rules_markdown(model: Model, rules: Sequence[Rule], default: int | None) -> str:
    """A table with a row for each rule and its figures; `model` is as of the rules' step."""
    inert = replace(
        model,
        classes=tuple(map(escaped, model.classes)),
        attributes=Schema(tuple(_escaped_attribute(attribute) for attribute in model.attributes)),
        target=escaped(model.target) if isinstance(model.target, str) else tuple(map(escaped, model.target)),
    )
    rows = _class_rows(inert, rules) if model.task is Task.CLASSIFICATION else _number_rows(inert, rules)
    if default is not None:
        rows.append([f"{'otherwise' if rules else 'always'} {inert.classes[default]}", *[""] * (len(rows[0]) - 1)])
    head, *body = rows
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *body])


def escaped(text: str) -> str:
    """The text with Markdown's special characters escaped; line ends are shown as ↵."""
    return LINE_ENDS.sub("↵", SPECIAL.sub(r"\\\g<0>", text))


def _escaped_attribute(attribute: Attribute) -> Attribute:
    return Attribute(escaped(attribute.name), attribute.kind, tuple(map(escaped, attribute.categories)))


def _class_rows(model: Model, rules: Sequence[Rule]) -> list[list[str]]:
    return [
        ["rule", "support", "confidence", "95 %", "lift"],
        *(
            [
                whole_text(model, rule),
                _short(rule.support),
                _short(found.confidence),
                _between(*found.interval),
                "" if found.lift is None else _short(found.lift),
            ]
            for rule, found in zip(rules, class_evidence(model.tree, rules), strict=True)
        ),
    ]


def _number_rows(model: Model, rules: Sequence[Rule]) -> list[list[str]]:
    return [
        ["rule", "support", "95 %", "spread"],
        *(
            [
                whole_text(model, rule),
                _short(rule.support),
                "" if found.intervals is None else model.number_words(_between(*ends) for ends in found.intervals),
                model.number_words(map(_short, found.spreads)),
            ]
            for rule, found in zip(rules, number_evidence(model.tree, rules), strict=True)
        ),
    ]


def _between(low: float, high: float) -> str:
    return f"{_short(low)} to {_short(high)}"


def _short(number: float) -> str:
    """The number with four significant digits."""
    return number_text(float(f"{number:.4g}"))
