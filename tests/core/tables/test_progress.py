"""A training tells how far it is all the time, and can be ended at any moment.

Silences are measured in the processor's time of this process: how long they last on a clock depends on what else the
machine does.
"""

import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from core.config.options import Algorithm, Categorical, MissingStrategy, ReducedErrorPruning, TrainingConfig
from core.engine.engine import Engine
from core.evaluation.evaluate import evaluate
from core.tables.progress import ignore_progress, part_of, watched
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.training.preparation import Prepared, prepare
from core.training.train import train
from tests.core.building import GINI

pytestmark = pytest.mark.slow

# Rows of noise that take each engine some seconds to grow, prune and evaluate.
ROWS = {Engine.DEFINITION: 4_000, Engine.KERNELS: 100_000}
STAGES = ["growing", "pruning", "evaluating"]
CONFIG = TrainingConfig("y", Algorithm("cart", GINI, Categorical.TWO_GROUPS), pruning=ReducedErrorPruning())


def test_a_part_is_told_as_a_part_of_the_whole() -> None:
    told: list[float] = []
    part = part_of(told.append, 0.5, 1.0)
    for done in (0.0, 0.5, 1.0):
        part(done)
    assert told == [0.5, 0.75, 1.0]


def test_items_are_told_one_by_one_and_then_that_all_are_done() -> None:
    told: list[float] = []
    assert list(watched("abcd", told.append)) == list("abcd")
    assert told == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert list(watched([], told.append)) == []
    assert told[-1] == 1.0
    assert list(watched("ab", ignore_progress)) == ["a", "b"]


@dataclass
class Listener:
    """Hears reports: the part of each stage that was told first and last, and the longest silence between two.

    What earlier tests have left in memory is not looked through meanwhile: that alone may take a second.
    """

    first: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    heard_at: float = field(default_factory=time.process_time)
    longest_silence: float = 0.0

    def __call__(self, stage: str, done: float) -> None:
        now = time.process_time()
        self.longest_silence = max(self.longest_silence, now - self.heard_at)
        self.heard_at = now
        assert done >= self.last.get(stage, 0.0)
        self.first.setdefault(stage, done)
        self.last[stage] = done


def prepared_noise(n_rows: int) -> Prepared:
    chance = np.random.default_rng(n_rows)
    attributes = [*(Attribute(f"x{i}", Kind.NUMERIC) for i in range(6)), Attribute("y", Kind.CATEGORICAL, ("a", "b"))]
    columns = [*(chance.random(n_rows) for _ in range(6)), chance.integers(2, size=n_rows).astype(np.int32)]
    return prepare(Table(Schema(tuple(attributes)), tuple(columns)), CONFIG, {})


@pytest.fixture(scope="module", autouse=True)
def _only_own_garbage() -> Iterator[None]:
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def run(
    prepared: Prepared, engine: Engine, report: Callable[[str, float], None], config: TrainingConfig = CONFIG
) -> None:
    """Train and evaluate, as a worker does."""
    model = train(prepared, config, report, engine=engine)
    kernels = engine is Engine.KERNELS
    last = model.history.selected
    evaluate(model, last, prepared.parts, kernels=kernels, watch=lambda done: report("evaluating", done))


@pytest.fixture(scope="module", params=ROWS)
def engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    run(prepared_noise(ROWS[chosen]), chosen, lambda _stage, _done: None)  # now everything is compiled and loaded
    return chosen


def test_every_stage_tells_how_far_it_is_all_the_time(engine: Engine) -> None:
    prepared, listener = prepared_noise(ROWS[engine]), Listener()
    run(prepared, engine, listener)
    assert list(listener.last) == STAGES
    assert set(listener.first.values()) == {0.0}
    assert set(listener.last.values()) == {1.0}
    assert listener.longest_silence < 0.5


def test_also_while_many_surrogates_are_written_down() -> None:
    # Hundreds of thousands of them, all of noise: they are Python's objects, and making these takes long.
    config = replace(CONFIG, algorithm=replace(CONFIG.algorithm, missing=MissingStrategy.SURROGATE))
    run(prepared_noise(2_000), Engine.KERNELS, lambda _stage, _done: None, config)
    listener = Listener()
    run(prepared_noise(60_000), Engine.KERNELS, listener, config)
    assert listener.longest_silence < 0.5


@pytest.mark.parametrize("done", [0.0, 0.02, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("stage", STAGES)
def test_a_report_that_raises_ends_the_work_at_once(engine: Engine, stage: str, done: float) -> None:
    raised: list[float] = []

    def report(at: str, progress: float) -> None:
        assert not raised
        if at == stage and progress >= done:
            raised.append(time.process_time())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(prepared_noise(ROWS[engine] // 4), engine, report)
    assert time.process_time() - raised[0] < 0.5
