"""Numbers, lists and conditions in plain words, each of bounded length."""

from collections.abc import Sequence

from core.tables.schema import Schema
from core.tables.suggestion import shortened
from core.tree.conditions import Condition, IsOneOf, condition_text, number_text

MOST_TOLD = 5  # items given of a list


def listed(parts: Sequence[str]) -> str:
    """`a, b and c`; of many, the first few and the number of the others."""
    if len(parts) > MOST_TOLD:
        return f"{', '.join(parts[:MOST_TOLD])} and {len(parts) - MOST_TOLD} more"
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def spoken(condition: Condition, schema: Schema) -> str:
    """The condition as one would say it; of many categories, the first few are named."""
    if isinstance(condition, IsOneOf) and len(condition.codes) > 1:
        attribute = schema[condition.column]
        names = [shortened(attribute.categories[code]) for code in condition.codes[:MOST_TOLD]]
        more = len(condition.codes) - MOST_TOLD
        told = f"{shortened(attribute.name)} in {{{', '.join(names)}{f' and {more} more' if more > 0 else ''}}}"
        return f"({told} or missing)" if condition.or_missing else told
    return shortened(condition_text(condition, schema))


def is_or_are(parts: Sequence[str]) -> str:
    """The verb for this many subjects."""
    return "is" if len(parts) == 1 else "are"


def amount_text(weight: float) -> str:
    """A sum of weights to two decimals, or to two significant digits if it is below 0.01."""
    return number_text(round(weight, 2)) if weight == 0 or weight >= 0.01 else f"{weight:.2g}"


def rounded_text(number: float) -> str:
    """A number to four significant digits."""
    return number_text(float(f"{number:.4g}"))


def percent_text(share: float) -> str:
    """A share in percent, to one decimal."""
    return "less than 0.1 %" if 0 < share < 0.0005 else f"{number_text(round(100 * share, 1))} %"


def probability_text(probability: float) -> str:
    """A probability to two decimals; 0 and 1 only if it is exactly that."""
    if probability in (0.0, 1.0):
        return number_text(probability)
    return "less than 0.01" if probability < 0.005 else "over 0.99" if probability >= 0.995 else f"{probability:.2f}"
