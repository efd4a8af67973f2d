"""Kinds of rows about growing a tree."""

import json
import math
import subprocess
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from bench.contestants import Contestant
from bench.findings import Finding, Measured, Result, Setting
from bench.ours import Ours
from bench.tables import QUICK_SHARE, Data, Division, Tables
from bench.timing import all_cores_idle, cpu_seconds, wall_seconds

CELL_BYTES = 8  # of an encoded table


class NotMeasured(Exception):
    """Something is not there that the row is about."""


@dataclass(frozen=True)
class Entry:
    """A library on a kind of table."""

    contestant: Contestant
    tables: Tables
    label: str


@dataclass(frozen=True)
class Claim(ABC):
    """What is held against a rival; `on` other tables than the row's if told, under a label that says so."""

    rival: Contestant
    floor: float
    goal: float
    on: Tables | None = None
    label: str = ""

    @abstractmethod
    def finding(self, ours: Measured, rival: Measured) -> Finding:
        """The figure that stands for it."""


@dataclass(frozen=True)
class Faster(Claim):
    """At least so many times the rival's speed."""

    def finding(self, ours: Measured, rival: Measured) -> Finding:
        return Finding(f"speed / {rival.label}'s", rival.median / ours.median, self.floor, self.goal)


@dataclass(frozen=True)
class Within(Claim):
    """At most so many times the rival's time."""

    def finding(self, ours: Measured, rival: Measured) -> Finding:
        return Finding(f"time / {rival.label}'s", ours.median / rival.median, self.floor, self.goal, at_most=True)


@dataclass(frozen=True)
class AsAccurate(Claim):
    """At most 0.2 points of held-out accuracy below the rival's, in the mean of all tables."""

    floor: float = -0.2
    goal: float = -0.2

    def finding(self, ours: Measured, rival: Measured) -> Finding:
        assert ours.mean_accuracy is not None
        assert rival.mean_accuracy is not None
        points = 100 * (ours.mean_accuracy - rival.mean_accuracy)
        return Finding(f"accuracy - {rival.label}'s, points", points, self.floor, self.goal)


@dataclass(frozen=True)
class TreeRow:
    """One tree each, in turn: rival, ours, rival, ours, …; every round on another table."""

    threads: ClassVar[int] = 1

    name: str
    title: str
    tables: Tables
    ours: Ours
    claims: tuple[Claim, ...]

    def run(self, setting: Setting) -> Result:
        mine = Entry(self.ours, self.tables, "Niwaki")
        rivals = [self.rival_of(claim) for claim in self.claims]
        measured = {entry: Measured(entry.label) for entry in (mine, *rivals)}
        warm_up(list(measured))
        order = [entry for rival in dict.fromkeys(rivals) for entry in (rival, mine)]
        for seed in range(setting.repeat):
            one_round(order, measured, seed, quick=setting.quick, threads=self.threads)
        findings = [
            claim.finding(measured[mine], measured[rival]) for claim, rival in zip(self.claims, rivals, strict=True)
        ]
        return Result(self.name, self.title, tuple(measured.values()), tuple(findings))

    def rival_of(self, claim: Claim) -> Entry:
        return Entry(claim.rival, claim.on or self.tables, claim.label or claim.rival.name)


def warm_up(entries: list[Entry]) -> None:
    """Have everything compiled that a small table of the kind needs."""
    for entry in entries:
        entry.contestant.fit(prepared(entry, entry.tables.division(0, quick=True)))


def one_round(order: list[Entry], measured: dict[Entry, Measured], seed: int, *, quick: bool, threads: int = 1) -> None:
    """Everyone's tree of the table of a seed, one after the other in this order."""
    divisions = {tables: tables.division(seed, quick=quick) for tables in {entry.tables for entry in order}}
    inputs = {entry: prepared(entry, divisions[entry.tables]) for entry in dict.fromkeys(order)}
    models: dict[Entry, Any] = {}
    for entry in order:
        seconds, models[entry] = cpu_seconds(partial(entry.contestant.fit, inputs[entry]), threads=threads)
        measured[entry].seconds.append(seconds)
    for entry, model in models.items():
        held_out = divisions[entry.tables].held_out
        measured[entry].is_of_classes = held_out.n_classes > 0
        measured[entry].nodes.append(entry.contestant.n_nodes(model))
        measured[entry].accuracy.append(accuracy(entry.contestant, model, held_out))


def prepared(entry: Entry, division: Division) -> Any:
    """The training rows in the library's form; an error where it cannot be measured on them."""
    rows = entry.contestant.prepare(division.train)
    if reason := entry.contestant.why_not(rows):
        raise NotMeasured(reason)
    return rows


def accuracy(contestant: Contestant, model: Any, data: Data) -> float:
    """The share of right classes, or R²."""
    answers = contestant.predict(model, data)
    if data.n_classes:
        return float(np.mean(answers == data.answers))
    return 1 - float(np.mean((answers - data.answers) ** 2) / np.var(data.answers))


@dataclass(frozen=True)
class ThreadsRow:
    """Two threads against one, by the wall's clock; only while nothing else runs."""

    name: str
    title: str
    tables: Tables
    ours: Ours
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        one = Entry(self.ours, self.tables, "Niwaki, one thread")
        two = Entry(replace(self.ours, threads=2), self.tables, "Niwaki, two threads")
        measured = {entry: Measured(entry.label) for entry in (one, two)}
        warm_up([one, two])
        rows = prepared(two, self.tables.division(0, quick=setting.quick))
        for _ in range(setting.repeat):
            if not all_cores_idle():
                raise NotMeasured("cores busy")
            for entry in (one, two):
                measured[entry].seconds.append(wall_seconds(partial(entry.contestant.fit, rows)))
        finding = Finding("speed / one thread's", measured[one].median / measured[two].median, self.floor, self.goal)
        return Result(self.name, self.title, tuple(measured.values()), (finding,))


@dataclass(frozen=True)
class ScalingRow:
    """Times for more and more rows: none takes longer, for its n log n, than the first."""

    name: str
    title: str
    tables: Tables
    ours: Ours
    sizes: tuple[int, ...]

    def run(self, setting: Setting) -> Result:
        sizes = [size // QUICK_SHARE if setting.quick else size for size in self.sizes]
        entries = [Entry(self.ours, replace(self.tables, n_rows=size), f"Niwaki, {size:,} rows") for size in sizes]
        measured = {entry: Measured(entry.label) for entry in entries}
        warm_up(entries[-1:])
        for seed in range(setting.repeat):
            for entry in entries:
                one_round([entry], measured, seed, quick=False)
        per_step = [measured[entry].median / n_log_n(size) for entry, size in zip(entries, sizes, strict=True)]
        findings = [
            Finding(f"time / n log n, {size:,} / {sizes[0]:,} rows", each / per_step[0], 1.0, 1.0, at_most=True)
            for size, each in zip(sizes[1:], per_step[1:], strict=True)
        ]
        return Result(self.name, self.title, tuple(measured.values()), tuple(findings))


def n_log_n(n: int) -> float:
    """n log2 n."""
    return n * math.log2(n)


@dataclass(frozen=True)
class MemoryRow:
    """The most memory that growth takes above its input, in bytes for each cell, in a process of its own."""

    name: str
    title: str
    tables: str
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        finding = Finding(
            "bytes a cell", bytes_a_cell(setting, "memory", self.tables), self.floor, self.goal, at_most=True
        )
        return Result(self.name, self.title, findings=(finding,))


@dataclass(frozen=True)
class ForestMemoryRow:
    """What growth takes besides the input and the forest, in all, shared out among the threads; processes of their own.

    It is held against the encoded table: 8 bytes for each cell.
    """

    name: str
    title: str
    tables: str
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        findings = []
        for threads, said in ((1, "one thread"), (2, "two threads, each")):
            besides = bytes_a_cell(setting, "forest_memory", self.tables, str(threads)) / CELL_BYTES
            finding = Finding(
                f"besides the forest / table, {said}", besides / threads, self.floor, self.goal, at_most=True
            )
            findings.append(finding)
        return Result(self.name, self.title, findings=tuple(findings))


def bytes_a_cell(setting: Setting, module: str, *arguments: str) -> float:
    """What a module of this package finds in a process of its own."""
    how = "--quick" if setting.quick else "--no-quick"
    command = [sys.executable, "-m", f"bench.{module}", *arguments, how]
    answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    if "problem" in answer:
        raise NotMeasured(answer["problem"])
    return float(answer["bytes_a_cell"])
