"""Rules as text, one per line."""

from collections.abc import Sequence

from core.rules.extraction import Rule, rule_text
from core.tree.conditions import number_text
from core.tree.model import Model


def conclusion(model: Model, rule: Rule) -> str:
    """What follows from a rule: its class, or its numbers in full; `model` is as of the rule's step."""
    if rule.label is not None:
        return model.classes[rule.label]
    return model.number_words(number_text(float(mean)) for mean in model.tree.answers[rule.leaf])


def whole_text(model: Model, rule: Rule) -> str:
    """The rule as a sentence."""
    return rule_text(rule, model.attributes, conclusion(model, rule))


def rules_text(model: Model, rules: Sequence[Rule], default: int | None) -> str:
    """All rules, and the default as the last line if there is one."""
    lines = [whole_text(model, rule) for rule in rules]
    if default is not None:
        lines.append(f"{'otherwise' if rules else 'always'} {model.classes[default]}")
    return "".join(f"{line}\n" for line in lines)
