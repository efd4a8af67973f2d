import pytest

from core.config.options import (
    AlphaRule,
    Bound,
    Categorical,
    Choose,
    ConfidencePruning,
    Cost,
    CostComplexityPruning,
    Criterion,
    CriterionKind,
    GainFilter,
    NoPruning,
    Numeric,
    NumericKind,
    OnTie,
    QuestTests,
    ReducedErrorPruning,
    Stopping,
    WhenInsignificant,
)
from core.config.presets import PRESETS, pruning_for, resolve
from core.tables.schema import Kind
from core.tables.target import Task

QUESTS_PRUNING = CostComplexityPruning(Cost.GINI, choose=Choose.CROSS_VALIDATION, rule=AlphaRule.ONE_STANDARD_ERROR)


@pytest.mark.parametrize(
    ("kind", "task", "criterion", "categorical", "least"),
    [
        ("id3", Task.CLASSIFICATION, Criterion(CriterionKind.INFORMATION_GAIN), Categorical.MULTIWAY, 1),
        (
            "c45",
            Task.CLASSIFICATION,
            Criterion(CriterionKind.GAIN_RATIO, GainFilter.ABOVE_AVERAGE),
            Categorical.MULTIWAY,
            2,
        ),
        ("cart", Task.CLASSIFICATION, Criterion(CriterionKind.GINI), Categorical.TWO_GROUPS, 1),
        ("cart", Task.REGRESSION, Criterion(CriterionKind.SQUARED_ERROR), Categorical.TWO_GROUPS, 1),
    ],
)
def test_presets_are_as_published(kind, task, criterion, categorical, least):
    algorithm = resolve(kind, {}, task)
    assert (algorithm.kind, algorithm.criterion, algorithm.categorical) == (kind, criterion, categorical)
    assert algorithm.stopping == Stopping(min_samples_leaf=least)
    assert algorithm.numeric == Numeric(NumericKind.EXACT)
    assert algorithm.missing == "weighted"


def test_parts_can_be_replaced_and_the_others_stay():
    algorithm = resolve(
        "c45",
        {
            "criterion": {"kind": "gain_ratio", "filter": "none"},
            "categorical": "two_groups",
            "numeric": {"kind": "boundary"},
            "stopping": {"max_depth": 3},
        },
        Task.CLASSIFICATION,
    )
    assert algorithm.criterion == Criterion(CriterionKind.GAIN_RATIO, GainFilter.NONE)
    assert algorithm.categorical is Categorical.TWO_GROUPS
    assert algorithm.numeric.kind is NumericKind.BOUNDARY
    assert algorithm.stopping == Stopping(max_depth=3, min_samples_leaf=2)


def test_only_the_gain_ratio_has_a_filter():
    assert resolve("cart", {"criterion": {"kind": "gain_ratio"}}, Task.CLASSIFICATION).criterion.filter is (
        GainFilter.ABOVE_AVERAGE
    )
    assert resolve("c45", {"criterion": {"kind": "error_rate"}}, Task.CLASSIFICATION).criterion.filter is None


@pytest.mark.parametrize(
    ("kind", "overrides", "has_validation", "pruning"),
    [
        ("id3", {}, True, NoPruning()),
        ("chaid", {}, True, NoPruning()),
        ("c45", {}, True, ConfidencePruning(0.25, Bound.BINOMIAL, raising=False)),
        ("c45", {"dialect": "release8"}, True, ConfidencePruning(0.25, Bound.NORMAL, raising=True)),
        ("cart", {}, True, CostComplexityPruning(Cost.GINI, choose=Choose.VALIDATION)),
        ("cart", {}, False, CostComplexityPruning(Cost.GINI, choose=Choose.CROSS_VALIDATION)),
        ("quest", {}, True, QUESTS_PRUNING),
        ("quest", {}, False, QUESTS_PRUNING),
        (
            "cart",
            {"criterion": {"kind": "error_rate"}},
            False,
            CostComplexityPruning(Cost.ERROR, choose=Choose.CROSS_VALIDATION),
        ),
    ],
)
def test_presets_have_their_own_way_of_pruning(kind, overrides, has_validation, pruning):
    algorithm = resolve(kind, overrides, Task.CLASSIFICATION)
    assert pruning_for(algorithm, None, has_validation=has_validation) == pruning
    assert pruning_for(algorithm, {"kind": "none"}, has_validation=has_validation) == NoPruning()


def test_what_is_said_of_pruning_goes_before_the_presets_own():
    algorithm = resolve("quest", {}, Task.CLASSIFICATION)
    said = {"kind": "cost_complexity", "choose": "validation"}
    assert pruning_for(algorithm, said, has_validation=True) == CostComplexityPruning(
        Cost.GINI, choose=Choose.VALIDATION
    )
    said = {"kind": "cost_complexity", "rule": "minimum"}
    assert pruning_for(algorithm, said, has_validation=True) == CostComplexityPruning(
        Cost.GINI, choose=Choose.CROSS_VALIDATION
    )


def test_quest_is_as_published():
    algorithm = resolve("quest", {}, Task.CLASSIFICATION)
    assert algorithm.quest == QuestTests(0.05, WhenInsignificant.SMALLEST_P)
    assert algorithm.stopping == Stopping(min_samples_split=10)


def test_reduced_error_as_programmed_cuts_on_a_tie():
    algorithm = resolve("c45", {"dialect": "release8"}, Task.CLASSIFICATION)
    assert pruning_for(algorithm, {"kind": "reduced_error"}, has_validation=True) == ReducedErrorPruning(OnTie.CUT)


def test_what_presets_can_do():
    assert {kind: preset.tasks for kind, preset in PRESETS.items()} == {
        "id3": (Task.CLASSIFICATION,),
        "c45": (Task.CLASSIFICATION,),
        "cart": (Task.CLASSIFICATION, Task.REGRESSION),
        "chaid": (Task.CLASSIFICATION, Task.REGRESSION),
        "quest": (Task.CLASSIFICATION,),
        "multivariate": (Task.CLASSIFICATION,),
    }
    assert PRESETS["id3"].attribute_kinds == (Kind.CATEGORICAL,)
    assert resolve("id3", {}, Task.REGRESSION).criterion.kind is CriterionKind.INFORMATION_GAIN
