import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.growth.held_out import labels_of
from core.prediction.routing import MissingPolicy, predict
from core.rules.extraction import path_rules
from core.rules.python_source import ordered_python, tree_python
from core.rules.simplification import OrderedRules
from core.tables.target import Task
from tests.core.building import c45, model_of, samples_of
from tests.core.rules.databases import rows_of
from tests.core.rules.wild_models import wild_model
from tests.examples import examples


def run(source: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(source, "rules", "exec"), names)
    assert all(not hasattr(value, "__path__") and type(value).__name__ != "module" for value in names.values())
    return names["predict"]


def records_of(table: Any) -> list[dict[str, Any]]:
    """Records, half of the holes left out and half of them None."""
    return [
        {name: cell for name, cell in zip(table.schema.names, row, strict=True) if cell is not None or position % 2}
        for position, *row in rows_of(table)
    ]


@examples(80)
@given(st.integers(0, 2**32), st.booleans())
def test_the_function_gives_the_answers_of_the_tree_to_the_last_bit(seed, has_costs):
    model, view, records = wild_model(seed)
    if has_costs and model.task is Task.CLASSIFICATION:
        costs = np.random.default_rng(seed).integers(0, 9, (len(model.classes),) * 2).astype(np.float64)
        view = replace(view, tree=replace(view.tree, costs=costs))
    answers = predict(view, records, MissingPolicy.WEIGHTED)
    answer = run(tree_python(model, view))
    for record, expected in zip(records_of(records), answers, strict=True):
        found = answer(record)
        if model.task is Task.CLASSIFICATION:
            assert found["probabilities"] == dict(zip(model.classes, expected.tolist(), strict=True))
            assert found["label"] == model.classes[labels_of(expected[None, :], view.tree.costs)[0]]
        elif isinstance(model.target, str):
            assert found == {"mean": expected[0]}
        else:
            assert found == {"mean": dict(zip(model.targets, expected.tolist(), strict=True))}


@examples(40)
@given(st.integers(0, 2**32))
def test_ordered_rules_answer_in_their_order(seed):
    model, view, records = wild_model(seed)
    if model.task is not Task.CLASSIFICATION:
        return
    rules = tuple(np.random.default_rng(seed).permutation(np.array(path_rules(view, model.attributes), dtype=object)))
    ordered = OrderedRules(rules[: len(rules) // 2], 0)
    answer = run(ordered_python(model, ordered))
    labels = ordered.labels(records)
    assert [answer(record)["label"] for record in records_of(records)] == [model.classes[label] for label in labels]


def test_the_source_can_be_imported_from_a_file(tmp_path: Path):
    model = model_of(samples_of({"纹理": list("清清模模"), "n": [1, 2, 3, 4]}, ["好", "好", "坏", "坏"]), c45())
    path = tmp_path / "tree.py"
    path.write_text(tree_python(model, model.view(0)), "utf-8")
    spec = importlib.util.spec_from_file_location("tree", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.predict({"纹理": "清"}) == {"label": "好", "probabilities": {"好": 1.0, "坏": 0.0}}
    assert module.predict({}) == {"label": "好", "probabilities": {"好": 0.5, "坏": 0.5}}


@pytest.mark.parametrize(("value", "label"), [(3, "p"), (3.0, "p"), ("3", "p"), (True, "q"), (float("nan"), "p")])
def test_categories_that_read_as_numbers_or_truth_values_are_taken_as_such(value, label):
    model = model_of(samples_of({"a": ["3", "3", "true"]}, list("ppq")), c45())
    assert run(tree_python(model, model.view(0)))({"a": value})["label"] == label
