"""Run the net on a checkout: every order on every engine, then every question about what was trained."""

import hashlib
import re
import tempfile
import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.checkouts import HERE, NONE, Running, running
from tests.net.answers import QUESTIONS, Question
from tests.net.orders import ENGINES, ORDERS, Order
from tests.net.tables import dataset_body

LONGEST_RUN = 900.0  # seconds, for all orders of an engine on a busy machine; also where kernels are compiled first
# A model's digest is compared where it is the answer; in others it would only tell the same once more.
MASKED = re.compile(
    rb"(?:mdl|ds|trn|job)_[0-9a-z]{26}|req_[0-9a-f]{16}|sha256:[0-9a-f]{64}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)"
)

Digests = dict[str, dict[str, str]]  # by engine, by name


@dataclass
class Found:
    """What a checkout gave: digests of models and of answers, and the answers themselves."""

    models: Digests = field(default_factory=dict)
    answers: Digests = field(default_factory=dict)
    bodies: dict[str, dict[str, bytes]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def run_net(
    checkout: Path = HERE,
    *,
    kernels: Path,
    orders: Collection[Order] = ORDERS,
    questions: Collection[Question] = QUESTIONS,
    engines: Collection[str] = tuple(ENGINES),
    settings: Mapping[str, str] = NONE,
    variables: Mapping[str, str] = NONE,
) -> Found:
    """All of it, or some; compiled code is read from the folder `kernels`.

    The definition and the kernels run side by side: each keeps one core busy.
    """
    found = Found()
    by_kernels = [engine for engine in engines if engine != "definition"]
    sides = [side for side in ([each for each in engines if each == "definition"], by_kernels) if side]

    def run_side(side: list[str]) -> None:
        for engine in side:
            start = time.monotonic()
            told = {**settings, **ENGINES[engine], "kernel_dir": str(kernels)}
            run_engine(found, engine, told, checkout, orders, questions, variables)
            found.seconds[engine] = time.monotonic() - start

    with ThreadPoolExecutor() as pool:
        list(pool.map(run_side, sides))
    return found


def run_engine(
    found: Found,
    engine: str,
    settings: Mapping[str, str],
    checkout: Path,
    orders: Collection[Order],
    questions: Collection[Question],
    variables: Mapping[str, str],
) -> None:
    """The orders of an engine, and what is asked about them; one service for all."""
    with tempfile.TemporaryDirectory(prefix="niwaki-net-") as temporary:
        folder = Path(temporary)
        log = folder / "log"
        with running({**settings, "data_dir": str(folder / "data")}, log, checkout, variables=variables) as service:
            wanted = [each for each in orders if engine in each.engines]
            models = train_all(service, wanted)
            found.models[engine] = digests_of_models(service, models)
            asked = [question for question in questions if engine in question.engines and question.order in models]
            if asked:
                wait_for_compiled_code(service, asked[0], models)
            found.bodies[engine] = {each.name: answer(service, each, models) for each in asked}
            found.answers[engine] = {name: digest(body) for name, body in found.bodies[engine].items()}


def train_all(service: Running, orders: Collection[Order]) -> dict[str, Any]:
    """How the training of every order ended, by name."""
    tables = dict.fromkeys(each.table for each in orders)
    ids = {table: service.call("POST", "/v1/datasets", json=dataset_body(table))["id"] for table in tables}
    sent = {}
    for each in orders:
        body = {"name": each.name.replace("/", " "), "dataset_id": ids[each.table], **each.body}
        sent[each.name] = service.call("POST", "/v1/trainings", json=body)
    return {name: service.outcome(training, LONGEST_RUN) for name, training in sent.items()}


def digests_of_models(service: Running, trainings: Mapping[str, Any]) -> dict[str, str]:
    """The digest of the stored bytes, by order; where a training failed, the kind of its problem."""
    digests: dict[str, str] = {}
    page = service.call("GET", "/v1/models?limit=100")
    while True:
        digests |= {model["id"]: model["digest"] for model in page["items"]}
        if page["next_cursor"] is None:
            break
        page = service.call("GET", f"/v1/models?limit=100&cursor={page['next_cursor']}")
    return {
        name: digests[training["model_id"]]
        if training["status"] == "succeeded"
        else f"{training['status']}: {training['problem']['type']}"
        for name, training in trainings.items()
    }


def wait_for_compiled_code(service: Running, question: Question, models: Mapping[str, Any]) -> None:
    """Have the service load its compiled code: the first prediction begins that, and is answered without."""
    answer(service, question, models)
    service.wait_until_idle(LONGEST_RUN)


def answer(service: Running, question: Question, models: Mapping[str, Any]) -> bytes:
    """What it says to a question: the status, the media type and the content, ids and times masked."""
    address = f"/v1/models/{models[question.order]['model_id']}{question.path}"
    said = service.client.request(question.method, address, content=question.content, headers=question.headers)
    head = f"{said.status_code} {said.headers.get('content-type', '')}\n"
    return head.encode() + MASKED.sub(b"*", said.content)


def digest(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"
