"""A forest as bytes: the same forest again, little of it, and no damaged one."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import CriterionKind, MissingStrategy
from core.engine.definition import grow
from core.ensembles.forest import Forest
from core.ensembles.growing_forest import forest_of
from core.ensembles.model import ForestModel
from core.ensembles.prediction.predictor import ForestPredictor
from core.ensembles.shape import Shape
from core.storage.forest import forest_arrays, sizes_of
from core.storage.pieces import pieces
from core.storage.serialization import UnknownFormatError, dump, load
from core.tables.schema import Schema
from core.tables.target import Task
from core.tree.model import training_ranges
from tests.core.building import c45, cart, cart_for_numbers, samples_of, table_of
from tests.core.ensembles.building import bagged, forest_model_of
from tests.core.ensembles.prediction.test_predictor import wild_forest
from tests.core.ensembles.test_forest import assert_same_tree
from tests.core.stored_models import forest_model, stored
from tests.core.strategies import trainings
from tests.core.wild_trees import wild_schema
from tests.examples import examples

ROWS = {"x": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5], "colour": ["red", "red", "blue", "blue", "green", "red"]}


def wild_model(chance: np.random.Generator, schema: Schema, forest: Forest) -> ForestModel:
    n_outputs = forest.columns["values"].shape[1]
    is_of_classes = forest.task is Task.CLASSIFICATION
    classes = tuple(f"class {position}" for position in range(n_outputs)) if is_of_classes else ()
    target = "y" if is_of_classes or n_outputs == 1 else tuple(f"y{position}" for position in range(n_outputs))
    ranges = tuple(None for _ in schema)
    return ForestModel(forest.task, target, classes, schema, ranges, forest, chance.random(n_outputs))


def assert_comes_back(model: ForestModel) -> None:
    content = dump(model)
    again = load(content)
    assert isinstance(again, ForestModel)
    assert dump(again) == content
    for field in fields(ForestModel):
        if field.name not in ("forest", "prior"):
            assert getattr(again, field.name) == getattr(model, field.name), field.name
    assert again.prior.tobytes() == model.prior.tobytes()
    assert len(again) == len(model)
    for number in range(len(model)):
        found, wanted = again.forest.tree(number), model.forest.tree(number)
        assert repr(found.surrogates) == repr(wanted.surrogates)  # some of their thresholds are no numbers
        assert_same_tree(replace(found, surrogates=()), replace(wanted, surrogates=()))


@examples(40)
@given(trainings(max_outputs=3))
def test_what_is_loaded_is_what_was_dumped(training):
    samples, algorithm = training
    trees = [grow(samples, algorithm, seed=seed) for seed in (0, 1)]
    forest = forest_of(trees, [0, 0], [algorithm.criterion.kind], [samples.cuts])
    n_outputs = forest.columns["values"].shape[1]
    is_of_classes = samples.target.task is Task.CLASSIFICATION
    assert_comes_back(forest_model_of(samples, forest, "y" if is_of_classes else tuple("abc"[:n_outputs])))


@pytest.mark.slow
@examples(40)
@given(st.integers(0, 2**32), st.booleans())
def test_trees_that_nobody_grew_come_back_too(seed, surrogates):
    chance = np.random.default_rng(seed)
    schema = wild_schema(chance)
    assert_comes_back(wild_model(chance, schema, wild_forest(chance, schema, surrogates=surrogates)))


def test_kinds_costs_and_fills_are_kept():
    samples = samples_of(ROWS, ["a", "b", "a", "b", "a", "b"])
    trees = [grow(samples, algorithm) for algorithm in (cart(), c45())]
    forest = forest_of(trees, [0, 1], [CriterionKind.GINI, CriterionKind.GAIN_RATIO], [(), ((1.0,), None)])
    model = replace(
        forest_model_of(samples, replace(forest, costs=np.array([[0.0, 2.0], [1.0, 0.0]]))),
        missing=MissingStrategy.MAJORITY,
        fills=(2.5, 0.0),
    )
    assert_comes_back(model)
    again = load(dump(model))
    assert isinstance(again, ForestModel)
    assert again.costs is not None
    assert again.costs.tolist() == [[0.0, 2.0], [1.0, 0.0]]
    assert again.forest.cuts == ((), ((1.0,), None))
    assert again.as_trained(table_of({"x": [None], "colour": [None]}, {"colour": model.attributes[1]})).columns[0] == [
        2.5
    ]


def test_of_counted_rows_gains_and_sums_are_not_stored():
    chance = np.random.default_rng(0)
    samples = samples_of({"x": chance.normal(size=200).tolist()}, chance.choice(["a", "b"], 200).tolist())
    forest = bagged(samples, cart(), 3)
    arrays = forest_arrays(forest)
    n_inner = int((forest.columns["size"] > 1).sum())
    assert "gain" not in arrays
    assert "size" not in arrays
    assert len(arrays["threshold"]) == len(arrays["column"]) == n_inner
    assert len(arrays["values"]) == forest.n_nodes - n_inner
    assert len(dump(forest_model_of(samples, forest))) < 12 * forest.n_nodes + 1_000


def test_a_member_is_a_model_like_any_other():
    samples = samples_of(ROWS, ["a", "b", "a", "b", "a", "b"])
    model = forest_model_of(samples, bagged(samples, cart(), 3))
    member = model.member(1)
    assert_same_tree(member.tree, model.forest.tree(1))
    assert (member.classes, member.history.selected, len(member.history.steps)) == (model.classes, 0, 0)
    assert_same_tree(load(dump(member)).tree, member.tree)  # type: ignore[union-attr]


def test_the_median_weight_is_that_of_all_leaves():
    samples = samples_of({"x": [1, 2, 3, 4]}, ["a", "a", "a", "b"])
    trees = [grow(samples, cart()), grow(samples, cart(max_depth=0))]
    forest = forest_of(trees, [0, 0], [CriterionKind.GINI], [()])
    assert forest_model_of(samples, forest).median_leaf_weight == 3.0  # of 3, 1 and 4


@pytest.mark.parametrize(
    ("n_children", "start", "sizes"),
    [
        ([0], [0, 1], [1]),
        ([2, 0, 0], [0, 3], [3, 1, 1]),
        ([2, 2, 0, 0, 0], [0, 5], [5, 3, 1, 1, 1]),
        ([3, 0, 2, 0, 0, 0, 0, 2, 0, 0], [0, 6, 7, 10], [6, 1, 3, 1, 1, 1, 1, 3, 1, 1]),
        ([1, 0], [0, 2], [2, 1]),
    ],
)
def test_sizes_follow_from_the_numbers_of_children(n_children, start, sizes):
    assert sizes_of(np.array(n_children), np.array(start)).tolist() == sizes
    assert Shape(np.array(start), np.array(sizes)).n_children.tolist() == n_children


@pytest.mark.parametrize(
    ("n_children", "start"),
    [([2, 0], [0, 2]), ([0, 0], [0, 2]), ([2, 0, 0], [0, 1, 3]), ([2, 0, 0], [0, 0, 3]), ([2, 0, 0], [0, 2]),
     ([-1], [0, 1]), ([], [0]), ([0], [1, 1])],
)  # fmt: skip
def test_trees_that_are_not_whole_are_refused(n_children, start):
    with pytest.raises(ValueError, match="some"):
        sizes_of(np.array(n_children, dtype=np.int64), np.array(start))


def test_the_stored_forest_is_still_read():
    model = load(stored("forest"))
    assert isinstance(model, ForestModel)
    assert (model.task, model.target, model.classes) == (Task.CLASSIFICATION, "kind", ("p", "q"))
    assert model.attributes.names == ("size", "colour")
    assert model.prior.tolist() == [0.5, 0.5]
    assert [len(model.forest.tree(number)) for number in range(len(model))] == [5, 3]
    assert model.forest.tree(0).values.tolist() == [[4.0, 4.0], [4.0, 1.0], [4.0, 0.0], [0.0, 1.0], [0.0, 3.0]]
    # Of a record without size 5/8 go to p in the first tree, 4/8 in the second.
    records = table_of({"size": [1, 5, None], "colour": ["red", "blue", "red"]}, {"colour": model.attributes[1]})
    assert ForestPredictor(model.forest).average(records, kernels=False).tolist() == [
        [1.0, 0.0],
        [0.0, 1.0],
        [0.5625, 0.4375],
    ]


def test_the_same_trees_still_give_the_stored_bytes():
    assert dump(forest_model()) == stored("forest")
    assert dump(load(stored("forest"))) == stored("forest")


def test_a_forest_is_cut_into_its_header_and_its_trees():
    content = stored("forest")
    header, trees = pieces(content)
    assert header + trees == content


@pytest.mark.slow
@examples(300)
@given(st.data())
def test_damaged_bytes_are_refused_or_still_a_forest_that_answers(data):
    content = bytearray(stored("forest"))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(7, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        model = load(bytes(content))
    except UnknownFormatError:
        return
    if isinstance(model, ForestModel) and model.attributes.names == ("size", "colour"):
        records = table_of({"size": [1, None]})
        columns = (records.columns[0], np.zeros(2, dtype=np.int32))
        schema = Schema((records.schema[0], model.attributes[1]))
        with np.errstate(all="ignore"):
            ForestPredictor(model.forest).average(replace(records, schema=schema, columns=columns), kernels=True)


@pytest.mark.parametrize("cut", [20, 200, -1, -8, -40])
def test_a_truncated_forest_is_refused(cut):
    with pytest.raises(UnknownFormatError):
        load(stored("forest")[:cut])


def test_numbers_come_back_to_the_last_digit():
    samples = samples_of(ROWS, [0.1, 0.2, 0.3, 1e9, 5.0, 7.0])
    assert training_ranges(samples.attributes)[0] == (0.5, 5.5)
    assert_comes_back(forest_model_of(samples, bagged(samples, cart_for_numbers(), 3)))
