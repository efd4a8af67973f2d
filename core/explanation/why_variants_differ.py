"""Why two variants answer a record differently, in a sentence."""

from typing import assert_never

from core.explanation.comparison import Parting, PartingKind, Route
from core.explanation.wording import listed, spoken
from core.prediction.routing import MissingPolicy
from core.tables.suggestion import quoted, shortened
from core.tree.conditions import Condition

TREATMENTS = {
    MissingPolicy.WEIGHTED: "goes down every branch by its weight",
    MissingPolicy.LAST_NODE: "answers from there",
    MissingPolicy.MAJORITY_BRANCH: "takes the main branch",
    MissingPolicy.SURROGATE: "follows a surrogate",
}


def text_of_difference(parting: Parting, first: Route, second: Route, names: tuple[str, str]) -> str:
    """Where and why the routes part; `names` are those of the variants."""
    one, other = map(quoted, names)
    conditions = [_told(condition, first) for condition in first.conditions(parting.first)]
    both = "both" if conditions else "Both"
    match parting.kind:
        case PartingKind.CUT:
            ends_first = parting.first in first.ends
            ended, node, short, long = (
                (first, parting.first, one, other) if ends_first else (second, parting.second, other, one)
            )
            asked = f"{long} asks for {attribute_tested(parting, first, second)}, where {short} answers"
            why = f"{asked}: step {ended.cut_at(node)} of its pruning cut node {node}"
        case PartingKind.TEST:
            why = f"{one} {_goes(first, parting.first)}, and {other} {_goes(second, parting.second)}"
        case PartingKind.MISSING:
            missing = f"{attribute_tested(parting, first, second)} is asked for and not known"
            why = f"{missing}: {one} {_treats(first)}, and {other} {_treats(second)}"
        case PartingKind.SHARES:
            missing = f"{attribute_tested(parting, first, second)} is asked for and not known"
            why = f"{missing}, and the training data divides otherwise"
        case PartingKind.FIGURES:
            why = f"{both} answer, from other training samples"
        case PartingKind.COSTS:
            why = f"{both} come to the same figures, but wrong answers have other costs"
        case other_kind:
            assert_never(other_kind)
    return f"After {listed(conditions)} {why}." if conditions else f"{why}."


def attribute_tested(parting: Parting, first: Route, second: Route) -> str:
    """The attribute that is tested where two routes part."""
    route, node = (second, parting.second) if first.view.is_leaf[parting.first] else (first, parting.first)
    return _asked(route, node)


def _asked(route: Route, node: int) -> str:
    return shortened(" and ".join(route.model.attributes[column].name for column in route.split(node).columns))


def _told(condition: Condition, route: Route) -> str:
    return spoken(condition, route.model.attributes)


def _goes(route: Route, node: int) -> str:
    taken = route.taken(node)
    if taken is not None:
        return f"goes on with {_told(taken, route)}"
    return "answers" if route.view.is_leaf[node] else f"stops at {_asked(route, node)}, which is not known"


def _treats(route: Route) -> str:
    return "fills it in" if route.fills else TREATMENTS[route.policy]
