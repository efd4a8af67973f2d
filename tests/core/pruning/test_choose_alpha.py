"""Alpha chosen on validation rows and by cross-validation, against pruning and predicting for each alpha by itself."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import (
    AlphaRule,
    Choose,
    Cost,
    CostComplexityPruning,
    DatasetsDivision,
    NoDivision,
    TrainingConfig,
)
from core.config.presets import COSTS
from core.engine.definition import grow
from core.growth.samples import Samples
from core.pruning.choose_alpha import by_cross_validation, fold_of_rows, midpoints
from core.pruning.cost_complexity import weakest_link_steps
from core.storage.serialization import dump, load
from core.tables.parts import Part
from core.tables.target import ClassTarget, Task
from core.training.preparation import Prepared, take
from core.training.train import prune_again
from core.tree.history import CrossValidation, History, Method
from core.tree.tree import full_view
from tests.core.both_engines import train
from tests.core.building import cart, cart_for_numbers
from tests.core.pruning.replay import accuracy_of, score_of
from tests.core.pruning.test_reduced_error import shuffled_targets
from tests.core.strategies import crowded_samples, trainings
from tests.examples import examples

pytestmark = pytest.mark.bounds

CROSS = CostComplexityPruning(Cost.GINI, choose=Choose.CROSS_VALIDATION, folds=4)


def config_for(samples, algorithm, pruning, seed=0) -> TrainingConfig:
    return TrainingConfig("target", algorithm, division=NoDivision(), pruning=pruning, seed=seed)


def prepared_of(train: Samples, validation: Samples | None = None) -> Prepared:
    return Prepared({Part.TRAIN: train, Part.VALIDATION: validation, Part.TEST: None}, ())


def loss_of(view, samples: Samples) -> float:
    """The mean loss, by predicting every row."""
    return 1 - accuracy_of(view, samples) if isinstance(samples.target, ClassTarget) else -score_of(view, samples)


@examples(60)
@given(trainings(max_rows=24), st.integers(0, 2**32))
def test_validation_rows_choose_the_smallest_of_the_best(training, seed):
    samples, algorithm = training
    validation = shuffled_targets(samples, seed)
    cost = COSTS[algorithm.criterion.kind]
    pruning = CostComplexityPruning(cost, choose=Choose.VALIDATION)
    config = replace(config_for(samples, algorithm, pruning), division=DatasetsDivision("ds_validation"))
    history = train(prepared_of(samples, validation), config).history
    steps = [0, *(s.number for s, after in zip(history.steps, [*history.steps[1:], None], strict=False)
                  if after is None or s.alpha != after.alpha)]  # fmt: skip
    if len(history.steps) and history.steps[0].alpha == 0:
        steps = steps[1:]
    losses = {step: loss_of(history.view(step), validation) for step in steps}
    least = min(losses.values())
    tie = 1e-9 * max(1.0, max(losses.values()))
    assert history.selected in losses
    assert losses[history.selected] <= least + tie
    later = [loss for step, loss in losses.items() if step > history.selected]
    assert all(loss > least + tie * 1e-4 for loss in later)


def table_by_hand(samples: Samples, algorithm, cost: Cost, n_folds: int, seed: int):
    """Each alpha by itself: prune every fold's tree at the midpoint, and answer the rows left out."""
    tree = grow(samples, algorithm, seed=seed)
    alphas = np.unique(np.append(0.0, weakest_link_steps(full_view(tree), cost).alpha))
    folds, losses = fold_of_rows(samples.target, n_folds, seed), np.zeros((len(alphas), len(samples)))
    for fold in range(n_folds):
        inside, outside = (take(samples, np.flatnonzero(part)) for part in (folds != fold, folds == fold))
        fold_tree = grow(inside, algorithm, seed=seed)
        steps = weakest_link_steps(full_view(fold_tree), cost)
        history = History(fold_tree, steps, len(steps))
        for position, alpha in enumerate(midpoints(alphas)):
            view = history.view(history.last_with_alpha(alpha + 1e-13))
            for row in np.flatnonzero(folds == fold):
                losses[position, row] = loss_of(view, take(samples, np.array([row])))
        assert outside is not None
    weights = samples.weights
    means = losses @ weights / weights.sum()
    spread = np.sqrt(((losses - means[:, None]) ** 2) @ weights / weights.sum()) / np.sqrt(len(samples))
    return alphas, means, spread


@pytest.mark.parametrize("task", [Task.CLASSIFICATION, Task.REGRESSION])
@examples(15)
@given(seed=st.integers(0, 2**32))
def test_the_table_is_that_of_pruning_at_each_alpha(task, seed):
    chance = np.random.default_rng(seed)
    samples = crowded_samples(chance, task, min_rows=10, max_rows=22)
    samples = replace(samples, weights=chance.choice([1.0, 1.0, 2.0, 0.5], len(samples)))
    algorithm = cart() if task is Task.CLASSIFICATION else cart_for_numbers()
    cost = Cost.GINI if task is Task.CLASSIFICATION else Cost.SQUARED_ERROR
    config = config_for(samples, algorithm, replace(CROSS, cost=cost), seed=seed % 1000)
    model = train(prepared_of(samples), config)
    table = model.history.cross_validation
    if table is None:
        assert len(model.tree) == 1
        return
    alphas, means, spread = table_by_hand(samples, algorithm, cost, 4, seed % 1000)
    assert table.alpha == pytest.approx(alphas, rel=1e-9, abs=1e-12)
    scale = float(means.max())
    assert table.error == pytest.approx(means, rel=1e-6, abs=1e-9 * max(1.0, scale))
    assert table.standard_error == pytest.approx(spread, rel=1e-5, abs=1e-7 * max(1.0, scale))
    assert table.leaves.tolist() == [len(model.view(int(step)).leaves) for step in table.step]
    assert table.n_folds == 4
    again = load(dump(model))
    assert dump(again) == dump(model)
    assert again.history.selected == model.history.selected


def table_of_errors(error, standard_error) -> CrossValidation:
    n = len(error)
    steps = np.arange(n)
    return CrossValidation(steps / 10, steps, n - steps, np.array(error), np.array(standard_error), 5)


@pytest.mark.parametrize(
    ("error", "spread", "minimum", "one_standard_error"),
    [
        ([0.3, 0.2, 0.25, 0.4], [0.1, 0.06, 0.1, 0.1], 1, 2),
        ([0.3, 0.2, 0.2, 0.4], [0.1, 0.01, 0.01, 0.1], 2, 2),
        ([0.2, 0.3, 0.25, 0.6], [0.05, 0.1, 0.1, 0.1], 0, 2),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 2, 2),
    ],
)
def test_rules_and_ties(error, spread, minimum, one_standard_error):
    table = table_of_errors(error, spread)
    assert by_cross_validation(table, AlphaRule.MINIMUM) == minimum
    assert by_cross_validation(table, AlphaRule.ONE_STANDARD_ERROR) == one_standard_error


def test_alphas_are_judged_between_their_neighbours():
    assert midpoints(np.array([0.0, 0.01, 0.04])).tolist() == [0.0, pytest.approx(0.02), np.inf]


@given(st.integers(2, 7), st.integers(0, 100), st.integers(0, 2**32))
def test_folds_are_even_and_have_every_class(n_folds, seed, chance_seed):
    codes = np.random.default_rng(chance_seed).integers(0, 3, 40).astype(np.int32)
    folds = fold_of_rows(ClassTarget(("a", "b", "c"), codes), n_folds, seed)
    sizes = np.bincount(folds, minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1
    for code in range(3):
        of_class = np.bincount(folds[codes == code], minlength=n_folds)
        assert of_class.max() - of_class.min() <= 1
    assert (folds == fold_of_rows(ClassTarget(("a", "b", "c"), codes), n_folds, seed)).all()


def small_samples() -> Samples:
    return crowded_samples(np.random.default_rng(3), Task.CLASSIFICATION, min_rows=20, max_rows=20)


def test_alpha_by_hand_selects_the_last_step_that_is_not_above_it():
    samples = small_samples()
    whole = train(prepared_of(samples), config_for(samples, cart(), replace(CROSS, choose=None, alpha=0.0))).history
    assert whole.steps.leaves[-1] == 1
    for step in whole.steps:
        pruning = replace(CROSS, choose=None, alpha=step.alpha)
        history = train(prepared_of(samples), config_for(samples, cart(), pruning)).history
        assert history.steps == whole.steps
        assert history.steps[history.selected - 1].alpha == step.alpha
        assert history.selected == max(s.number for s in whole.steps if s.alpha <= step.alpha)
    assert train(prepared_of(samples), config_for(samples, cart(), replace(CROSS, choose=None, alpha=9.0))).view(
        len(whole.steps)
    ).leaves == [0]


def test_no_more_folds_than_rows_and_none_for_a_single_leaf():
    samples = small_samples()
    few = take(samples, np.arange(5))
    assert few is not None
    history = train(prepared_of(few), config_for(few, cart(), CROSS)).history
    pure = replace(few, target=ClassTarget(few.target.classes, np.zeros(5, dtype=np.int32)))
    assert train(prepared_of(pure), config_for(pure, cart(), CROSS)).history.cross_validation is None
    assert history.cross_validation is None or history.cross_validation.n_folds == 4
    three = take(samples, np.arange(3))
    assert three is not None
    table = train(prepared_of(three), config_for(three, cart(), CROSS)).history.cross_validation
    assert table is None or table.n_folds == 3


def test_without_validation_rows_cross_validation_chooses():
    samples = small_samples()
    wanted = replace(CROSS, choose=Choose.VALIDATION)
    one, other = (train(prepared_of(samples), config_for(samples, cart(), p)) for p in (wanted, CROSS))
    assert dump(one) == dump(other)


def test_a_tree_can_be_pruned_again_in_every_way():
    samples = small_samples()
    validation = shuffled_targets(samples, 5)
    prepared = prepared_of(samples, validation)
    gated = replace(cart(), stopping=replace(cart().stopping, validate_splits=True))
    for algorithm in (cart(), gated):
        first = train(prepared, config_for(samples, algorithm, CROSS))
        for pruning in (CROSS, replace(CROSS, choose=Choose.VALIDATION), replace(CROSS, choose=None, alpha=0.02)):
            config = config_for(samples, algorithm, pruning)
            again = prune_again(first, config, prepared)
            assert dump(again) == dump(train(prepared, config))
            assert again.tree is first.tree
        tried = {Method.VALIDATE_SPLITS} if algorithm is gated else set()
        assert {step.method for step in first.history.steps} - {Method.COST_COMPLEXITY} == tried
