"""The named kinds of committees: what they draw, and which methods grow their trees."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.config.as_json import COMMITTEE_OPTIONS, algorithm_to_json, committee_from_json, isolation_from_json
from core.config.options import (
    ISOLATION_TREE,
    Algorithm,
    ChaidMissing,
    Committee,
    Features,
    FeatureShare,
    Isolation,
    MissingStrategy,
    NoPruning,
    NumericKind,
    Pruning,
)
from core.config.presets import PRESETS, pruning_for, resolve
from core.tables.errors import Fault, InvalidConfig, raise_any
from core.tables.suggestion import quoted
from core.tables.target import Task

Ensemble = Committee | Isolation
Overrides = Mapping[str, Any]

OWN_OPTIONS = (*COMMITTEE_OPTIONS, "base", "imbalance", "members")
DEFAULT_BASE = "cart"
NO_PRUNING_HINT = 'use {"kind": "none"}, or keep trees small with stopping'


@dataclass(frozen=True, slots=True)
class CommitteePreset:
    """What a committee draws by default, and whether its trees draw their cuts too."""

    title: str
    max_features: Features
    bootstrap: bool = True
    draws_cuts: bool = False


COMMITTEES: dict[str, CommitteePreset] = {
    "bagging": CommitteePreset("Bagging", FeatureShare.ALL),
    "random_forest": CommitteePreset("Random forest", FeatureShare.SQRT),
    "extra_trees": CommitteePreset("Extra-trees", FeatureShare.SQRT, bootstrap=False, draws_cuts=True),
}


def resolve_method(kind: str, overrides: Overrides, task: Task) -> tuple[Algorithm, Ensemble | None]:
    """The method of a tree (of the first one in an ensemble), and the ensemble if there is one."""
    if kind in PRESETS:
        return resolve(kind, overrides, task), None
    if kind == Isolation.kind:
        return ISOLATION_TREE, isolation_from_json(overrides)
    preset, members = COMMITTEES[kind], members_of(kind, overrides, task)
    drawn = {"max_features": preset.max_features, "bootstrap": preset.bootstrap}
    return members[0], committee_from_json({**drawn, **overrides, "kind": kind}, members)


def pruning_of(
    algorithm: Algorithm, ensemble: Ensemble | None, said: Mapping[str, Any] | None, *, has_validation: bool
) -> Pruning:
    """`pruning_for` one tree; the trees of an ensemble are not pruned, and a request for it is refused."""
    if ensemble is None:
        return pruning_for(algorithm, said, has_validation=has_validation)
    if said is not None and said["kind"] != NoPruning.kind:
        path, detail = ("pruning", "kind"), f"the trees of {ensemble.kind} stay as they are grown"
        if isinstance(ensemble, Isolation):
            raise InvalidConfig(Fault(detail, path, 'leave pruning out, or use {"kind": "none"}'))
        raise InvalidConfig(Fault(f"{detail}: what one gets wrong, the others make up for", path, NO_PRUNING_HINT))
    return NoPruning()


def members_of(kind: str, overrides: Overrides, task: Task) -> tuple[Algorithm, ...]:
    """The methods of a committee's trees: `base` with the options beside it, or each member with its own."""
    shared = {name: value for name, value in overrides.items() if name not in OWN_OPTIONS}
    if "members" in overrides:
        raise_any(InvalidConfig, misplaced_option_faults(overrides, shared))
        said = [(member["kind"], {k: v for k, v in member.items() if k != "kind"}) for member in overrides["members"]]
        return tuple(_member_at(index, kind, *one, task) for index, one in enumerate(said))
    base = overrides.get("base", DEFAULT_BASE)
    kinds = [base] if isinstance(base, str) else list(base)
    raise_any(InvalidConfig, unused_option_faults(shared, kinds, task))
    return tuple(_member(kind, name, options_for(name, shared, task), task) for name in kinds)


def options_of(kind: str, task: Task) -> tuple[str, ...]:
    """Which options a method has, by their names in JSON; a committee's trees are not collapsed."""
    return tuple(name for name in algorithm_to_json(resolve(kind, {}, task)) if name not in ("kind", "collapse"))


def options_for(kind: str, shared: Overrides, task: Task) -> dict[str, Any]:
    """The options shared by a committee's methods that this method has."""
    return {name: value for name, value in shared.items() if has_option(kind, name, value, task)}


def has_option(kind: str, name: str, value: Any, task: Task) -> bool:
    """Whether a method has the option; some missing-value strategies are CHAID's alone, others not CHAID's."""
    if name == "missing":
        return value in tuple(ChaidMissing if kind == "chaid" else MissingStrategy)
    return name in options_of(kind, task)


def unused_option_faults(shared: Overrides, kinds: Sequence[str], task: Task) -> Iterator[Fault]:
    """Options that none of the methods has."""
    for name, value in shared.items():
        if any(has_option(kind, name, value, task) for kind in kinds):
            continue
        if name == "collapse":
            yield Fault("the trees of a committee are not collapsed", ("algorithm", name), "leave it out")
            continue
        able = [kind for kind in PRESETS if has_option(kind, name, value, task)]
        asked = f"{name} {quoted(value)}" if name == "missing" else name
        detail = f"{asked} is not an option of {' or '.join(dict.fromkeys(kinds))}"
        yield Fault(detail, ("algorithm", name), f"leave it out, or use a base that has it: {', '.join(able)}")


def misplaced_option_faults(overrides: Overrides, shared: Overrides) -> Iterator[Fault]:
    """Options beside the list of members that belong to each member."""
    for name in shared:
        yield Fault("members are listed, and each has its own options", ("algorithm", name), "say it in each member")
    base, kinds = overrides.get("base"), [member["kind"] for member in overrides["members"]]
    if base is not None and kinds != ([base] if isinstance(base, str) else list(base)):
        detail = f"the listed members are of the kinds {', '.join(kinds)}"
        yield Fault(detail, ("algorithm", "base"), "leave base out, or members")


def _member_at(index: int, committee: str, kind: str, said: Overrides, task: Task) -> Algorithm:
    try:
        return _member(committee, kind, said, task)
    except InvalidConfig as error:
        raise InvalidConfig(*(fault_of_member(index, fault) for fault in error.faults)) from error


def fault_of_member(index: int, fault: Fault) -> Fault:
    """A fault of a method with its path in the list of members."""
    if fault.path[:1] != ("algorithm",):
        return fault
    return replace(fault, path=("algorithm", "members", index, *fault.path[1:]))


def _member(committee: str, kind: str, said: Overrides, task: Task) -> Algorithm:
    """A preset as a member: its cuts are drawn where the committee draws them, and it is not collapsed."""
    if said.get("collapse"):
        detail = "the trees of a committee are not collapsed"
        raise InvalidConfig(Fault(detail, ("algorithm", "collapse"), "leave it out"))
    parts = dict(said)
    if COMMITTEES[committee].draws_cuts and "numeric" in options_of(kind, task):
        numeric = said.get("numeric", {"kind": NumericKind.RANDOM})
        parts["numeric"] = {"draws": 1, **numeric} if numeric["kind"] == NumericKind.RANDOM else numeric
    return replace(resolve(kind, parts, task), collapse=False)
