"""What attributes are worth when all is trained again without them."""

from dataclasses import replace

import numpy as np
import pytest

from core.config.options import (
    Choose,
    Committee,
    Cost,
    CostComplexityPruning,
    NoDivision,
    RandomDivision,
    Retraining,
    TrainingConfig,
)
from core.engine.engine import Engine
from core.ensembles.insight.out_of_bag import judge_out_of_bag
from core.ensembles.insight.retraining import UnseenRows, falls_when_retrained
from core.ensembles.prediction.predictor import ForestPredictor
from core.ensembles.training import train_forest
from core.evaluation.evaluate import measure_parts
from core.evaluation.importance import with_shuffled, worth
from core.tables.parts import Part
from core.training.preparation import prepare
from core.training.train import train
from tests.core.building import cart, cart_for_numbers, table_of

pytestmark = pytest.mark.bounds

N = 150
ORDER = TrainingConfig("y", cart(max_depth=4), division=RandomDivision(), importance=Retraining(repeats=2))
NOBODY_ASIDE = NoDivision()


def columns(*, seed: int = 1, with_copy: bool = True):
    """Two classes, and a number, told by `strong`, which stands there twice; `none` tells nothing."""
    chance = np.random.default_rng(seed)
    strong = chance.random(N)
    told = strong + 0.1 * chance.standard_normal(N)
    found = {"strong": strong.tolist(), "none": chance.random(N).tolist()}
    found |= {"copy": strong.tolist()} if with_copy else {}
    return found | {"y": ["high" if one > 0.5 else "low" for one in told], "z": told.tolist()}


def ordered(config=ORDER, *, target="y", **changes):
    """The rows and the configuration to learn one column from all but the other."""
    data = columns(**changes)
    names = tuple(name for name in data if name not in "yz")
    chosen = replace(config, target=target, attributes=names)
    return prepare(table_of(data), chosen, {}), chosen


def bagging(**options):
    return Committee("bagging", (cart(max_depth=4),), n_trees=5, **options)


@pytest.mark.parametrize("ensemble", [None, bagging()])
def test_what_a_copy_tells_as_well_is_not_missed(ensemble):
    strong, none, copy = falls_when_retrained(*ordered(replace(ORDER, ensemble=ensemble))).falls
    assert max(abs(strong.mean), abs(copy.mean), abs(none.mean)) < 0.1
    strong, none = falls_when_retrained(*ordered(replace(ORDER, ensemble=ensemble), with_copy=False)).falls
    assert strong.mean > 0.25 > abs(none.mean)


def test_a_fall_is_from_the_accuracy_of_the_model_to_that_of_models_trained_on_shuffled_rows():
    pruning = CostComplexityPruning(Cost.GINI, choose=Choose.VALIDATION)
    prepared, config = ordered(replace(ORDER, pruning=pruning), with_copy=False)
    found = falls_when_retrained(prepared, config)

    def accuracy_without(column, repeat):
        parts = dict(prepared.parts)
        for part in (Part.TRAIN, Part.VALIDATION):
            shuffled = with_shuffled(parts[part].attributes, column, config.seed, repeat)
            parts[part] = replace(parts[part], attributes=shuffled)
        model = train(replace(prepared, parts=parts), config)
        return worth(measure_parts(model, model.history.selected, prepared.parts)[Part.TEST])

    model = train(prepared, config)
    whole = worth(measure_parts(model, model.history.selected, prepared.parts)[Part.TEST])
    assert found.rows is UnseenRows.TEST
    for column, fall in enumerate(found.falls):
        lost = [whole - accuracy_without(column, repeat) for repeat in range(2)]
        assert (fall.mean, fall.spread) == (pytest.approx(np.mean(lost)), pytest.approx(np.std(lost)))


def test_without_test_rows_a_forest_is_asked_rows_out_of_the_bag_as_they_are():
    prepared, config = ordered(replace(ORDER, division=NOBODY_ASIDE, ensemble=bagging()), with_copy=False)
    found = falls_when_retrained(prepared, replace(config, importance=Retraining(repeats=1)))

    def accuracy(samples):
        forest = train_forest(replace(prepared, parts={**prepared.parts, Part.TRAIN: samples}), config)
        predictor = ForestPredictor(forest.forest)
        judged = judge_out_of_bag(forest, predictor, prepared.train, config.ensemble, seed=config.seed, kernels=False)
        return worth(judged.measures)

    shuffled = replace(prepared.train, attributes=with_shuffled(prepared.train.attributes, 0, config.seed, 0))
    assert found.rows is UnseenRows.OUT_OF_BAG
    assert found.falls[0].mean == pytest.approx(accuracy(prepared.train) - accuracy(shuffled))
    assert found.falls[0].mean > 0.2
    assert found.falls[0].spread == 0


@pytest.mark.parametrize("ensemble", [None, bagging(bootstrap=False)])
def test_what_leaves_no_row_out_is_cross_validated(ensemble):
    found = falls_when_retrained(*ordered(replace(ORDER, division=NOBODY_ASIDE, ensemble=ensemble), with_copy=False))
    assert found.rows is UnseenRows.CROSS_VALIDATION
    strong, none = found.falls
    assert strong.mean > 0.25 > abs(none.mean)


def test_numbers_several_targets_and_costs_have_their_own_measure():
    numbers = replace(ORDER, algorithm=cart_for_numbers(max_depth=4))
    for target in ("z", ("z",)):
        strong, none = falls_when_retrained(*ordered(numbers, target=target, with_copy=False)).falls
        assert strong.mean > 0.5 > abs(none.mean)
    costly = replace(ORDER, misclassification_costs={"high": {"low": 10.0}})
    strong, none = falls_when_retrained(*ordered(costly, with_copy=False)).falls
    assert strong.mean > 0.25  # the mean cost rises
    assert strong.mean > abs(none.mean)


def test_chance_comes_from_the_seed_alone_whatever_the_engine():
    prepared, config = ordered(replace(ORDER, ensemble=bagging()))
    wanted = falls_when_retrained(prepared, config, engine=Engine.DEFINITION)
    assert falls_when_retrained(prepared, config, engine=Engine.KERNELS, threads=2) == wanted
    assert falls_when_retrained(*ordered(replace(ORDER, ensemble=bagging(), seed=7))) != wanted


def test_there_is_nothing_to_measure_where_nothing_varies_or_no_row_is_left():
    assert falls_when_retrained(*ordered(replace(ORDER, importance=None))) is None
    one = replace(ORDER, algorithm=cart_for_numbers(), target="z", attributes=("a",), division=NOBODY_ASIDE)
    for values in ([1.0], [3.0, 3.0, 3.0]):
        table = table_of({"a": [float(position) for position in range(len(values))], "z": values})
        assert falls_when_retrained(prepare(table, one, {}), one) is None


@pytest.mark.parametrize("division", [RandomDivision(), NOBODY_ASIDE])
@pytest.mark.parametrize("ensemble", [None, bagging()])
def test_it_tells_how_far_it_is_and_can_be_ended(ensemble, division):
    order, heard = ordered(replace(ORDER, ensemble=ensemble, division=division)), []
    falls_when_retrained(*order, watch=heard.append)
    assert heard == sorted(heard)
    assert heard[0] == 0
    assert heard[-1] == pytest.approx(1.0)
    assert len(heard) > 3 * 7  # trainings

    def stop(done):
        if done > 0.5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        falls_when_retrained(*order, watch=stop)
