"""What must hold of a committee or an isolation forest, beyond what must hold of each of its trees."""

from collections.abc import Iterator
from dataclasses import replace

from core.config.committee_presets import COMMITTEES
from core.config.options import Committee, Isolation, MajorityParts, NumericKind, TrainingConfig
from core.config.presets import PRESETS
from core.tables.errors import Fault
from core.tables.summary import ColumnSummary
from core.tables.target import Task

NO_TARGET = Fault(
    'a training needs "target"', ("target",), "name the column to predict; only isolation_forest predicts none"
)


def committee_faults(committee: Committee, task: Task, target: ColumnSummary) -> list[Fault]:
    """Every fault of a committee as such; `target` is the (first) column to predict."""
    return [
        *turn_faults(committee),
        *cut_faults(committee),
        *same_missing_faults(committee),
        *gate_faults(committee),
        *imbalance_faults(committee, task, target),
    ]


def of_members(fault: Fault) -> Fault:
    """A fault of methods that cannot be combined, with the path of the list of members."""
    is_of_methods = fault.path[1] in ("base", "missing", "numeric", "stopping")
    return replace(fault, path=("algorithm", "members")) if is_of_methods else fault


def turn_faults(committee: Committee) -> Iterator[Fault]:
    """More methods than trees: some would never be used."""
    if len(committee.members) > committee.n_trees:
        detail = f"{len(committee.members)} kinds take turns, and there are only {committee.n_trees} trees"
        yield Fault(detail, ("algorithm", "n_trees"), "use as many trees as kinds, or more")


def cut_faults(committee: Committee) -> Iterator[Fault]:
    """Methods that choose their cuts, in a committee that draws them."""
    if not COMMITTEES[committee.kind].draws_cuts:
        return
    for member in committee.members:
        title = PRESETS[member.kind].title
        if member.quest is not None or member.chaid is not None:
            detail = f"{committee.kind} draws cuts at random, and {title} makes its own"
            yield Fault(detail, ("algorithm", "base"), "use random_forest, or another base")
        elif member.numeric.kind is not NumericKind.RANDOM:
            detail = f"{committee.kind} draws cuts at random, and {member.numeric.kind} chooses them"
            hint = 'leave numeric out, or use random_forest with "bootstrap": false'
            yield Fault(detail, ("algorithm", "numeric", "kind"), hint)


def same_missing_faults(committee: Committee) -> Iterator[Fault]:
    """Methods with different missing-value strategies: a record is prepared once for all of them."""
    ways = list(dict.fromkeys(member.missing for member in committee.members))
    if len(ways) > 1:
        detail = f"a record is prepared once for all trees, and they would take missing values as {' and '.join(ways)}"
        yield Fault(detail, ("algorithm", "missing"), "use weighted, or methods that all have this way")


def gate_faults(committee: Committee) -> Iterator[Fault]:
    """Splits that are tried on validation rows: that is a kind of pruning."""
    if any(member.stopping.validate_splits for member in committee.members):
        detail = "the trees of a committee are not pruned, also not while they grow"
        yield Fault(detail, ("algorithm", "stopping", "validate_splits"), "leave it out")


def imbalance_faults(committee: Committee, task: Task, target: ColumnSummary) -> Iterator[Fault]:
    """Balancing where there are no classes, or only one."""
    imbalance, path = committee.imbalance, ("algorithm", "imbalance")
    if imbalance is None:
        return
    if task is not Task.CLASSIFICATION:
        yield Fault("imbalance is about classes, and numbers have none", path, "leave imbalance out")
        return
    if target.categories and len(target.categories) < 2:
        yield Fault("there is only one class, and nothing to balance it with", path, "leave imbalance out")
    if isinstance(imbalance, MajorityParts) and (imbalance.n_parts or 0) > committee.n_trees:
        detail = f"trees take turns with {imbalance.n_parts} parts, and there are only {committee.n_trees} trees"
        yield Fault(detail, (*path, "n_parts"), "use as many trees as parts, or more")


def isolation_faults(config: TrainingConfig) -> Iterator[Fault]:
    """Options about a target, which isolation forests do not have."""
    if config.targets:
        hint = "leave the target out; if the column is not to be learnt from, list the attributes without it"
        yield Fault("an isolation forest predicts no column: it finds rows unlike the others", ("target",), hint)
    said = {
        "target_kind": config.target_kind,
        "class_weights": config.class_weights,
        "misclassification_costs": config.misclassification_costs,
        "sample_weight": config.sample_weight,
    }
    why = dict.fromkeys(said, "there is no target") | {"sample_weight": "an isolation forest counts rows"}
    for name, value in said.items():
        if value is not None:
            yield Fault(f"{why[name]}: {name} says nothing here", (name,), f"leave {name} out")
    if config.importance is not None:
        detail = "without a target there is no measure that could fall when an attribute is shuffled"
        yield Fault(detail, ("importance",), "leave importance out")


def missing_target_fault(config: TrainingConfig) -> Iterator[Fault]:
    """A missing target, where the method needs one."""
    if not config.targets and not isinstance(config.ensemble, Isolation):
        yield NO_TARGET
