"""Kinds of rows about asking a tree: class probabilities of many rows, of one record, and of rows with holes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.findings import Finding, Measured, Result, Setting
from bench.kinds import missing
from bench.ours import Ours, leaves_reached, samples_of, table_of
from bench.peers import ScikitLearn, onnx_session
from bench.tables import Data, Tables
from bench.timing import cpu_seconds, wall_seconds
from core.config.options import OnTie
from core.prediction.predictor import Predictor
from core.pruning.reduced_error import prune_by_validation
from core.tables.target import ClassTarget
from core.tree.history import Ledger
from core.tree.model import Model, training_ranges
from core.tree.tree import full_view
from service.serving.served_steps import ServedSteps

N_ASKED = 1_000_000
N_RECORDS = 2_000  # asked one by one, all different

Ask = Callable[[], object]


@dataclass(frozen=True)
class Limit:
    """A rival's name and how many times its speed is wanted."""

    rival: str
    floor: float
    goal: float


@dataclass(frozen=True)
class Asked:
    """Trees of a depth, grown from these tables by us and by scikit-learn, and the rivals in asking them."""

    name: str
    title: str
    tables: Tables
    depth: int
    limits: tuple[Limit, ...]


@dataclass(frozen=True)
class ManyRows(Asked):
    """CPU time for a million rows in one call, from float64."""

    def run(self, setting: Setting) -> Result:
        asked = unseen(self.tables, N_ASKED, setting)
        ours, theirs = grown(self.tables, self.depth, setting)
        session, numbers, table = onnx_session(theirs, asked.numbers.shape[1]), asked.numbers, table_of(asked)
        asks: dict[str, Ask] = {
            "scikit-learn": lambda: theirs.predict_proba(numbers),
            "onnxruntime": lambda: session.run(None, {"rows": numbers.astype(np.float32)}),
            "Niwaki": lambda: ours.batch(table, kernels=True),
        }
        measured = in_turn(asks, setting, lambda ask: cpu_seconds(ask)[0])
        return compared(self.name, self.title, measured, self.limits)


@dataclass(frozen=True)
class OneRecord(Asked):
    """Wall time of a call with one record, given in the form that its library likes best."""

    def run(self, setting: Setting) -> Result:
        numbers = unseen(self.tables, N_RECORDS, replace(setting, quick=False)).numbers
        ours, theirs = grown(self.tables, self.depth, setting)
        session = onnx_session(theirs, numbers.shape[1])
        rows, short = np.split(numbers, N_RECORDS), np.split(numbers.astype(np.float32), N_RECORDS)
        records = numbers.tolist()
        asks: dict[str, Ask] = {
            "scikit-learn": lambda: [theirs.predict_proba(row) for row in rows],
            "onnxruntime": lambda: [session.run(None, {"rows": row}) for row in short],
            "Niwaki": lambda: [ours.one(record) for record in records],
        }
        measured = in_turn(asks, setting, lambda ask: wall_seconds(ask) / N_RECORDS)
        return compared(self.name, self.title, measured, self.limits)


@dataclass(frozen=True)
class RowsWithHoles:
    """CPU time for each leaf that rows with holes reach, beside that for a complete row."""

    name: str
    title: str
    tables: Tables
    depth: int
    share: float
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        ours, _ = grown(self.tables, self.depth, setting)
        complete = table_of(unseen(self.tables, N_ASKED, setting))
        holes = table_of(unseen(missing(self.tables, self.share), N_ASKED, setting))
        asks: dict[str, Ask] = {
            "complete rows": lambda: ours.batch(complete, kernels=True),
            "rows with holes": lambda: ours.batch(holes, kernels=True),
        }
        measured = in_turn(asks, setting, lambda ask: cpu_seconds(ask)[0])
        a_row = measured["complete rows"].median / complete.n_rows
        a_leaf = measured["rows with holes"].median / leaves_reached(ours.view.tree, holes)
        what = "time of a leaf reached / a complete row's"
        finding = Finding(what, a_leaf / a_row, self.floor, self.goal, at_most=True)
        return Result(self.name, self.title, tuple(measured.values()), (finding,))


@dataclass(frozen=True)
class AnotherStep:
    """Wall time of single records and of many, asked of a step by its name, beside the same tree selected."""

    name: str
    title: str
    tables: Tables
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        model = pruned(self.tables, setting)
        history = model.history
        middle = len(history.steps) // 2
        name = f"leaves:{history.leaves_by_step[middle]}"
        other = ServedSteps(model)
        served = ServedSteps(replace(model, history=history.with_selected(other.number(name))))
        asked = unseen(self.tables, N_ASKED, setting)
        records, table = asked.numbers[:N_RECORDS].tolist(), table_of(asked)

        def of_one(steps: ServedSteps, step: str) -> Ask:
            return lambda: [steps.answering(steps.number(step)).predictor.one(record) for record in records]

        def of_many(steps: ServedSteps, step: str) -> Ask:
            return lambda: steps.answering(steps.number(step)).predictor.batch(table, kernels=True)

        asks = {
            "selected, one by one": of_one(served, "selected"),
            f"{name}, one by one": of_one(other, name),
            "selected, many rows": of_many(served, "selected"),
            f"{name}, many rows": of_many(other, name),
        }
        measured = in_turn(asks, setting, wall_seconds)
        one, one_step, many, many_step = (each.median for each in measured.values())
        what = "time of a step / the selected one's"
        findings = (
            Finding(f"{what}, one by one", one_step / one, self.floor, self.goal, at_most=True),
            Finding(f"{what}, many rows", many_step / many, self.floor, self.goal, at_most=True),
        )
        return Result(self.name, self.title, tuple(measured.values()), findings)


def pruned(tables: Tables, setting: Setting) -> Model:
    """A fully grown tree with a long history: pruned on rows it has not seen."""
    division = tables.division(0, quick=setting.quick)
    samples, aside = samples_of(division.train), samples_of(division.held_out)
    ledger = Ledger(Ours().fit(samples))
    prune_by_validation(ledger, aside, OnTie.CUT, kernels=True)
    classes = samples.target.classes if isinstance(samples.target, ClassTarget) else ()
    ranges = training_ranges(samples.attributes)
    return Model(samples.target.task, "y", classes, samples.attributes.schema, ranges, ledger.finished())


def grown(tables: Tables, depth: int, setting: Setting) -> tuple[Predictor, Any]:
    """Ours and scikit-learn's tree of the same table."""
    train = tables.division(0, quick=setting.quick).train
    ours, theirs = Ours(depth=depth), ScikitLearn(depth=depth)
    return Predictor(full_view(ours.fit(ours.prepare(train)))), theirs.fit(theirs.prepare(train))


def unseen(tables: Tables, n_rows: int, setting: Setting) -> Data:
    """Rows that no tree was grown from."""
    return replace(tables, n_rows=n_rows).division(1, quick=setting.quick).train


def in_turn(asks: dict[str, Ask], setting: Setting, clock: Callable[[Ask], float]) -> dict[str, Measured]:
    """Everyone's times, one after the other in each round; the first call of each is not counted."""
    measured = {label: Measured(label) for label in asks}
    for ask in asks.values():
        ask()
    for _ in range(setting.repeat):
        for label, ask in asks.items():
            measured[label].seconds.append(clock(ask))
    return measured


def compared(name: str, title: str, measured: dict[str, Measured], limits: tuple[Limit, ...]) -> Result:
    """How many times faster ours is than every rival."""
    findings = [
        Finding(
            f"speed / {limit.rival}'s",
            measured[limit.rival].median / measured["Niwaki"].median,
            limit.floor,
            limit.goal,
        )
        for limit in limits
    ]
    return Result(name, title, tuple(measured.values()), tuple(findings))
