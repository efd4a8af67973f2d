import sqlite3
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.prediction.routing import MissingPolicy, predict
from core.rules.extraction import path_rules
from core.rules.simplification import OrderedRules
from core.rules.sql import as_float, case_sql, identifier, literal, number, summed, weighted_sql
from core.tables.target import Task
from tests.core.building import c45, model_of, samples_of
from tests.core.rules.databases import in_postgres, in_sqlite
from tests.core.rules.wild_models import NASTY, decided, wild_model
from tests.examples import examples

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
# Read wrongly by SQLite 3.40 as decimals, or at the ends of what there is.
HARD = (8.90029543402881e-308, 5e-324, 1.7976931348623157e308, 0.30000000000000004, 2.2250738585072014e-308, -0.0, 1e22)


@pytest.fixture(scope="module")
def postgres(postgres_server: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres_server, autocommit=True, prepare_threshold=None) as connection:
        yield connection


def assert_case_answers(answers: list[tuple[Any, ...]], model: Any, view: Any, records: Any) -> None:
    leaves = decided(view, records)
    for row, found in enumerate(answers):
        if row not in leaves:
            assert set(found) == {None}
        elif model.task is Task.CLASSIFICATION:
            assert found == (model.classes[view.tree.labels[leaves[row]]],)
        else:
            assert found == tuple(view.tree.answers[leaves[row]].tolist())


@pytest.mark.slow
@examples(60)
@given(st.integers(0, 2**32))
def test_a_case_answers_as_the_tree_does_and_nothing_where_a_value_that_decides_is_null(seed):
    model, view, records = wild_model(seed)
    expression = case_sql(model, path_rules(view, model.attributes), None)
    assert_case_answers(in_sqlite(expression, records), model, view, records)


@examples(25)
@given(st.integers(0, 2**32))
def test_the_weighted_form_answers_rows_with_nulls_as_a_prediction_does(seed):
    model, view, records = wild_model(seed)
    answers = np.array(in_sqlite(weighted_sql(model, view), records))
    assert answers == pytest.approx(predict(view, records, MissingPolicy.WEIGHTED), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_postgres_answers_the_same(postgres, seed):
    model, view, records = wild_model(seed)
    rules = path_rules(view, model.attributes)
    assert_case_answers(in_postgres(postgres, case_sql(model, rules, None), records), model, view, records)
    answers = np.array(in_postgres(postgres, weighted_sql(model, view), records), dtype=np.float64)
    assert answers == pytest.approx(predict(view, records, MissingPolicy.WEIGHTED), rel=1e-12, abs=1e-12)


@examples(300)
@given(FLOATS)
def test_sqlite_reads_numbers_as_they_are(value):
    assert read_by_sqlite(value) == (value, value)


@pytest.mark.parametrize("value", HARD)
def test_hard_numbers_are_read_as_they_are(value, postgres):
    assert read_by_sqlite(value) == (value, value)
    (read, told) = postgres.execute(f"SELECT ({number(value)})::float8, {as_float(value)}".encode()).fetchone()
    assert (float(read), told) == (value, value)
    assert isinstance(told, float)


def test_postgres_reads_numbers_as_they_are(postgres):
    chance = np.random.default_rng(5)
    values = [*chance.normal(size=200).tolist(), *(10 ** chance.uniform(-300, 300, 200)).tolist(), 0.1, 3.0, -2.5]
    (read,) = postgres.execute(f"SELECT ARRAY[{', '.join(map(as_float, values))}]".encode()).fetchone()
    assert read == values


def read_by_sqlite(value: float) -> tuple[float, float]:
    connection = sqlite3.connect(":memory:")
    found: tuple[float, float] = connection.execute(f"SELECT {number(value)}, {as_float(value)}").fetchone()
    connection.close()
    return found


@examples(200)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1))
def test_whatever_a_text_holds_is_a_text_and_a_name_a_name(text):
    connection = sqlite3.connect(":memory:")
    cursor = connection.execute(f"SELECT {literal(text)} AS {identifier(text)}")
    assert cursor.fetchall() == [(text,)]
    assert cursor.description[0][0] == text
    connection.close()


def test_nasty_texts_are_texts_in_postgres_too(postgres):
    for text in NASTY:
        cursor = postgres.execute(f"SELECT {literal(text)} AS {identifier(text)}".encode())
        assert cursor.fetchall() == [(text,)]
        assert cursor.description[0].name == text


def test_a_category_that_the_model_does_not_know_is_routed_like_null():
    samples = samples_of({"a": ["u", "v", "u", "w"]}, list("pqpq"))
    model = model_of(samples, c45())
    expression, view = weighted_sql(model, model.view(0)), model.view(0)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE records (a TEXT)")
    connection.executemany("INSERT INTO records VALUES (?)", [["never seen"], [None]])
    unseen, missing = connection.execute(f"SELECT {expression} FROM records").fetchall()
    connection.close()
    assert unseen == missing == tuple((view.tree.share[1:] @ view.tree.answers[1:]).tolist())


def test_ordered_rules_end_with_their_default():
    samples = samples_of({"a": [1, 2, 3, 4]}, list("ppqq"))
    model = model_of(samples, c45())
    rules = path_rules(model.view(0), model.attributes)
    assert case_sql(model, rules[:1], 1) == "CASE\n  WHEN \"a\" <= 2.5 THEN 'p'\n  ELSE 'q'\nEND AS \"target\""
    assert case_sql(model, OrderedRules((), 1).rules, 1) == "'q' AS \"target\""


def test_thousands_of_terms_are_not_too_deep_for_sqlite():
    connection = sqlite3.connect(":memory:")
    assert connection.execute(f"SELECT {summed(['1.0'] * 7_777)}").fetchone() == (7777.0,)
    connection.close()
