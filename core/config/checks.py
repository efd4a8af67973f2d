"""Whether a configuration makes sense by itself and with a table; every fault is found at once, each with its path."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from core.config.columns import (
    MOST_CLASSES,
    attribute_names,
    division_column,
    has_validation,
    target_words,
    task_of,
    too_many_classes,
    unknown_classes,
)
from core.config.committee_checks import committee_faults, isolation_faults, missing_target_fault, of_members
from core.config.committee_presets import COMMITTEES, fault_of_member
from core.config.options import (
    Bound,
    Categorical,
    ColumnDivision,
    Committee,
    ConfidencePruning,
    Cost,
    CostComplexityPruning,
    Criterion,
    CriterionKind,
    Dialect,
    GainFilter,
    Isolation,
    MissingStrategy,
    NumericCorrection,
    NumericKind,
    RandomDivision,
    TrainingConfig,
)
from core.config.presets import PRESETS
from core.criteria.misclassification import MisclassificationCosts, cost_faults
from core.tables.errors import Fault, InvalidConfig, Path, raise_any
from core.tables.parts import Part
from core.tables.schema import Attribute, Kind, Schema
from core.tables.suggestion import did_you_mean, quoted
from core.tables.summary import ColumnSummary
from core.tables.target import Task

Columns = Mapping[str, ColumnSummary]

# Beyond these, sums of weights or of squares overflow or lose their digits.
LARGEST_TARGET = LARGEST_MEASURED = 1e100
WEIGHTS_BETWEEN = (1e-9, 1e9)

MOST_CATEGORIES = 2_000  # that CHAID compares pair by pair


def check(
    config: TrainingConfig,
    columns: Sequence[ColumnSummary],
    others: Mapping[Part, Sequence[ColumnSummary]],
    *,
    members_listed: bool = False,
) -> None:
    """Refuse a configuration that does not fit this table (and those that validate or test), naming every fault.

    `members_listed` says that the methods of a committee were listed, each with its own options; otherwise faults of
    a method are reported at the options shared by all.
    """
    known = {column.name: column for column in columns}
    raise_any(InvalidConfig, missing_target_fault(config))
    raise_any(InvalidConfig, column_faults(config, known))
    faults = [
        *method_faults(config, known, members_listed=members_listed),
        *attribute_faults(config, known),
        *weight_faults(config, known),
        *division_faults(config, known),
        *other_table_faults(config, known, others),
    ]
    raise_any(InvalidConfig, dict.fromkeys(faults))


def method_faults(config: TrainingConfig, columns: Columns, *, members_listed: bool) -> Iterator[Fault]:
    """What is wrong with the method, or with those of a committee, for this target and these attributes."""
    match config.ensemble:
        case None:
            yield from tree_faults(config, columns)
        case Isolation():
            yield from isolation_faults(config)
        case Committee() as committee:
            for index, member in enumerate(committee.members):
                for fault in tree_faults(replace(config, algorithm=member), columns):
                    yield fault_of_member(index, fault) if members_listed else fault
            task = task_of(schema_of(columns.values()), config.target, config.target_kind)
            for fault in committee_faults(committee, task, columns[config.targets[0]]):
                yield of_members(fault) if members_listed else fault


def tree_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """What is wrong with the method of a tree."""
    yield from target_faults(config, columns)
    yield from attribute_kind_faults(config, columns)
    yield from attribute_cost_faults(config, columns)
    yield from missing_faults(config, columns)
    yield from category_faults(config)
    yield from dialect_faults(config)
    yield from linear_faults(config)
    yield from quest_faults(config, columns)
    yield from chaid_faults(config, columns)
    yield from stopping_faults(config)
    yield from pruning_faults(config, columns)


def schema_of(columns: Iterable[ColumnSummary]) -> Schema:
    """The schema behind column summaries."""
    return Schema(tuple(Attribute(column.name, column.kind, column.categories) for column in columns))


def column_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """Columns that the dataset does not have."""
    named: list[tuple[Path, str | None]] = [
        *target_paths(config),
        (("sample_weight",), config.sample_weight),
        (("division", "column"), division_column(config)),
        *((("attributes", index), name) for index, name in enumerate(config.attributes or ())),
    ]
    for path, name in named:
        if name is not None and name not in columns:
            yield Fault(f"{quoted(name)} is not a column of this dataset", path, did_you_mean(name, columns))


def target_paths(config: TrainingConfig) -> list[tuple[Path, str]]:
    """Each target, with its path in the configuration."""
    if isinstance(config.target, str):
        return [(("target",), config.target)]
    return [(("target", index), name) for index, name in enumerate(config.target)]


def target_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """Targets that cannot be learnt, or not by this preset."""
    for path, name in target_paths(config):
        if columns[name].n_values == 0:
            yield Fault(f"{quoted(name)} is missing in every row", path, "choose another target")
    unfit = [*target_list_faults(config), *target_kind_faults(config, columns)]
    yield from unfit
    if unfit:
        return
    task = task_of(schema_of(columns.values()), config.target, config.target_kind)
    for path, name in target_paths(config):
        yield from size_faults(columns[name], task, path)
    if task not in PRESETS[config.algorithm.kind].tasks:
        yield preset_fault(config, task)
        return
    if len(config.targets) > 1 and not PRESETS[config.algorithm.kind].predicts_several:
        detail = f"{PRESETS[config.algorithm.kind].title} predicts one number, and several targets are listed"
        yield Fault(detail, ("target",), "use cart, or name one target")
    yield from criterion_faults(config.algorithm.criterion, task)
    numeric = config.algorithm.numeric.kind
    if task is Task.REGRESSION and numeric in (NumericKind.BOUNDARY, NumericKind.MDLP):
        detail = f"{numeric} looks at classes, and numbers have none"
        yield Fault(detail, ("algorithm", "numeric", "kind"), "use exact, quantile, uniform or random")
    column = columns[config.targets[0]]  # where there are classes, it is the only one
    if config.class_weights is not None:
        yield from class_weight_faults(config.class_weights, column, task)
    if config.misclassification_costs is not None:
        yield from misclassification_faults(config.misclassification_costs, column, task)


def target_list_faults(config: TrainingConfig) -> Iterator[Fault]:
    """A list of targets with a duplicate, or meant to be classes."""
    if isinstance(config.target, str):
        return
    for index, name in enumerate(config.target):
        if name in config.target[:index]:
            yield Fault(f"{quoted(name)} is listed twice", ("target", index), "list every target once")
    if config.target_kind not in (None, Kind.NUMERIC):
        hint = "leave target_kind out, or name one target without a list"
        yield Fault("a list of targets is predicted as numbers", ("target_kind",), hint)


def target_kind_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """Targets that were declared as ignored, or that have no numbers where numbers are to be predicted."""
    is_list = not isinstance(config.target, str)
    for path, name in target_paths(config):
        kind = columns[name].kind
        if kind is Kind.IGNORE:
            yield Fault(f"{quoted(name)} was declared as ignored", path, "post the dataset with its kind")
        elif is_list and kind is not Kind.NUMERIC:
            detail = f"{quoted(name)} is {kind}, and a list of targets is predicted as numbers"
            yield Fault(detail, path, "list numeric columns, or name one target without a list")
        elif config.target_kind == Kind.NUMERIC and kind is not Kind.NUMERIC:
            hint = "leave target_kind out, or post the dataset with this column declared numeric"
            yield Fault(f"{quoted(name)} is {kind}, it has no numbers", ("target_kind",), hint)


def preset_fault(config: TrainingConfig, task: Task) -> Fault:
    """A preset that cannot predict this target, with those that can."""
    title = PRESETS[config.algorithm.kind].title
    able = " or ".join(name for name, other in PRESETS.items() if task in other.tasks)
    if not isinstance(config.target, str):
        able = " or ".join(name for name, other in PRESETS.items() if other.predicts_several)
        detail = f"{title} predicts classes, and a list of targets is predicted as numbers"
        return Fault(detail, ("target",), f"use {able} for numbers, or name one target without a list")
    hint = f'use {able} for numbers; if its numbers are classes (0/1), say "target_kind": "categorical"'
    return Fault(f"{title} predicts classes, and {quoted(config.target)} is numeric", ("target",), hint)


def misclassification_faults(costs: MisclassificationCosts, column: ColumnSummary, task: Task) -> Iterator[Fault]:
    """Costs where there are no classes, or of classes that are not there."""
    if task is Task.REGRESSION:
        detail = "a numeric target has no classes to mistake"
        yield Fault(detail, ("misclassification_costs",), "leave misclassification_costs out")
    elif column.kind is not Kind.NUMERIC:  # which numbers occur is known from the rows only: see `training.costs_of`
        yield from cost_faults(costs, column.categories)


def size_faults(column: ColumnSummary, task: Task, path: Path) -> Iterator[Fault]:
    """A target with too many classes, or with numbers whose squares overflow."""
    if task is Task.CLASSIFICATION and len(column.categories) > MOST_CLASSES:
        yield too_many_classes(column.name, len(column.categories))
    largest = max(abs(column.minimum or 0), abs(column.maximum or 0))
    if task is Task.REGRESSION and largest > LARGEST_TARGET:
        detail = f"{quoted(column.name)} goes up to {largest:g}, and squares of that are beyond what can be computed"
        yield Fault(detail, path, f"rescale it to numbers below {LARGEST_TARGET:g}")


def criterion_faults(criterion: Criterion, task: Task) -> Iterator[Fault]:
    """A criterion for the other task."""
    is_for_numbers = criterion.kind is CriterionKind.SQUARED_ERROR
    if is_for_numbers != (task is Task.REGRESSION):
        hint = "use squared_error" if not is_for_numbers else "use information_gain, gain_ratio, gini or error_rate"
        detail = f"{criterion.kind} does not go with {task}"
        yield Fault(detail, ("algorithm", "criterion", "kind"), hint)


def class_weight_faults(class_weights: Mapping[str, float], column: ColumnSummary, task: Task) -> Iterator[Fault]:
    """Weights of classes that are not there."""
    if task is Task.REGRESSION:
        yield Fault("a numeric target has no classes to weigh", ("class_weights",), "leave class_weights out")
        return
    if column.kind is not Kind.NUMERIC:  # which numbers occur is known from the rows only: see `with_class_weights`
        yield from unknown_classes(class_weights, column.categories)


def attribute_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """Attributes that have another use, or that are listed twice."""
    names = attribute_names(schema_of(columns.values()), config)
    if not names:
        hint = "post a dataset with more columns, or list the attributes to learn from"
        yield Fault("no column is left to learn from", ("attributes",), hint)
    taken: dict[str | None, str] = {
        **dict.fromkeys(config.targets, target_words(config)),
        config.sample_weight: "the sample weight",
        division_column(config): "the division",
    }
    for index, name in enumerate(names):
        path: Path = ("attributes",) if config.attributes is None else ("attributes", index)
        if name in taken:
            yield Fault(f"{quoted(name)} is {taken[name]}, it cannot be an attribute too", path, "take it off the list")
        elif name in names[:index]:
            yield Fault(f"{quoted(name)} is listed twice", path, "list every attribute once")
        elif columns[name].kind is Kind.IGNORE:
            yield Fault(
                f"{quoted(name)} was declared as ignored", path, "take it off, or post the dataset with its kind"
            )


def attribute_kind_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """Attributes of a kind that the preset cannot take."""
    preset = PRESETS[config.algorithm.kind]
    able = " or ".join(name for name, other in PRESETS.items() if other.attribute_kinds != preset.attribute_kinds)
    hint = f"use {able}, or list the attributes without it"
    if not (isinstance(config.ensemble, Committee) and COMMITTEES[config.ensemble.kind].draws_cuts):
        hint += ', or cut it into intervals with "numeric": {"kind": "mdlp", "as": "intervals"}'
    for index, name in enumerate(attribute_names(schema_of(columns.values()), config)):
        path: Path = ("attributes",) if config.attributes is None else ("attributes", index)
        kind = columns[name].kind
        if kind is not Kind.IGNORE and name not in config.targets and not preset.takes(kind, config.algorithm.numeric):
            yield Fault(f"{preset.title} takes categorical attributes, and {quoted(name)} is {kind}", path, hint)


def attribute_cost_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """Costs of attributes that are not learnt from, and costs beside another criterion."""
    costs, path = config.algorithm.attribute_costs, ("algorithm", "attribute_costs")
    if costs is None:
        return
    if config.algorithm.criterion.kind is not CriterionKind.INFORMATION_GAIN:
        detail = f"{costs.kind} weighs information gain, and the criterion is {config.algorithm.criterion.kind}"
        yield Fault(detail, path, 'use "criterion": {"kind": "information_gain"}')
    names = attribute_names(schema_of(columns.values()), config)
    for name in costs.costs:
        if name not in names:
            yield Fault(f"{quoted(name)} is not an attribute", (*path, "costs", name), did_you_mean(name, names))


def weight_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """A weight column that is not all weights."""
    if config.sample_weight is None:
        return
    column, path = columns[config.sample_weight], ("sample_weight",)
    if config.sample_weight in config.targets:
        yield Fault(f"{quoted(column.name)} is {target_words(config)}, it cannot be the weight too", path)
    elif column.kind is not Kind.NUMERIC:
        yield Fault(f"{quoted(column.name)} is {column.kind}; weights are numbers", path)
    elif column.n_missing > 0:
        yield Fault(f"{quoted(column.name)} is missing in {column.n_missing} rows", path, "give every row a weight")
    elif column.minimum is not None and column.minimum < 0:
        yield Fault(f"{quoted(column.name)} goes down to {column.minimum:g}", path, "weights are 0 or more")
    elif column.maximum is not None and column.maximum <= 0:
        yield Fault(f"{quoted(column.name)} is 0 everywhere", path, "some row must have weight")
    elif column.maximum is not None and not WEIGHTS_BETWEEN[0] <= column.maximum <= WEIGHTS_BETWEEN[1]:
        lowest, highest = WEIGHTS_BETWEEN
        hint = f"rescale the weights, so that the largest is between {lowest:g} and {highest:g}"
        yield Fault(f"{quoted(column.name)} goes up to {column.maximum:g}", path, hint)


def division_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """Shares that do not add up, a part column with other words, and no validation rows where they are needed."""
    match config.division:
        case RandomDivision(train, validation, test, _):
            if abs(train + validation + test - 1) > 1e-9:
                detail = f"train, validation and test add up to {train + validation + test:g}"
                yield Fault(detail, ("division",), "make them add up to 1")
        case ColumnDivision(name):
            yield from part_column_faults(columns[name], config)
        case _:
            pass
    if config.needs_validation and not has_validation(config.division, schema_of(columns.values())):
        asked = "reduced-error pruning"
        if config.algorithm.stopping.validate_splits:
            asked = "validate_splits"
        elif isinstance(config.pruning, CostComplexityPruning):
            asked = '"choose": "validation"'
        detail = f"{asked} judges by validation rows, and this division has none"
        yield Fault(detail, ("division",), "use a division with a validation part")


def part_column_faults(column: ColumnSummary, config: TrainingConfig) -> Iterator[Fault]:
    """A column that does not say train, validation or test."""
    path = ("division", "column")
    if column.name in (*config.targets, config.sample_weight):
        yield Fault(f"{quoted(column.name)} is used as target or weight already", path)
    if column.kind is Kind.NUMERIC or not set(column.categories) <= set(Part):
        strange = next((name for name in column.categories if name not in tuple(Part)), "numbers")
        hint = "its values must be train, validation and test"
        yield Fault(f"{quoted(column.name)} holds {strange}, which is no part", path, hint)
    elif Part.TRAIN not in column.categories:
        yield Fault(f"{quoted(column.name)} never says train", path, "some rows must train")


def category_faults(config: TrainingConfig) -> Iterator[Fault]:
    """Rare categories can be taken as one only where categories are grouped."""
    algorithm = config.algorithm
    if algorithm.min_category_weight > 0 and algorithm.categorical in (Categorical.MULTIWAY, Categorical.ONE_HOT):
        detail = f"min_category_weight does not go with {algorithm.categorical}, which keeps every value apart"
        yield Fault(detail, ("algorithm", "min_category_weight"), "use two_groups or one_vs_rest, or leave it out")


def dialect_faults(config: TrainingConfig) -> Iterator[Fault]:
    """Options that C4.5's programs (`release8`) do not have."""
    algorithm = config.algorithm
    if algorithm.dialect is not Dialect.RELEASE8:
        return
    fixed = (
        (("criterion", "kind"), algorithm.criterion.kind, CriterionKind.GAIN_RATIO),
        (("criterion", "filter"), algorithm.criterion.filter, GainFilter.ABOVE_AVERAGE),
        (("categorical",), algorithm.categorical, Categorical.MULTIWAY),
        (("numeric", "kind"), algorithm.numeric.kind, NumericKind.EXACT),
        (("missing",), algorithm.missing, MissingStrategy.WEIGHTED),
    )
    for path, chosen, wanted in fixed:
        if chosen != wanted:
            hint = f'use {wanted}, or "dialect": "textbook"'
            yield Fault(f"release8 has no {chosen}: it does as the programs do", ("algorithm", *path), hint)


def quest_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """Limits on gains, which QUEST does not compute, and numbers whose squares overflow."""
    if config.algorithm.quest is None:
        return
    yield from gain_faults(config)
    for name in attribute_names(schema_of(columns.values()), config):
        column = columns[name]
        largest = max(abs(column.minimum or 0), abs(column.maximum or 0))
        if column.kind is Kind.NUMERIC and largest > LARGEST_MEASURED:
            detail = f"{quoted(name)} goes up to {largest:g}, and squares of that are beyond what can be computed"
            yield Fault(detail, ("attributes",), f"rescale it to numbers below {LARGEST_MEASURED:g}")


def gain_faults(config: TrainingConfig) -> Iterator[Fault]:
    """Limits on gains, for methods that choose by tests and compute no gains."""
    title, stopping = PRESETS[config.algorithm.kind].title, config.algorithm.stopping
    limits = {"max_leaves": stopping.max_leaves, "min_gain": stopping.min_gain, "min_score": stopping.min_score}
    for name, limit in limits.items():
        if limit:
            detail = f"{name} looks at gains, and {title}'s splits have none: tests choose them"
            hint = "use max_depth, min_samples_split or alpha, or prune the tree"
            yield Fault(detail, ("algorithm", "stopping", name), hint)


def chaid_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """Limits on gains, alphas by which groups would be merged and split forever, and too many categories to compare."""
    chaid = config.algorithm.chaid
    if chaid is None:
        return
    yield from gain_faults(config)
    if chaid.alpha_merge is not None and chaid.alpha_split is not None and chaid.alpha_split > chaid.alpha_merge:
        detail = f"alpha_split ({chaid.alpha_split:g}) is above alpha_merge ({chaid.alpha_merge:g})"
        hint = "use an alpha_split of at most alpha_merge, or null: else what was merged would be divided again at once"
        yield Fault(detail, ("algorithm", "alpha_split"), hint)
    for name in attribute_names(schema_of(columns.values()), config):
        n_categories = len(columns[name].categories)
        if n_categories > MOST_CATEGORIES:
            detail = f"{quoted(name)} has {n_categories} categories, and CHAID compares at most {MOST_CATEGORIES}"
            hint = "list the attributes without it, use cart, or post the dataset with fewer categories"
            yield Fault(detail, ("attributes",), hint)


def linear_faults(config: TrainingConfig) -> Iterator[Fault]:
    """Options about tests on one attribute, beside linear tests."""
    algorithm = config.algorithm
    if algorithm.linear is None:
        return
    if algorithm.missing is MissingStrategy.SURROGATE:
        detail = "surrogates stand in for tests on one attribute, and this has sums of several"
        yield Fault(detail, ("algorithm", "missing"), "use weighted")
    if algorithm.attribute_costs is not None:
        detail = "attributes are asked for in sums too, and a sum has no cost of its own"
        yield Fault(detail, ("algorithm", "attribute_costs"), "leave it out")
    if algorithm.criterion.numeric_correction is not NumericCorrection.NONE:
        detail = "the correction is for thresholds on one attribute, and sums would be preferred to them"
        yield Fault(detail, ("algorithm", "criterion", "numeric_correction"), "use none")


def stopping_faults(config: TrainingConfig) -> Iterator[Fault]:
    """Limits that exclude each other."""
    stopping = config.algorithm.stopping
    if stopping.validate_splits and stopping.max_leaves is not None:
        yield Fault(
            "max_leaves grows the best node first, validate_splits goes depth first",
            ("algorithm", "stopping", "max_leaves"),
            "use one of the two",
        )


def pruning_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """A kind of pruning that does not fit the task, or its own options."""
    pruning = config.pruning
    task = task_of(schema_of(columns.values()), config.target, config.target_kind)
    is_regression = task is Task.REGRESSION
    is_for_numbers = config.algorithm.criterion.kind is CriterionKind.SQUARED_ERROR
    if task not in PRESETS[config.algorithm.kind].tasks or is_for_numbers != is_regression:
        return  # the algorithm does not fit the task either, and that is reported
    match pruning:
        case ConfidencePruning() if is_regression:
            hint = "use cost_complexity or reduced_error"
            yield Fault("confidence pruning counts wrong classes, and numbers have none", ("pruning", "kind"), hint)
        case ConfidencePruning(cf=cf, bound=Bound.NORMAL) if cf > 0.5:
            hint = 'use a cf of at most 0.5, or "bound": "binomial"'
            yield Fault("the normal approximation is for a cf of at most 0.5", ("pruning", "cf"), hint)
        case CostComplexityPruning(cost=cost) if (cost is Cost.SQUARED_ERROR) != is_regression:
            hint = "use squared_error" if is_regression else "use gini, entropy or error"
            predicted = "numbers" if is_regression else "classes"
            yield Fault(f"{cost} is not a cost of trees that predict {predicted}", ("pruning", "cost"), hint)
        case _:
            pass


def missing_faults(config: TrainingConfig, columns: Columns) -> Iterator[Fault]:
    """A missing-value strategy that does not fit the target, or splits into many branches."""
    algorithm, path = config.algorithm, ("algorithm", "missing")
    task = task_of(schema_of(columns.values()), config.target, config.target_kind)
    if algorithm.missing is MissingStrategy.CLASS_MAJORITY and task is Task.REGRESSION:
        yield Fault("class_majority fills from rows of the same class, and numbers have none", path, "use majority")
    is_multiway = algorithm.categorical is Categorical.MULTIWAY or algorithm.numeric.makes_intervals
    if algorithm.missing is MissingStrategy.SURROGATE and is_multiway:
        hint = 'use "categorical": "two_groups" or "one_vs_rest", and bins as thresholds'
        yield Fault("surrogates stand in for splits into two branches, and this has splits into many", path, hint)


def other_table_faults(
    config: TrainingConfig, columns: Columns, others: Mapping[Part, Sequence[ColumnSummary]]
) -> Iterator[Fault]:
    """A validation or test dataset that lacks a column, has it as another kind, or has classes never trained."""
    names = [*attribute_names(schema_of(columns.values()), config), *config.targets]
    for part, summaries in others.items():
        path, other = ("division", part.value), {column.name: column for column in summaries}
        for name in [*names, *([config.sample_weight] if config.sample_weight else [])]:
            if name not in other:
                yield Fault(f"that dataset has no column {quoted(name)}", path, did_you_mean(name, other))
            elif other[name].kind is not columns[name].kind:
                detail = f"{quoted(name)} is {other[name].kind} there and {columns[name].kind} in the training dataset"
                yield Fault(detail, path, "declare its kind when posting the dataset")
        for target in (name for name in config.targets if name in other):
            for name in other[target].categories:
                if name not in columns[target].categories:
                    yield Fault(f"class {quoted(name)} of that dataset is not in the training dataset", path)
