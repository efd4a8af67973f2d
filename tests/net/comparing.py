"""Hold what one run of the net found against the table of digests, or against another run."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.net.answers import QUESTIONS
from tests.net.orders import ORDERS
from tests.net.running import Digests, Found

TABLE = Path(__file__).parent / "digests.json"
TEXT = re.compile(r"openapi\.json: \S*/(?:description|summary) is ")
EXCERPT = 90  # characters of two answers, from where they begin to differ


def read_table() -> dict[str, dict[str, str]]:
    """The digests that are expected, by name: of models and of answers."""
    table: dict[str, dict[str, str]] = json.loads(TABLE.read_text("utf-8"))
    return table


def write_table(found: Found) -> None:
    """Write down what was found; only if all engines agree."""
    apart = [*disagreements(found.models), *disagreements(found.answers)]
    if apart:
        raise SystemExit("\n".join(["Engines disagree, so nothing is written.", *apart]))
    models, answers = by_name(found.models), by_name(found.answers)
    table = {
        "models": {order.name: models[order.name] for order in ORDERS},
        "answers": {question.name: answers[question.name] for question in QUESTIONS},
    }
    TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", "utf-8")


def by_name(digests: Digests) -> dict[str, str]:
    """The digest of each name, whichever engine has it."""
    return {name: digest for found in digests.values() for name, digest in found.items()}


def disagreements(digests: Digests) -> Iterator[str]:
    """Names of which engines gave different bytes."""
    for name in by_name(digests):
        given = {engine: found[name] for engine, found in digests.items() if name in found}
        if len(set(given.values())) > 1:
            yield f"{name}: " + ", ".join(f"{short(digest)} by {engine}" for engine, digest in given.items())


def changes(found: Found, table: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Everything of which some engine gave other bytes than the table has."""
    kinds = (("model", found.models, table["models"]), ("answer", found.answers, table["answers"]))
    return [
        f"{kind} of {name!r} by {engine}: {short(digest)} instead of {short(expected.get(name))}"
        for kind, digests, expected in kinds
        for engine, given in digests.items()
        for name, digest in given.items()
        if expected.get(name) != digest
    ]


def differences(base: Found, found: Found) -> list[str]:
    """What two checkouts gave differently; of answers also where."""
    models = [
        f"model of {name!r} by {engine}: {short(digest)}, in the base {short(base.models[engine].get(name))}"
        for engine, given in found.models.items()
        for name, digest in given.items()
        if base.models[engine].get(name) != digest
    ]
    answers = [
        f"answer of {name!r} by {engine}:\n{where(base.bodies[engine].get(name, b''), body)}"
        for engine, given in found.bodies.items()
        for name, body in given.items()
        if base.bodies[engine].get(name) != body
    ]
    return models + answers


def where(base: bytes, body: bytes) -> str:
    """The first place at which two answers differ."""
    start = next(place for place, (a, b) in enumerate(zip_longest(base, body)) if a != b)
    begin = max(0, start - EXCERPT // 3)
    return f"    base …{base[begin : begin + EXCERPT]!r}…\n    here …{body[begin : begin + EXCERPT]!r}…"


def openapi_differences(base: Any, ours: Any, place: str = "#") -> Iterator[str]:
    """Where two documents differ, but for the version of the service."""
    if place == "#/info/version":
        return
    if isinstance(base, dict) and isinstance(ours, dict):
        for key in base.keys() | ours.keys():
            there = f"{place}/{str(key).replace('~', '~0').replace('/', '~1')}"
            if key not in base or key not in ours:
                yield f"openapi.json: {there} is only in {'the base' if key in base else 'this checkout'}"
            else:
                yield from openapi_differences(base[key], ours[key], there)
    elif isinstance(base, list) and isinstance(ours, list) and len(base) == len(ours):
        for index, (a, b) in enumerate(zip(base, ours, strict=True)):
            yield from openapi_differences(a, b, f"{place}/{index}")
    elif base != ours:
        yield f"openapi.json: {place} is {ours!r}, in the base {base!r}"


def without_texts(found: Iterable[str]) -> list[str]:
    """Differences of a document, of which those in texts for readers are only counted."""
    every = list(found)
    others = [each for each in every if not TEXT.match(each)]
    n_texts = len(every) - len(others)
    return [*others, f"openapi.json: {n_texts} descriptions and summaries differ"] if n_texts else others


def short(digest: str | None) -> str:
    """Enough of a digest to recognise it."""
    return "nothing" if digest is None else digest.removeprefix("sha256:")[:12]
