"""Kinds of rows about the service under load."""

import os
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from tempfile import NamedTemporaryFile

import numpy as np

from bench.findings import Finding, Measured, Result, Setting
from bench.growing import NotMeasured
from bench.serving.claims import claims
from bench.serving.client import Connection, Refused, at_rate, saturate
from bench.serving.requests import CONSTANT, Requests, records
from bench.serving.servers import ROOT, Server, ended, niwaki, order, send_table, status, train_claims, worker

LOADING_SECONDS = 3.0  # compiled code is loaded in the background, from the first request on
SLICE_SECONDS, SLICES = 0.25, 4  # of one kind before the next has its turn; in each round
ROUND_SECONDS = 3.0
QUICK_SECONDS = 0.2

RATE, LATENCY_SECONDS, N_CONNECTIONS = 100.0, 10.0, 8
ALONE, BESIDE = WHO = ("alone", "beside it")
WHAT = {"p50": 0.5, "p99": 0.99}
N_BUSY, MANY_FOLDS, N_IN_TURN = 100_000, 50, 6
N_FIRST = 5_000

MakeRequest = Callable[[], Requests]


def length(seconds: float, setting: Setting) -> float:
    """So long, or only a moment."""
    return QUICK_SECONDS if setting.quick else seconds


@contextmanager
def claims_in_memory() -> Iterator[Server]:
    """The service with the tree of claims in memory, its compiled code too, and no worker any more."""
    with niwaki() as server:
        with worker(server):
            train_claims(server)
        yield server


@dataclass(frozen=True)
class AboveConstant:
    """CPU time of the service for a request, beside that for the same body on a route that answers a constant."""

    name: str
    title: str
    request: MakeRequest
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        with claims_in_memory() as server:
            request = self.request()
            measured = cpu_in_turn(server, {"predict": request, "constant answer": request.to(CONSTANT)}, setting)
        ratio = measured["predict"].median / measured["constant answer"].median
        finding = Finding("CPU time / constant answer's", ratio, self.floor, self.goal, at_most=True)
        return Result(self.name, self.title, tuple(measured.values()), (finding,))


@dataclass(frozen=True)
class ExplainedAbovePlain:
    """CPU time that explanations add to a record."""

    name: str
    title: str
    plain: MakeRequest
    explained: MakeRequest
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        with claims_in_memory() as server:
            plain, explained = self.plain(), self.explained()
            measured = cpu_in_turn(server, {"predict": plain, "predict and explain": explained}, setting)
        added = (measured["predict and explain"].median - measured["predict"].median) / plain.n_records
        finding = Finding("CPU time added, µs a record", 1e6 * added, self.floor, self.goal, at_most=True)
        return Result(self.name, self.title, tuple(measured.values()), (finding,))


def cpu_in_turn(server: Server, requests: dict[str, Requests], setting: Setting) -> dict[str, Measured]:
    """CPU time of the server for each request: some of a kind, then some of the next, many times over."""
    measured = {label: Measured(label) for label in requests}
    seconds = length(SLICE_SECONDS, setting)
    rates = {
        label: ask_for(server, request.data, 1, length(LOADING_SECONDS, setting)) for label, request in requests.items()
    }
    for _ in range(SLICES * setting.repeat):
        for label, request in requests.items():
            n_requests = max(1, int(rates[label] * seconds))
            with connected(server, 1) as (connection,):
                before = server.cpu_seconds
                for _ in range(n_requests):
                    connection.ask(next(request.data))
                measured[label].seconds.append((server.cpu_seconds - before) / n_requests)
    return measured


def ask_for(server: Server, requests: Iterator[bytes], n_connections: int, seconds: float) -> float:
    """Keep so many connections waiting for so long; how many answers there were a second."""
    with connected(server, n_connections) as connections:
        try:
            n_answers, spent = saturate(connections, requests, seconds)
        except Refused as refusal:
            raise NotMeasured(str(refusal)) from refusal
    return n_answers / spent


@contextmanager
def connected(server: Server, n_connections: int) -> Iterator[list[Connection]]:
    """Connections that stay open."""
    connections = [Connection(server.port) for _ in range(n_connections)]
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()


@dataclass(frozen=True)
class Rival:
    """Another server: what it is asked, and how many times its speed is wanted."""

    label: str
    start: Callable[[], AbstractContextManager[Server]]
    request: MakeRequest
    floor: float
    goal: float


@dataclass(frozen=True)
class Throughput:
    """Records a second while so many connections wait for answers; each server is one process, and has its turn."""

    name: str
    title: str
    request: MakeRequest
    n_connections: int
    rivals: tuple[Rival, ...]

    def run(self, setting: Setting) -> Result:
        seconds = length(ROUND_SECONDS, setting)
        ours = Rival("Niwaki", claims_in_memory, self.request, 1, 1)
        with ExitStack() as stack:
            servers = {each: stack.enter_context(each.start()) for each in (ours, *self.rivals)}
            requests = {each: each.request() for each in servers}
            measured = {each: Measured(each.label) for each in servers}
            for each, server in servers.items():
                ask_for(server, requests[each].data, self.n_connections, length(LOADING_SECONDS, setting))
            for _ in range(setting.repeat):
                for each, server in servers.items():
                    rate = ask_for(server, requests[each].data, self.n_connections, seconds)
                    measured[each].seconds.append(1 / (rate * requests[each].n_records))
        findings = [
            Finding(f"speed / {each.label}'s", measured[each].median / measured[ours].median, each.floor, each.goal)
            for each in self.rivals
        ]
        return Result(self.name, self.title, tuple(measured.values()), tuple(findings))


class Neighbour(ABC):
    """Single records at a fixed rate, alone and while something else goes on in or beside the service, in turn."""

    def latencies(self, server: Server, setting: Setting) -> dict[str, Measured]:
        """The middle and the slowest hundredth of each round."""
        seconds = length(LATENCY_SECONDS, setting)
        request = records(1).data
        measured = {label: Measured(label) for label in (f"{who}, {what}" for who in WHO for what in WHAT)}
        ask_for(server, request, 1, length(LOADING_SECONDS, setting))
        for _ in range(setting.repeat):
            for who in WHO:
                with self.beside(server) if who == BESIDE else nullcontext(), connected(server, N_CONNECTIONS) as each:
                    spent = at_rate(each, request, rate=RATE, seconds=seconds)
                for what, share in WHAT.items():
                    measured[f"{who}, {what}"].seconds.append(float(np.quantile(spent, share)))
        return measured

    @abstractmethod
    def beside(self, server: Server) -> AbstractContextManager[None]:
        """Have it go on."""


@dataclass(frozen=True)
class BatchInFlight(Neighbour):
    """A large batch is being answered at any time."""

    name: str
    title: str
    batch: MakeRequest
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        with claims_in_memory() as server:
            measured = self.latencies(server, setting)
        moved = measured[f"{BESIDE}, p99"].median - measured[f"{ALONE}, p99"].median
        finding = Finding("p99 moves by, ms", 1e3 * moved, self.floor, self.goal, at_most=True)
        return Result(self.name, self.title, tuple(measured.values()), (finding,))

    @contextmanager
    def beside(self, server: Server) -> Iterator[None]:
        with NamedTemporaryFile() as file:
            file.write(next(self.batch().data))
            file.flush()
            command = [sys.executable, "-m", "bench.serving.keep_asking", str(server.port), file.name]
            with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asking:
                assert asking.stdout is not None
                asking.stdout.readline()  # the first batch is answered
                yield
                asking.communicate()
        assert asking.returncode == 0


@dataclass(frozen=True)
class TrainingOnAllCores(Neighbour):
    """A worker trains as many trees at a time as there are cores."""

    name: str
    title: str
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        with claims_in_memory() as server, worker(server, "--slots", str(os.cpu_count())):
            measured = self.latencies(server, setting)
        ratio = measured[f"{BESIDE}, p99"].median / measured[f"{ALONE}, p99"].median
        finding = Finding("p99 / p99 alone", ratio, self.floor, self.goal, at_most=True)
        return Result(self.name, self.title, tuple(measured.values()), (finding,))

    @contextmanager
    def beside(self, server: Server) -> Iterator[None]:
        pruning = {"kind": "cost_complexity", "choose": "cross_validation", "folds": MANY_FOLDS}
        dataset_id = send_table(server, claims(np.random.default_rng(2), N_BUSY))
        n_cores = os.cpu_count() or 1
        trainings = [order(server, dataset_id, name="busy", pruning=pruning) for _ in range(n_cores * N_IN_TURN)]
        while sum(status(server, training) == "running" for training in trainings) < n_cores:
            time.sleep(0.1)
        yield
        assert status(server, trainings[-1]) == "queued", "the trainings ended before the measurement did"
        for training in reversed(trainings):  # those that wait first, lest they begin
            if status(server, training) in ("queued", "running"):
                server.call("POST", f"/v1/trainings/{training}/cancel")


@dataclass(frozen=True)
class WorkerStart:
    """From the start of a worker's process to the first tree it has stored; compiled code is on disk."""

    name: str
    title: str
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        measured = Measured("first tree stored")
        with niwaki() as server:
            dataset_id = send_table(server, claims(np.random.default_rng(3), N_FIRST))
            for _ in range(setting.repeat):
                training = order(server, dataset_id, name="first")
                started = time.time()
                with worker(server):
                    measured.seconds.append(ended(server, training) - started)
        finding = Finding("seconds", measured.median, self.floor, self.goal, at_most=True)
        return Result(self.name, self.title, (measured,), (finding,))
