from dataclasses import replace

import pytest

from core.config.checks import check
from core.config.options import (
    Algorithm,
    Categorical,
    ColumnDivision,
    DatasetsDivision,
    NoDivision,
    Numeric,
    NumericKind,
    RandomDivision,
    ReducedErrorPruning,
    TrainingConfig,
)
from core.config.presets import resolve
from core.tables.errors import InvalidConfig
from core.tables.parts import Part
from core.tables.schema import Attribute, Kind
from core.tables.summary import summarize
from core.tables.target import Task
from tests.core.building import GAIN, SQUARED_ERROR, table_of

TABLE = table_of(
    {
        "texture": ["clear", "blurry", "clear"],
        "density": [0.1, 0.2, 0.3],
        "grade": ["low", "high", "low"],
        "note": ["x", "y", "z"],
        "nothing": [None, None, None],
        "weight": [1.0, 2.0, 0.0],
        "holes": [1.0, None, None],
        "negative": [-1.5, 1.0, 1.0],
        "zero": [0.0, 0.0, 0.0],
        "part": ["train", "validation", "train"],
        "aside": ["validation", "test", "test"],
        "good": ["yes", "no", "yes"],
        "sugar": [1.5, 2.5, 3.5],
    },
    {
        "grade": Attribute("grade", Kind.ORDINAL, ("low", "high")),
        "note": Attribute("note", Kind.IGNORE, ("x", "y", "z")),
        "nothing": Attribute("nothing", Kind.CATEGORICAL, ()),
    },
)
COLUMNS = summarize(TABLE)
CONFIG = TrainingConfig("good", resolve("c45", {}, Task.CLASSIFICATION), attributes=("texture", "density"))
CART = resolve("cart", {}, Task.REGRESSION)


def faults_of(others=None, **changes):
    with pytest.raises(InvalidConfig) as error:
        check(replace(CONFIG, **changes), COLUMNS, others or {})
    return error.value.faults


def stopping(**limits):
    return resolve("c45", {"stopping": limits}, Task.CLASSIFICATION)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"attributes": ("grade", "density", "texture"), "sample_weight": "weight"},
        {"target": "sugar", "algorithm": CART},
        {"target": "sugar", "target_kind": "categorical"},
        {"target": ("sugar", "negative"), "algorithm": CART},
        {"target": ("sugar",), "target_kind": "numeric", "algorithm": CART},
        {"target": "good", "class_weights": {"yes": 2.0}},
        {"division": ColumnDivision("part"), "pruning": ReducedErrorPruning()},
        {"division": NoDivision()},
        {"division": RandomDivision(0.7, 0.1, 0.2)},
        {"division": DatasetsDivision("ds_1", None), "pruning": ReducedErrorPruning()},
        {"algorithm": stopping(max_leaves=4)},
    ],
)
def test_what_fits_passes(changes):
    check(replace(CONFIG, **changes), COLUMNS, {})


@pytest.mark.parametrize(
    ("changes", "path", "detail", "hint"),
    [
        ({"target": "goood"}, ("target",), '"goood" is not a column of this dataset', "did you mean good?"),
        ({"sample_weight": "weigth"}, ("sample_weight",), "is not a column", "did you mean weight?"),
        ({"division": ColumnDivision("prat")}, ("division", "column"), "is not a column", "did you mean part?"),
        ({"attributes": ("texture", "densty")}, ("attributes", 1), "is not a column", "did you mean density?"),
        ({"target": "nothing"}, ("target",), "is missing in every row", "another target"),
        ({"target": "note"}, ("target",), "was declared as ignored", "post the dataset"),
        (
            {"target": "good", "target_kind": "numeric"},
            ("target_kind",),
            "is categorical, it has no numbers",
            "target_kind",
        ),
        (
            {"target": "sugar"},
            ("target",),
            'C4.5 predicts classes, and "sugar" is numeric',
            "use cart or chaid for numbers",
        ),
        ({"target": "sugar"}, ("target",), "is numeric", '"target_kind": "categorical"'),
        (
            {"algorithm": Algorithm("cart", SQUARED_ERROR, Categorical.TWO_GROUPS)},
            ("algorithm", "criterion", "kind"),
            "squared_error does not go with classification",
            "gini",
        ),
        (
            {"target": "sugar", "algorithm": Algorithm("cart", GAIN, Categorical.TWO_GROUPS)},
            ("algorithm", "criterion", "kind"),
            "information_gain does not go with regression",
            "use squared_error",
        ),
        (
            {"target": "sugar", "algorithm": CART, "class_weights": {"yes": 1.0}},
            ("class_weights",),
            "no classes to weigh",
            "leave class_weights out",
        ),
        (
            {"class_weights": {"yess": 1.0}},
            ("class_weights", "yess"),
            '"yess" is not a class',
            "did you mean yes?",
        ),
        ({"attributes": ()}, ("attributes",), "no column is left to learn from", "more columns"),
        ({"attributes": ("texture", "good")}, ("attributes", 1), "is the target", "take it off"),
        (
            {"attributes": ("weight",), "sample_weight": "weight"},
            ("attributes", 0),
            "is the sample weight",
            "take it off",
        ),
        (
            {"attributes": ("part",), "division": ColumnDivision("part")},
            ("attributes", 0),
            "is the division",
            "take it off",
        ),
        ({"attributes": ("texture", "texture")}, ("attributes", 1), "is listed twice", "once"),
        ({"attributes": ("note",)}, ("attributes", 0), "was declared as ignored", "take it off"),
        (
            {"algorithm": resolve("id3", {}, Task.CLASSIFICATION)},
            ("attributes", 1),
            'ID3 takes categorical attributes, and "density" is numeric',
            "use c45 or cart",
        ),
        (
            {"algorithm": resolve("id3", {}, Task.CLASSIFICATION), "attributes": ("grade",)},
            ("attributes", 0),
            "is ordinal",
            "without it",
        ),
        ({"sample_weight": "texture"}, ("sample_weight",), "is categorical; weights are numbers", None),
        ({"target": "sugar", "algorithm": CART, "sample_weight": "sugar"}, ("sample_weight",), "is the target", None),
        ({"sample_weight": "holes"}, ("sample_weight",), "is missing in 2 rows", "every row"),
        ({"sample_weight": "negative"}, ("sample_weight",), "goes down to -1.5", "0 or more"),
        ({"sample_weight": "zero"}, ("sample_weight",), "is 0 everywhere", "some row"),
        ({"division": RandomDivision(0.6, 0.2, 0.3)}, ("division",), "add up to 1.1", "add up to 1"),
        (
            {"division": NoDivision(), "pruning": ReducedErrorPruning()},
            ("division",),
            "reduced-error pruning judges by validation rows",
            "with a validation part",
        ),
        (
            {"division": RandomDivision(0.8, 0.0, 0.2), "algorithm": stopping(validate_splits=True)},
            ("division",),
            "validate_splits judges by validation rows",
            "with a validation part",
        ),
        (
            {"division": DatasetsDivision(None, "ds_1"), "pruning": ReducedErrorPruning()},
            ("division",),
            "this division has none",
            "with a validation part",
        ),
        ({"division": ColumnDivision("good")}, ("division", "column"), "is used as target or weight already", None),
        ({"division": ColumnDivision("texture")}, ("division", "column"), "holds clear, which is no part", "train"),
        ({"division": ColumnDivision("sugar")}, ("division", "column"), "holds numbers, which is no part", "train"),
        ({"division": ColumnDivision("aside")}, ("division", "column"), "never says train", "some rows must train"),
        (
            {"algorithm": stopping(validate_splits=True, max_leaves=3)},
            ("algorithm", "stopping", "max_leaves"),
            "depth first",
            "use one of the two",
        ),
    ],
)
def test_each_fault_is_named_with_its_place_and_a_way_out(changes, path, detail, hint):
    faults = faults_of(**changes)
    found = [fault for fault in faults if fault.path == path and detail in fault.detail]
    assert len(found) == 1, faults
    assert hint is None or (found[0].hint is not None and hint in found[0].hint)


def test_attributes_that_were_not_listed_are_named_at_the_list():
    faults = faults_of(algorithm=resolve("id3", {}, Task.CLASSIFICATION), attributes=None)
    assert {fault.path for fault in faults} == {("attributes",)}
    assert any('"density" is numeric' in fault.detail for fault in faults)


def test_a_table_of_the_target_alone_has_nothing_to_learn_from():
    with pytest.raises(InvalidConfig, match="no column is left"):
        check(replace(CONFIG, attributes=None), summarize(table_of({"good": ["yes", "no"]})), {})


def test_a_division_column_without_validation_is_refused_when_it_is_needed():
    columns = summarize(table_of({"a": [1, 2], "part": ["train", "test"], "good": ["yes", "no"]}))
    config = replace(CONFIG, attributes=("a",), division=ColumnDivision("part"), pruning=ReducedErrorPruning())
    with pytest.raises(InvalidConfig, match="this division has none"):
        check(config, columns, {})


def test_every_fault_is_found_at_once():
    faults = faults_of(
        sample_weight="negative",
        class_weights={"maybe": 1.0},
        attributes=("texture", "texture"),
        division=RandomDivision(0.5, 0.1, 0.1),
        algorithm=stopping(validate_splits=True, max_leaves=3),
    )
    assert [fault.path for fault in faults] == [
        ("class_weights", "maybe"),
        ("algorithm", "stopping", "max_leaves"),
        ("attributes", 1),
        ("sample_weight",),
        ("division",),
    ]


OTHER = {"texture": ["clear"], "density": [0.5], "good": ["no"], "weight": [1.0]}


@pytest.mark.parametrize(
    ("columns", "detail", "hint"),
    [
        ({"texture": ["clear"], "good": ["no"], "density_": [1.0]}, 'no column "density"', "did you mean density_?"),
        ({"texture": ["clear"], "density": [1.0]}, 'no column "good"', None),
        ({**OTHER, "density": ["a"]}, '"density" is categorical there and numeric in the training dataset', "declare"),
        ({**OTHER, "good": ["maybe"]}, 'class "maybe" of that dataset is not in the training dataset', None),
    ],
)
def test_other_datasets_must_fit_the_training_data(columns, detail, hint):
    others = {Part.VALIDATION: summarize(table_of(columns))}
    faults = faults_of(others, division=DatasetsDivision("ds_2"))
    found = [fault for fault in faults if detail in fault.detail]
    assert len(found) == 1, faults
    assert found[0].path == ("division", "validation")
    assert hint is None or hint in found[0].hint


def test_other_datasets_need_the_weight_too():
    others = {Part.TEST: summarize(table_of({k: v for k, v in OTHER.items() if k != "weight"}))}
    (fault,) = faults_of(others, division=DatasetsDivision(None, "ds_2"), sample_weight="weight")
    assert fault.path == ("division", "test")
    assert 'no column "weight"' in fault.detail


def test_other_datasets_that_fit_pass():
    check(replace(CONFIG, division=DatasetsDivision("ds_2")), COLUMNS, {Part.VALIDATION: summarize(table_of(OTHER))})


def test_class_changes_are_refused_for_numbers():
    algorithm = Algorithm("cart", SQUARED_ERROR, Categorical.TWO_GROUPS, Numeric(NumericKind.BOUNDARY))
    config = TrainingConfig("y", algorithm, division=NoDivision())
    with pytest.raises(InvalidConfig):
        check(config, summarize(table_of({"a": [1, 2], "y": [0.0, 1.0]})), {})


NUMBERS = {"algorithm": CART, "attributes": ("texture", "density")}


@pytest.mark.parametrize(
    ("changes", "path", "detail", "hint"),
    [
        ({"target": ()}, ("target",), 'a training needs "target"', "name the column"),
        ({"target": ("sugar", "suger")}, ("target", 1), "is not a column", "did you mean sugar?"),
        ({"target": ("sugar", "sugar")}, ("target", 1), "listed twice", "once"),
        ({"target": ("sugar", "good")}, ("target", 1), '"good" is categorical, and a list', "numeric columns"),
        ({"target": ("sugar", "grade")}, ("target", 1), '"grade" is ordinal, and a list', "numeric columns"),
        ({"target": ("note", "sugar")}, ("target", 0), "was declared as ignored", "post the dataset"),
        ({"target": ("sugar", "zero"), "target_kind": "categorical"}, ("target_kind",), "as numbers", "leave"),
        ({"target": ("sugar", "density")}, ("attributes", 1), '"density" is a target', "off the list"),
        ({"target": ("sugar", "weight"), "sample_weight": "weight"}, ("sample_weight",), "is a target", None),
        ({"target": ("sugar",), "class_weights": {"yes": 2.0}}, ("class_weights",), "no classes to weigh", "leave"),
        ({"target": ("sugar",), "algorithm": CONFIG.algorithm}, ("target",), "C4.5 predicts classes", "use cart"),
        (
            {"target": ("sugar", "weight"), "algorithm": resolve("chaid", {}, Task.REGRESSION)},
            ("target",),
            "CHAID predicts one number",
            "use cart",
        ),
    ],
)
def test_lists_of_targets_that_do_not_fit(changes, path, detail, hint):
    (fault,) = faults_of(**(NUMBERS | changes))
    assert fault.path == path
    assert detail in fault.detail
    assert (hint or "") in (fault.hint or "")


def test_every_target_of_a_list_must_be_small_enough_and_be_there():
    columns = summarize(table_of({"a": [1, 2], "y": [1.0, 2.0], "large": [1e101, 0.0], "empty": [None, None]}))
    config = TrainingConfig(("y", "large", "empty"), CART)
    with pytest.raises(InvalidConfig) as error:
        check(config, columns, {})
    assert [(fault.path, fault.detail.split(" ")[1]) for fault in error.value.faults] == [
        (("target", 2), "is"),
        (("target", 1), "goes"),
    ]


def test_a_dataset_that_validates_must_have_every_target():
    others = {Part.VALIDATION: [column for column in COLUMNS if column.name != "negative"]}
    division = DatasetsDivision("ds_1", None)
    (fault,) = faults_of(others, target=("sugar", "negative"), division=division, **NUMBERS)
    assert (fault.path, fault.detail) == (("division", "validation"), 'that dataset has no column "negative"')


def chaid(**options):
    return resolve("chaid", options, Task.CLASSIFICATION)


@pytest.mark.parametrize(
    ("options", "path", "detail", "hint"),
    [
        ({"stopping": {"max_leaves": 5}}, ("stopping", "max_leaves"), "CHAID's splits have none", "max_depth"),
        ({"stopping": {"min_gain": 0.1}}, ("stopping", "min_gain"), "looks at gains", "alpha"),
        ({"alpha_merge": 0.01}, ("alpha_split",), "alpha_split (0.05) is above alpha_merge (0.01)", "null"),
    ],
)
def test_what_does_not_go_with_chaid(options, path, detail, hint):
    (fault,) = faults_of(algorithm=chaid(**options))
    assert fault.path == ("algorithm", *path)
    assert detail in fault.detail
    assert hint in fault.hint


def test_chaid_takes_every_kind_of_attribute_but_not_too_many_categories():
    check(replace(CONFIG, algorithm=chaid(), attributes=("texture", "density", "grade")), COLUMNS, {})
    many = [f"c{number}" for number in range(2_001)]
    columns = summarize(table_of({"many": many, "good": ["yes", *["no"] * 2_000]}))
    with pytest.raises(InvalidConfig, match='"many" has 2001 categories'):
        check(replace(CONFIG, algorithm=chaid(), attributes=None), columns, {})


@pytest.mark.parametrize(
    ("overrides", "path"),
    [
        ({"missing": "surrogate"}, ("algorithm", "missing")),
        (
            {
                "criterion": {"kind": "information_gain"},
                "attribute_costs": {"kind": "tan_schlimmer", "costs": {"density": 2}},
            },
            ("algorithm", "attribute_costs"),
        ),
        (
            {"criterion": {"kind": "gain_ratio", "numeric_correction": "release8"}},
            ("algorithm", "criterion", "numeric_correction"),
        ),
    ],
)
def test_what_is_about_single_attributes_does_not_go_with_sums(overrides, path):
    (fault,) = faults_of(algorithm=resolve("multivariate", overrides, Task.CLASSIFICATION))
    assert fault.path == path
