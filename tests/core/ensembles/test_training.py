import numpy as np
import pytest

from core.config.committee_presets import resolve_method
from core.config.options import NoDivision, RandomDivision, TrainingConfig
from core.engine.engine import Engine
from core.ensembles.insight.evaluation import evaluate_forest
from core.ensembles.isolation.evaluation import evaluate_isolation
from core.ensembles.isolation.scores import IsolationPredictor
from core.ensembles.prediction.predictor import average_of_trees
from core.ensembles.training import prior_of, train_forest, train_isolation
from core.evaluation.evaluate import measure
from core.prediction.routing import MissingPolicy
from core.storage.serialization import UnknownFormatError, dump, load
from core.tables.parts import Part
from core.tables.target import Task
from core.training.preparation import prepare
from tests.core.building import samples_of, table_of

ROWS = range(60)
TABLE = table_of(
    {
        "a": [None if row % 9 == 0 else float(row * 7 % 20) for row in ROWS],
        "b": [None if row % 7 == 0 else "xyz"[row % 3] for row in ROWS],
        "y": ["p" if (row * 7 % 20) + 5 * (row % 3 == 0) > 11 else "q" for row in ROWS],
        "z": [float(row * 7 % 20) + row % 3 for row in ROWS],
    }
)


def config_of(kind, options, target, **others):
    task = Task.ANOMALY_DETECTION if target == () else Task.REGRESSION if target != "y" else Task.CLASSIFICATION
    algorithm, ensemble = resolve_method(kind, options, task)
    return TrainingConfig(
        target, algorithm, ensemble=ensemble, attributes=("a", "b"), **{"division": NoDivision(), **others}
    )


def forest_of(options, target="y", **others):
    config = config_of("random_forest", {"n_trees": 5, **options}, target, **others)
    prepared = prepare(TABLE, config, {})
    return train_forest(prepared, config, engine=Engine.DEFINITION), prepared, config


def test_a_forest_knows_what_it_would_answer_without_trees():
    model, prepared, _ = forest_of({}, class_weights={"p": 3.0})
    assert model.classes == prepared.train.target.classes == ("q", "p")
    n_p = int((prepared.train.target.codes == 1).sum())
    assert model.prior == pytest.approx([(60 - n_p) / (60 + 2 * n_p), 3 * n_p / (60 + 2 * n_p)])
    numbers, prepared, _ = forest_of({}, "z")
    assert numbers.prior == pytest.approx(prepared.train.target.numbers.mean(axis=0))
    assert prior_of(samples_of({"a": [1.0, 2.0]}, [1.0, 4.0], weights=[1.0, 2.0])) == pytest.approx([3.0])


def test_a_forest_of_filled_rows_fills_records():
    model, prepared, _ = forest_of({"missing": "majority"})
    filled = model.as_trained(prepared.train.attributes)
    assert not np.isnan(filled.values("a")).any()
    assert (filled.values("b") >= 0).all()
    plain, _, _ = forest_of({})
    assert np.isnan(plain.as_trained(prepared.train.attributes).values("a")).any()


def test_what_wrong_answers_cost_holds_for_the_forest():
    model, _, _ = forest_of({}, misclassification_costs={"p": {"q": 4.0}})
    assert model.costs is not None
    assert model.costs[model.classes.index("p"), model.classes.index("q")] == 4.0
    assert model.member(2).tree.costs is model.costs


def test_growing_is_reported_from_beginning_to_end_and_may_be_stopped():
    config = config_of("random_forest", {"n_trees": 4}, "y")
    prepared, heard = prepare(TABLE, config, {}), []
    train_forest(prepared, config, lambda stage, done: heard.append((stage, done)), engine=Engine.DEFINITION)
    assert {stage for stage, _ in heard} == {"growing"}
    done = [part for _, part in heard]
    assert done == sorted(done)
    assert done[0] == 0.0
    assert done[-1] <= 1.0
    assert len(done) >= 4

    def stop(_stage, done):
        if done > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_forest(prepared, config, stop, engine=Engine.DEFINITION)


def test_each_part_is_measured_by_the_mean_of_all_trees():
    model, prepared, config = forest_of({}, division=RandomDivision(0.6, 0.0, 0.4))
    found = evaluate_forest(model, prepared, config)
    for part in (Part.TRAIN, Part.TEST):
        samples = prepared.parts[part]
        answers = average_of_trees(model.forest, samples.attributes, MissingPolicy.WEIGHTED)
        assert found.parts[part] == measure(model, answers, samples)
        always = np.tile(model.prior, (len(samples), 1))
        assert found.baseline[part] == measure(model, always, samples)
    assert found.parts[Part.VALIDATION] is None
    assert found.out_of_bag.rows == found.baseline_out_of_bag.rows <= len(prepared.train)
    assert found.curve[-1].trees == 5
    assert found.curve[-1].error == pytest.approx(1 - found.out_of_bag.accuracy)


def test_trees_of_all_rows_have_no_rows_out_of_the_bag():
    model, prepared, config = forest_of({"bootstrap": False})
    found = evaluate_forest(model, prepared, config)
    assert (found.out_of_bag, found.baseline_out_of_bag, found.curve) == (None, None, ())


def isolation_of(**others):
    config = config_of("isolation_forest", {"n_trees": 6, "sample_size": 16, "threshold": 0.55}, (), **others)
    prepared = prepare(TABLE, config, {})
    return train_isolation(prepared, config), prepared


def test_an_isolation_forest_needs_no_target_and_loses_no_row():
    model, prepared = isolation_of()
    assert len(prepared.train) == len(ROWS)
    assert (model.task, model.target, model.targets, model.classes) == (Task.ANOMALY_DETECTION, (), (), ())
    assert len(model) == 6
    assert model.ranges == ((0.0, 19.0), None)


def test_a_tree_of_an_isolation_forest_answers_with_path_lengths():
    model, _ = isolation_of()
    member = model.member(3)
    assert (member.task, member.target) == (Task.REGRESSION, "path_length")
    assert member.tree.answers.min() >= 1
    assert len(member.history.steps) == 0


def test_an_isolation_forest_survives_being_stored():
    model, prepared = isolation_of()
    content = dump(model)
    again = load(content)
    assert dump(again) == content
    assert (again.attributes, again.ranges) == (model.attributes, model.ranges)
    table = prepared.train.attributes
    scores = [IsolationPredictor(one.isolation).scores(table, kernels=False) for one in (model, again)]
    assert scores[0].tolist() == scores[1].tolist()
    with pytest.raises(UnknownFormatError):
        load(content[:-1])


def test_scores_of_each_part_are_summed_up():
    model, prepared = isolation_of(division=RandomDivision(0.5, 0.0, 0.5, False))
    found = evaluate_isolation(model, prepared.parts)
    assert found[Part.VALIDATION] is None
    scores = IsolationPredictor(model.isolation).scores(prepared.parts[Part.TEST].attributes, kernels=False)
    test = found[Part.TEST]
    assert (test.rows, test.anomalies) == (len(scores), int((scores > 0.55).sum()))
    assert (test.mean_score, test.lowest_score) == (pytest.approx(scores.mean()), scores.min())
    assert test.highest_score == scores.max()
