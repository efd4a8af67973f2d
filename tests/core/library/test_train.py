from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.engine.engine import Engine
from core.library.train import Trained, named_columns, table, train
from core.storage.serialization import dump
from core.tables.errors import CoreError, EmptyTable, InvalidConfig, InvalidTable, RecordsDoNotFit
from core.tables.schema import Kind

pytestmark = pytest.mark.bounds

CART: dict[str, Any] = {
    "target": "y",
    "algorithm": {"kind": "cart"},
    "division": {"kind": "none"},
    "pruning": {"kind": "none"},
}


@pytest.fixture(scope="module")
def trained() -> Trained:
    return train(table({"x": [1, 2, 3, 4], "c": ["a", "b", "a", None], "y": ["no", "no", "yes", "yes"]}), CART)


def test_columns_of_every_sort_make_a_table() -> None:
    made = table(
        {
            "floats": np.array([1.5, np.nan], dtype=np.float32),
            "whole": np.array([1, 2]),
            "numbers": [1, None],
            "text": np.array(["a", "b"]),
            "objects": np.array(["a", None], dtype=object),
            "not a number": ["a", float("nan")],
            "truth": np.array([True, False]),
            "scalars": [np.float64(2.0), np.int64(3)],
        }
    )
    assert [attribute.kind for attribute in made.schema] == [
        *[Kind.NUMERIC] * 3,
        *[Kind.CATEGORICAL] * 4,
        Kind.NUMERIC,
    ]
    assert all(column.dtype in (np.float64, np.int32) for column in made.columns)
    np.testing.assert_array_equal(made.values("floats"), [1.5, np.nan])
    np.testing.assert_array_equal(made.values("numbers"), [1, np.nan])
    np.testing.assert_array_equal(made.values("not a number"), [0, -1])
    assert made.schema[made.schema.column("truth")].categories == ("true", "false")


def test_kinds_and_categories_can_be_declared() -> None:
    made = table(
        {"size": ["s", "l"], "code": np.array([3, 4]), "left out": [1, 2]},
        kinds={"size": "ordinal", "code": "categorical", "left out": "ignore"},
        categories={"size": ["s", "m", "l"]},
    )
    size, code, left_out = made.schema
    assert (size.kind, size.categories) == (Kind.ORDINAL, ("s", "m", "l"))
    assert (code.kind, code.categories) == (Kind.CATEGORICAL, ("3", "4"))
    assert left_out.kind is Kind.IGNORE
    np.testing.assert_array_equal(made.values("size"), [0, 2])


def test_a_matrix_has_columns() -> None:
    matrix = np.arange(6.0).reshape(3, 2)
    assert list(named_columns(matrix)) == ["x0", "x1"]
    np.testing.assert_array_equal(named_columns(matrix, ["a", "b"])["b"], [1, 3, 5])


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: table({}), EmptyTable, "at least one"),
        (lambda: table({"x": []}), EmptyTable, "at least one"),
        (lambda: table({"x": [1], "y": [1, 2]}), InvalidTable, '"y" has 2 cells, but "x" has 1'),
        (lambda: table({"x": [1, "a"]}), InvalidTable, "text in a column that begins with numbers"),
        (lambda: table({"x": [1, float("inf")]}), InvalidTable, "infinite in row 1"),
        (lambda: table({"x": np.array([np.inf])}), InvalidTable, "infinite in row 0"),
        (lambda: table({"x": np.zeros((2, 2))}), InvalidTable, "2 dimension(s), not 1"),
        (lambda: table({"x": np.float64(3)}), InvalidTable, "0 dimension(s), not 1"),
        (lambda: table({"x": np.array(["2026-01-01"], dtype="datetime64[D]")}), InvalidTable, "must be text, a number"),
        (lambda: table({"": [1]}), InvalidTable, "no name"),
        (lambda: table({"x": [1]}, kinds={"x": "number"}), InvalidTable, "no kind of column"),
        (lambda: table({"x": ["a"]}, kinds={"x": "ordinal"}), InvalidTable, "in which order"),
        (lambda: table({"x": ["a"]}, kinds={"y": "numeric"}), InvalidTable, "no such column"),
        (lambda: table({"x": ["a"]}, categories={"x": ["b"]}), InvalidTable, "not one of the declared"),
        (lambda: named_columns(np.zeros(3)), InvalidTable, "1 dimension(s), not 2"),
        (lambda: named_columns(np.zeros((3, 2)), ["a"]), InvalidTable, "1 names for 2 columns"),
    ],
)
def test_what_cannot_be_a_table_is_refused(make: Any, error: type[CoreError], words: str) -> None:
    with pytest.raises(error, match=None) as refused:
        make()
    assert words in str(refused.value)


def test_answers_classes_and_leaves_agree(trained: Trained) -> None:
    records = {"x": [1.0, 4.0, None], "c": ["a", "never seen", None]}
    answers = trained.answers(records)
    assert trained.model.classes == ("no", "yes")
    np.testing.assert_array_equal(answers, [[1, 0], [0, 1], [0.5, 0.5]])
    assert trained.classes(records) == ["no", "yes", "no"]
    for row, reached in enumerate(trained.leaves(records)):
        assert sum(weight for _, weight in reached) == pytest.approx(1)
        summed = sum(weight * trained.model.tree.answers[leaf] for leaf, weight in reached)
        np.testing.assert_allclose(summed, answers[row])


def test_a_tree_can_be_read(trained: Trained) -> None:
    assert trained.text() == "x <= 2.5: no (no 2)\nx > 2.5: yes (yes 2)\n"
    assert trained.rules() == ["if x <= 2.5 then no", "if x > 2.5 then yes"]
    assert len(trained.tree().leaves) == 2
    assert trained.history.steps == ()
    assert trained.warnings == ()


def test_records_may_be_a_table_or_leave_attributes_out(trained: Trained) -> None:
    whole = table({"y": ["no"], "c": ["b"], "x": [3], "something else": [1]})
    assert trained.classes(whole) == ["yes"]
    assert trained.classes({"x": [3]}) == ["yes"]
    np.testing.assert_array_equal(trained.answers({"c": ["a"]}), [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ({"x": [1], "d": ["a"]}, 'not an attribute of this model: "d"'),
        ({"z": [1]}, 'not an attribute of this model: "z"'),
        ({"y": ["no"]}, "no attribute of this model"),
        ({"x": ["one"]}, "must be a number"),
        ({"x": [np.inf]}, "infinite"),
    ],
)
def test_records_that_do_not_fit_are_refused(trained: Trained, records: Any, words: str) -> None:
    with pytest.raises((RecordsDoNotFit, InvalidTable)) as refused:
        trained.answers(records)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"step": 1}, "there is no step 1"),
        ({"step": -1}, "there is no step -1"),
        ({"missing": "guess"}, "no way to treat missing values"),
        ({"missing": "surrogate"}, "has no surrogates"),
    ],
)
def test_questions_that_make_no_sense_are_refused(trained: Trained, options: Any, words: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        trained.classes({"x": [1]}, **options)
    assert words in str(refused.value)


def test_missing_values_are_treated_as_asked(trained: Trained) -> None:
    np.testing.assert_array_equal(trained.answers({"x": [None]}, missing="majority_branch"), [[1, 0]])
    assert trained.leaves({"x": [None]}, missing="last_node") == [[(0, 1.0)]]


def test_numbers_can_be_predicted_by_weighted_rows_of_a_matrix() -> None:
    x = np.arange(40.0).reshape(20, 2)
    data = table({**named_columns(x), "y": x[:, 0] > 20, "w": np.ones(20)})
    with pytest.raises(InvalidConfig, match="predicts numbers, not classes"):
        train(table({"x": [1, 2], "y": [1.0, 2.0]}), CART).classes({"x": [1]})
    weighted = train(data, {**CART, "sample_weight": "w"})
    assert weighted.classes(data) == ["true" if first > 20 else "false" for first in x[:, 0]]


def test_pruning_leaves_a_history_whose_steps_can_be_asked() -> None:
    data = table({"x": [1, 2, 3, 4], "y": ["a", "b", "a", "b"]})
    held_out = table({"x": [1, 2, 3, 4], "y": ["a", "a", "a", "a"]})
    pruned = train(data, {**CART, "pruning": {"kind": "reduced_error"}}, validation=held_out)
    assert len(pruned.history.steps) >= 1
    assert len(pruned.tree(0).leaves) == 4 > len(pruned.tree().leaves)
    assert pruned.classes(data, step=0) == ["a", "b", "a", "b"]


def test_both_engines_give_the_same_tree_and_report() -> None:
    x = np.random.default_rng(0).normal(size=(600, 3))
    data = table({**named_columns(x), "y": (x[:, 0] * x[:, 1] > 0)})
    heard: list[str] = []
    by_definition, by_kernels = (
        train(data, CART, engine=engine, report=lambda stage, _: heard.append(stage))
        for engine in ("definition", "kernels")
    )
    assert by_definition.text() == by_kernels.text()
    np.testing.assert_array_equal(by_definition.answers(data), by_kernels.answers(data))
    assert by_definition.leaves(data) == by_kernels.leaves(data)
    assert set(heard) == {"growing", "pruning"}
    with pytest.raises(InvalidConfig, match="is no engine"):
        train(data, CART, engine="fast")


def test_threads_make_no_difference_and_there_is_at_least_one() -> None:
    data = table({**named_columns(np.random.default_rng(0).normal(size=(900, 3))), "y": ["a", "b", "c"] * 300})
    trained = [
        train(data, {"target": "y", "algorithm": {"kind": "cart"}}, engine="kernels", threads=threads)
        for threads in (1, 2)
    ]
    assert trained[0].text() == trained[1].text()
    with pytest.raises(InvalidConfig, match="there cannot be 0 threads"):
        train(data, {"target": "y", "algorithm": {"kind": "cart"}}, threads=0)


def test_a_report_that_raises_ends_the_training() -> None:
    def stop(stage: str, progress: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(table({"x": [1, 2], "y": ["a", "b"]}), CART, report=stop)


def read_only(values: Any) -> Any:
    locked = values.copy()
    locked.flags.writeable = False
    return locked


def in_records(values: Any) -> Any:
    """The values as a field of packed records, where no number stands at a multiple of its own size."""
    records = np.zeros(len(values), dtype=np.dtype([("flag", "u1"), ("value", values.dtype)]))
    records["value"] = values
    return records["value"]


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "big endian": lambda values: values.astype(values.dtype.newbyteorder(">")),
    "little endian": lambda values: values.astype(values.dtype.newbyteorder("<")),
    "every other place": lambda values: np.repeat(values, 2)[::2],
    "backwards": lambda values: values[::-1].copy()[::-1],
    "read only": read_only,
    "unaligned": in_records,
}


ROWS = {Engine.DEFINITION: 120, Engine.KERNELS: 600}  # the definition takes the square of that


def numbers_of_every_sort(n_rows: int) -> dict[str, Any]:
    """Columns of all sizes of numbers, two targets and a weight."""
    chance = np.random.default_rng(5)
    floats = chance.normal(size=n_rows)
    columns = {
        "float64": np.where(chance.random(n_rows) < 0.1, np.nan, floats),
        "float32": chance.normal(size=n_rows).astype(np.float32),
        "int64": chance.integers(-(2**40), 2**40, n_rows),
        "int16": chance.integers(-9, 9, n_rows).astype(np.int16),
        "uint8": chance.integers(0, 200, n_rows).astype(np.uint8),
    }
    hidden = floats + columns["int16"] / 9 + chance.normal(0.0, 0.3, n_rows)
    words = np.array(["low", "middle", "high"])[np.digitize(hidden, [-0.5, 0.5])]
    return {**columns, "class": words, "number": hidden.round(3), "weight": chance.uniform(0.5, 2.0, n_rows)}


@pytest.mark.parametrize("engine", [Engine.DEFINITION, Engine.KERNELS])
@pytest.mark.parametrize("target", ["class", "number"])
def test_how_numbers_stand_in_memory_changes_nothing(target: str, engine: Engine) -> None:
    other = {"class": "number", "number": "class"}[target]
    columns = numbers_of_every_sort(ROWS[engine])
    del columns[other]
    config = {"target": target, "algorithm": {"kind": "cart"}, "sample_weight": "weight"}
    model, answers = trained_bytes(columns, config, engine)
    for name, lay_out in LAYOUTS.items():
        found = trained_bytes({column: lay_out(values) for column, values in columns.items()}, config, engine)
        assert found == (model, answers), name


@pytest.mark.parametrize("engine", [Engine.DEFINITION, Engine.KERNELS])
def test_how_a_matrix_stands_in_memory_changes_nothing(engine: Engine) -> None:
    matrix = np.random.default_rng(6).normal(size=(ROWS[engine], 4))
    layouts = [
        matrix,
        np.asfortranarray(matrix),
        matrix.astype(">f8"),
        np.asfortranarray(matrix.astype(">f8")),
        np.repeat(np.repeat(matrix, 2, axis=0), 3, axis=1)[::2, ::3],
        read_only(matrix),
    ]
    config = {"target": "x3", "algorithm": {"kind": "cart"}}
    first, *others = [trained_bytes(named_columns(layout), config, engine) for layout in layouts]
    assert others == [first] * len(others)


def trained_bytes(columns: dict[str, Any], config: dict[str, Any], engine: Engine) -> tuple[bytes, bytes]:
    """The model as it would be stored, and its answers to the rows it was trained on."""
    trained = train(table(columns), {"division": {"kind": "none"}, **config}, engine=engine)
    attributes = {name: columns[name] for name in trained.model.attributes.names}
    return dump(trained.model), trained.answers(attributes).tobytes()
