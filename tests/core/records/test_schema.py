"""The JSON Schema of a record takes what a prediction takes, and nothing else."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from core.prediction.predictor import Predictor
from core.records.records import State, encode_records
from core.records.schema import MOST_LISTED, category_schema, example_record, record_json_schema
from core.tables.errors import RecordsDoNotFit
from core.tables.schema import Attribute, Kind
from core.tables.target import Task
from tests.core.building import cart, cart_for_numbers, model_of, samples_of
from tests.core.strategies import samples
from tests.examples import examples

CATEGORIES = {
    "words": ("red", "green"),
    "numbers": ("1", "2.5"),
    "truths": ("false", "true"),
    "both": ("3", "true"),
}
VALUES: list[Any] = [
    "red", "blue", "1", "", "true", True, False, 0, 1, 2.5, -7, 1e308, 10**308, 10**309, -(10**400),
    None, [], {}, ["red"],
]  # fmt: skip


def is_taken(record, model):
    try:
        encode_records([record], model.attributes, ignorable=(), ignore_unknown=False)
    except RecordsDoNotFit:
        return False
    return True


@pytest.fixture(scope="module")
def model():
    kinds = {name: Attribute(name, Kind.CATEGORICAL, known) for name, known in CATEGORIES.items()}
    kinds |= {
        "never": Attribute("never", Kind.CATEGORICAL, ()),
        "grade": Attribute("grade", Kind.ORDINAL, ("lo", "hi")),
    }
    columns = {"size": [1.5, 3], **{name: list(known) for name, known in CATEGORIES.items()}}
    return model_of(
        samples_of({**columns, "never": [None, None], "grade": ["lo", "hi"]}, ["p", "q"], kinds=kinds), cart()
    )


@pytest.mark.parametrize("name", [*CATEGORIES, "size", "grade", "never", "unknown"])
def test_what_fits_the_schema_is_taken_and_nothing_else(model, name):
    validator = Draft202012Validator(record_json_schema(model))
    for value in VALUES:
        assert validator.is_valid({name: value}) == is_taken({name: value}, model), value
    assert validator.is_valid({})


@examples(60)
@given(samples(max_columns=3, max_rows=6), st.data())
def test_any_models_records_fit_its_schema_when_they_can_be_predicted(drawn, data):
    model = model_of(drawn, cart() if drawn.target.task is Task.CLASSIFICATION else cart_for_numbers())
    described = record_json_schema(model)
    Draft202012Validator.check_schema(described)
    validator = Draft202012Validator(described)
    record = data.draw(st.dictionaries(st.sampled_from([*model.attributes.names, "other"]), st.sampled_from(VALUES)))
    assert validator.is_valid(record) == is_taken(record, model)


@examples(60)
@given(samples(max_columns=4, max_rows=6))
def test_the_example_of_any_model_is_predicted_with_every_value_that_can_be_known(drawn):
    model = model_of(drawn, cart() if drawn.target.task is Task.CLASSIFICATION else cart_for_numbers())
    example = example_record(model)
    assert Draft202012Validator(record_json_schema(model)).is_valid(example)
    records = encode_records([example], model.attributes, ignorable=(), ignore_unknown=False)
    unknowable = [a.name for a in model.attributes if not a.is_numeric and not a.categories]
    assert records.names(0, State.MISSING) == unknowable
    assert records.names(0, State.UNSEEN) == []
    assert np.isfinite(Predictor(model.view(0)).batch(records.table, kernels=False)).all()


def test_the_schema_tells_people_what_is_known(model):
    described = record_json_schema(model)
    assert described["title"] == "A record to predict target from"
    assert described["properties"]["size"]["description"] == "In training from 1.5 to 3."
    known = described["properties"]["grade"]["anyOf"][0]
    assert known == {"description": "From low to high. The values that the model knows.", "enum": ["lo", "hi"]}
    assert described["examples"] == [example_record(model)]


def test_of_very_many_categories_the_first_are_listed():
    many = Attribute("c", Kind.CATEGORICAL, tuple(f"c{i}" for i in range(MOST_LISTED + 5)))
    known = category_schema(many)["anyOf"][0]
    assert len(known["enum"]) == MOST_LISTED
    assert known["description"] == f"The first {MOST_LISTED} of {MOST_LISTED + 5} values that the model knows."
