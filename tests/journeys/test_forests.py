"""Many trees together, from a table with holes to answers: the same on both databases and by both engines."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.kernel_cache import KernelCache
from service.settings import Settings
from tests.journeys.running import ENGINE_ON, QUICK_LEASE, Service, eventually, serving, without_identity

N = 240
TABLE: dict[str, Any] = {
    "a": [None if row % 11 == 0 else (row * 37 % 101) / 100 for row in range(N)],
    "b": [(row * 53 % 97) / 97 for row in range(N)],
    "c": [None if row % 13 == 0 else "xyz"[row % 3] for row in range(N)],
}
TABLE["y"] = ["p" if (TABLE["a"][row] or 0.5) + 0.3 * (row % 3 == 0) > 0.6 else "q" for row in range(N)]
TABLE["z"] = [3 * (TABLE["a"][row] or 0.5) + TABLE["b"][row] for row in range(N)]
LOOKING = ["a", "b", "c"]
ORDERS: dict[str, dict[str, Any]] = {
    "bagging": {
        "algorithm": {"kind": "bagging", "base": ["cart", "c45"], "n_trees": 6},
        "target": "y",
        "importance": {"kind": "retraining", "repeats": 2},
    },
    "forest": {"algorithm": {"kind": "random_forest", "n_trees": 9, "imbalance": {"kind": "smote"}}, "target": "y"},
    "extra": {"algorithm": {"kind": "extra_trees", "n_trees": 5, "bootstrap": True}, "target": "z"},
    "isolation": {"algorithm": {"kind": "isolation_forest", "n_trees": 20, "sample_size": 64}, "target": None},
}
RECORDS = [{"a": 0.9, "b": 0.2, "c": "x"}, {"b": 0.4}, {"c": "new"}, {}]
READS = ("schema", "tree?index=2", "evaluation", "rules?index=1", "export?index=0", "pruning")
OF_COMMITTEES = ("proximity?limit=5", "importance?part=test&repeats=2")
MANY = 10_000  # trees: more than any engine grows while a test looks on


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """What the first database and engine answered; the others must answer the same."""
    return {}


def everything(service: Service, name: str) -> dict[str, Any]:
    """All that a model says, without what is its own here."""
    reads = (*READS, *(OF_COMMITTEES if name != "isolation" else ()))
    said = {path: service.call("GET", f"/v1/models/{name}/{path}") for path in reads}
    for options in ({}, {"explain": True}, {"voting": {"kind": "trimmed"}} if name != "isolation" else {}):
        said[str(options)] = service.post(f"/v1/models/{name}/predict", {"records": RECORDS, **options})
    plain: dict[str, Any] = without_identity(said)
    return plain


@pytest.mark.parametrize("name", ORDERS)
def test_a_forest_says_the_same_wherever_it_is_trained(service: Service, name: str, answers: dict[str, Any]) -> None:
    dataset = service.dataset(TABLE)
    order = {"attributes": LOOKING, "division": {"kind": "random"}, **ORDERS[name]}
    training = service.post("/v1/trainings", {"name": name, "dataset_id": dataset, **order}, status=202)
    ended = service.wait(training["id"])
    assert (ended["status"], ended["problem"], ended["stage"], ended["progress"]) == ("succeeded", None, None, 1)
    shown = service.get(f"/v1/models/{name}")
    assert shown["n_trees"] == ORDERS[name]["algorithm"]["n_trees"]
    said = {"digest": shown["digest"], "size": shown["size"], **everything(service, name)}
    assert answers.setdefault(name, said) == said
    service.call("DELETE", f"/v1/models/{name}", status=204)
    service.get(f"/v1/models/{name}", status=404)


@pytest.fixture
def alone(settings: Settings, tmp_path: Path, warm_kernels: KernelCache) -> Iterator[Service]:
    """A service of the test's own, whose processes may be killed."""
    (engine,) = [one for kind, one in ENGINE_ON.items() if settings.store_url.startswith(kind)]
    changes = {"embedded_worker": True, "port": 0, "max_attempts": 5, "engine": engine, **QUICK_LEASE}
    with serving(settings.model_copy(update=changes), tmp_path / "log") as service:
        yield service


def is_growing(service: Service, training: Any, attempt: int) -> bool:
    starts = [event for event in service.events() if event["event"] == "job_started"]
    shown = service.get(f"/v1/trainings/{training['id']}")
    return bool(starts) and starts[-1]["attempt"] >= attempt and shown["stage"] == "growing"


def test_a_forest_survives_the_end_of_its_worker_and_can_be_cancelled(alone: Service) -> None:
    dataset = alone.dataset({name: values * 20 for name, values in TABLE.items()})
    forest = {"kind": "random_forest", "n_trees": MANY}
    training = alone.order("endless", dataset, "y", algorithm=forest, attributes=LOOKING)
    eventually(lambda: is_growing(alone, training, 1), within=60.0)
    for pid in alone.processes("service.jobs"):
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: is_growing(alone, training, 2), within=60.0)
    alone.post(f"/v1/trainings/{training['id']}/cancel", None)
    ended = alone.wait(training["id"])
    assert (ended["status"], ended["model_id"]) == ("cancelled", None)
    alone.get("/v1/models/endless", status=404)
    small = alone.train("small", dataset, "y", algorithm={**forest, "n_trees": 3}, attributes=LOOKING)
    assert alone.get(f"/v1/models/{small['model_id']}")["n_trees"] == 3
