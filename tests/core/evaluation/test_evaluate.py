import numpy as np
import pytest

from core.evaluation.curve import errors_as_of
from core.evaluation.evaluate import evaluate
from core.evaluation.measures import measure_classes, measure_numbers
from core.prediction.routing import predict
from core.tables.parts import Part
from tests.core.building import KEEP, cart_for_numbers, id3, model_of, samples_of
from tests.core.pruning.replay import accuracy_of
from tests.golden_tables import PRINTED_ORDER, golden_samples


def errors_of(model, samples):
    return errors_as_of(model, np.arange(len(model.history.steps) + 1), samples)


@pytest.fixture(scope="module")
def watermelon():
    train = golden_samples("watermelon_2.0_train", attributes=PRINTED_ORDER)
    return train, golden_samples("watermelon_2.0_validation", attributes=PRINTED_ORDER, like=train)


def test_each_part_is_measured_as_of_the_step(watermelon):
    train, validation = watermelon
    model = model_of(train, id3(), validation=validation, pruning=KEEP)
    parts = {Part.TRAIN: train, Part.VALIDATION: validation, Part.TEST: None}
    for step in (0, model.history.selected):
        found = evaluate(model, step, parts)
        assert found.parts[Part.TEST] is None
        assert found.baseline[Part.TEST] is None
        for part, samples in ((Part.TRAIN, train), (Part.VALIDATION, validation)):
            answers = predict(model.view(step), samples.attributes)
            expected = measure_classes(answers, samples.target.codes, samples.weights, samples.target.classes)
            assert found.parts[part] == expected
            assert found.parts[part].accuracy == pytest.approx(accuracy_of(model.view(step), samples))
    assert evaluate(model, 0, parts).parts[Part.VALIDATION].accuracy == pytest.approx(3 / 7)
    assert evaluate(model, model.history.selected, parts).parts[Part.VALIDATION].accuracy == pytest.approx(5 / 7)


def test_the_baseline_answers_with_the_majority_of_the_training_rows(watermelon):
    train, validation = watermelon
    found = evaluate(model_of(train, id3()), 0, {Part.TRAIN: train, Part.VALIDATION: validation})
    assert found.baseline[Part.TRAIN].accuracy == 0.5
    assert found.baseline[Part.VALIDATION].accuracy == pytest.approx(3 / 7)
    assert found.baseline[Part.VALIDATION].log_loss == pytest.approx(np.log(2))
    assert found.baseline[Part.VALIDATION].auc == 0.5


def test_numbers_are_measured_too():
    train = samples_of({"a": [1, 2, 3, 4]}, [0.0, 2.0, 10.0, 10.0])
    aside = samples_of({"a": [1, 2, 4]}, [2.0, 0.0, 10.0])
    model = model_of(train, cart_for_numbers(), validation=aside, pruning=KEEP)
    found = evaluate(model, 1, {Part.TRAIN: train, Part.TEST: aside})
    assert found.parts[Part.TEST] == measure_numbers(np.array([[1.0], [1.0], [10.0]]), aside.target.numbers, np.ones(3))
    assert found.baseline[Part.TRAIN].r2 == pytest.approx(0.0)
    assert errors_of(model, aside) == pytest.approx([8 / 3, 2 / 3, 2 / 3])


def test_several_targets_are_measured_by_name_and_their_errors_summed_along_the_curve():
    train = samples_of({"a": [1, 2, 3, 4]}, [[0.0, 1.0], [2.0, 1.0], [10.0, 3.0], [10.0, 3.0]])
    aside = samples_of({"a": [1, 2, 4]}, [[2.0, 1.0], [0.0, 2.0], [10.0, 3.0]])
    model = model_of(train, cart_for_numbers(), validation=aside, pruning=KEEP, target=("y", "z"))
    found = evaluate(model, 1, {Part.TRAIN: train, Part.TEST: aside})
    assert [one.target for one in found.parts[Part.TEST].per_target] == ["y", "z"]
    assert [one.mae for one in found.parts[Part.TEST].per_target] == pytest.approx([2 / 3, 1 / 3])
    assert [one.r2 for one in found.baseline[Part.TRAIN].per_target] == pytest.approx([0.0, 0.0])
    full = ((2.0 - 0.0) ** 2 + (0.0 - 2.0) ** 2 + (2.0 - 1.0) ** 2) / 3
    cut = ((2.0 - 1.0) ** 2 + (0.0 - 1.0) ** 2 + (2.0 - 1.0) ** 2) / 3
    assert errors_of(model, aside)[:2] == pytest.approx([full, cut])
    assert errors_of(model, aside)[0] == pytest.approx(
        float((aside.weights @ (predict(model.view(0), aside.attributes) - aside.target.numbers) ** 2).sum()) / 3
    )
