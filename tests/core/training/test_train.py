from dataclasses import replace

import numpy as np
import pytest

from core.config.options import ColumnDivision, DatasetsDivision, NoDivision, OnTie, ReducedErrorPruning, TrainingConfig
from core.engine.engine import Engine
from core.storage.serialization import dump
from core.tables.parts import Part
from core.tables.target import Task
from core.training import train as training
from core.training.preparation import prepare
from core.tree.history import Decision, Method
from tests.core.both_engines import train
from tests.core.building import cart, cart_for_numbers, id3, table_of
from tests.golden_tables import PRINTED_ORDER, golden_table

pytestmark = pytest.mark.bounds

WATERMELON = TrainingConfig(
    target="好瓜",
    algorithm=id3(),
    attributes=PRINTED_ORDER,
    division=DatasetsDivision(validation="ds_1"),
    pruning=ReducedErrorPruning(),
)


def watermelon_model(**changes):
    config = replace(WATERMELON, **changes)
    others = {Part.VALIDATION: golden_table("watermelon_2.0_validation")}
    return train(prepare(golden_table("watermelon_2.0_train"), config, others), config)


def test_a_training_from_tables_prunes_as_printed():
    model = watermelon_model()
    assert [step.decision for step in model.history.steps] == [
        Decision.CUT,
        Decision.KEPT,
        Decision.CUT,
        Decision.KEPT,
        Decision.KEPT,
    ]
    assert model.classes == ("是", "否")
    assert model.target == "好瓜"
    assert model.attributes.names == PRINTED_ORDER
    assert model.ranges == (None,) * 6


def test_ties_are_cut_on_request():
    model = watermelon_model(pruning=ReducedErrorPruning(OnTie.CUT))
    assert len(model.view(model.history.selected).leaves) == 3


def test_gate_and_pruning_share_one_ledger():
    model = watermelon_model(algorithm=id3(validate_splits=True))
    assert [step.method for step in model.history.steps] == [Method.VALIDATE_SPLITS] * 3 + [Method.REDUCED_ERROR]
    assert [step.number for step in model.history.steps] == [1, 2, 3, 4]


def test_stages_are_reported_in_order():
    heard = []
    config = replace(WATERMELON, division=NoDivision(), pruning=TrainingConfig("y", cart()).pruning)
    training.train(prepare(golden_table("watermelon_2.0"), config, {}), config, lambda *report: heard.append(report))
    stages = [stage for stage, _ in heard]
    assert stages[0] == "growing"
    assert stages[-1] == "pruning"
    assert stages.index("pruning") == stages.count("growing")
    assert [dict(heard)[stage] for stage in ("growing", "pruning")] == [pytest.approx(1.0)] * 2


def test_class_weights_change_what_is_learnt_but_not_how_validation_is_counted():
    table = table_of({"a": [1] * 6, "part": ["train"] * 3 + ["validation"] * 3, "y": ["p", "p", "q", "p", "q", "q"]})
    config = TrainingConfig("y", cart(), division=ColumnDivision("part"), class_weights={"q": 5.0})
    prepared = prepare(table, config, {})
    model = train(prepared, config)
    assert model.tree.values[0].tolist() == [2.0, 5.0]
    assert prepared.parts[Part.VALIDATION].weights.tolist() == [1.0, 1.0, 1.0]


def test_ranges_are_those_of_the_training_rows():
    table = table_of(
        {"n": [3, 1, None, 99], "m": [None] * 4, "part": ["train"] * 3 + ["test"], "y": [1.0, 2.0, 3.0, 4.0]}
    )
    config = TrainingConfig("y", cart_for_numbers(), division=ColumnDivision("part"))
    model = train(prepare(table, config, {}), config)
    assert model.task is Task.REGRESSION
    assert model.classes == ()
    assert model.ranges == ((1.0, 3.0), None)
    assert np.isclose(model.tree.answers[0][0], 2.0)


def test_both_engines_store_the_same_bytes():
    chance = np.random.default_rng(7)
    x, z = chance.normal(size=700).round(2), chance.integers(0, 9, 700)
    columns = {
        "x": [None if i % 7 == 0 else float(value) for i, value in enumerate(x)],
        "z": z.tolist(),
        "y": np.where((x > 0) ^ (z > 4) ^ (chance.random(700) < 0.1), "p", "q").tolist(),
    }
    config = TrainingConfig("y", cart(), pruning=ReducedErrorPruning())
    prepared = prepare(table_of(columns), config, {})
    by_engine = {engine: dump(training.train(prepared, config, engine=engine)) for engine in Engine}
    assert by_engine[Engine.DEFINITION] == by_engine[Engine.KERNELS] == by_engine[Engine.AUTO]
