"""Data stored by every released version is upgraded, and the service answers about it as that version did.

Each folder beside this file is named after a version and was written by `make_stored.py`. Every recorded answer must
come back with the same status, the same media type and the same content: texts character by character, JSON value by
value with all digits of its numbers, and keys in the recorded order. What is not compared:

- the words of a refusal, of which only the kind of problem was recorded;
- headers other than the media type, since they hold ids and times of the request itself;
- addresses that tell of the running process: /livez, /readyz, /metrics and /openapi.json are not asked;
- the last digits of the figures in `UNSTEADY`, which the version itself answered differently on different processors.
"""

import json
import lzma
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.kernel_cache import KernelCache
from service.settings import Settings
from tests.conftest import run_sql, with_database
from tests.journeys.running import ENGINE_ON, QUICK_LEASE, Service, serving
from tests.upgrades.make_stored import QUEUED, TWIN, ask

FOLDER = Path(__file__).parent
VERSIONS = sorted(path.parent.name for path in FOLDER.glob("*/answers.json.xz"))

# Fields that answers have gained since, with [] for any place in a list: "$.content.items[].size", for example.
ADDED: frozenset[str] = frozenset()

# 0.1 computed these figures when asked, by functions of NumPy, OpenBLAS and the C library that round differently
# with and without AVX-512, AVX2 or FMA. Everything else it answers is compared to the last digit.
#
#     version: {address asked: place in the answer}, both as regular expressions
UNSTEADY: dict[str, dict[str, str]] = {
    "0.1": {
        r"/rules(\?|$)": r"\.interval\b",
        r"/evaluation\?step=": r"\.parts\.",
        r"/importance\?part=": r"\.permutation\.",
        r"/pruning/\d+/diff/": r"\.(errors|rule\.interval)\b",
        r"/tree\?candidates=": r"p_value$",
        r"/predict$": r"\.score$",
    }
}
NOWHERE = r"(?!)"
LAST_DIGITS = 1e-12  # beside 1 or the figure itself, whichever is larger: a difference of figures has fewer digits


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> Path:
    """The folder of one version."""
    return FOLDER / str(request.param)


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of database."""
    return str(request.param)


@pytest.fixture
def stored(
    version: Path, kind: str, tmp_path: Path, request: pytest.FixtureRequest, warm_kernels: KernelCache
) -> Iterator[Settings]:
    """Settings of a service on what the version stored, not upgraded yet."""
    settings = Settings(data_dir=tmp_path / "stored", port=0, engine=ENGINE_ON[kind], **QUICK_LEASE)
    with tarfile.open(version / f"{kind}.tar.gz") as archive:
        archive.extractall(settings.data_dir, filter="data")
    if kind == "sqlite":
        yield settings
        return
    server = request.getfixturevalue("postgres_server")
    name = f"niwaki_upgrades_{request.getfixturevalue('worker_id')}_{os.getpid()}"
    run_sql(server, f"CREATE DATABASE {name}")
    run_sql(with_database(server, name), (version / "postgres.sql").read_text("utf-8"))
    yield settings.model_copy(update={"database_url": with_database(server, name)})
    run_sql(server, f"DROP DATABASE {name} WITH (FORCE)")


def recorded(version: Path, kind: str) -> list[Any]:
    """Requests with the answers that the version gave."""
    answers: list[Any] = json.loads(lzma.decompress((version / "answers.json.xz").read_bytes()))[kind]
    return answers


def differences(was: Any, is_now: Any, place: str = "$", *, unsteady: str = NOWHERE) -> Iterator[str]:
    """Where two answers differ; fields of `ADDED` may be new, and last digits differ at `unsteady` places."""
    if isinstance(was, dict) and isinstance(is_now, dict):
        yield from (f"{place}.{key} is gone" for key in was.keys() - is_now.keys())
        yield from (f"{place}.{key} is new" for key in is_now.keys() - was.keys() if f"{place}.{key}" not in ADDED)
        shared = [key for key in was if key in is_now]
        if shared != [key for key in is_now if key in was]:
            yield f"the keys of {place} stand in another order"
        for key in shared:
            yield from differences(was[key], is_now[key], f"{place}.{key}", unsteady=unsteady)
    elif isinstance(was, list) and isinstance(is_now, list):
        if len(was) != len(is_now):
            yield f"{place} has {len(is_now)} items instead of {len(was)}"
        for item_was, item_is_now in zip(was, is_now, strict=False):
            yield from differences(item_was, item_is_now, f"{place}[]", unsteady=unsteady)
    elif not (is_same(was, is_now) or (re.search(unsteady, place) and is_almost(was, is_now))):
        yield f"{place} is {is_now!r} instead of {was!r}"


def is_same(was: Any, is_now: Any) -> bool:
    return repr(was) == repr(is_now)  # 1 is not 1.0, and 0.0 is not -0.0


def is_almost(was: Any, is_now: Any) -> bool:
    both_floats = isinstance(was, float) and isinstance(is_now, float)
    return both_floats and abs(is_now - was) <= LAST_DIGITS * max(1.0, abs(was))


def unsteady_places(version: str, path: str) -> str:
    """Where the answer of a version to a request depended on the processor, as a regular expression."""
    places = [place for asked, place in UNSTEADY.get(version, {}).items() if re.search(asked, path)]
    return "|".join(places) or NOWHERE


def changes(service: Service, version: str, said: Any) -> list[str]:
    """How the service's answer to a recorded request differs from the recorded one."""
    unsteady = unsteady_places(version, said["request"]["path"])
    return list(differences(said["answer"], ask(service.client, said["request"]), unsteady=unsteady))


def test_the_first_version_stands_here() -> None:
    assert VERSIONS[0] == "0.1"


WAS = {"label": "a", "shares": [{"a": 0.1, "b": 1}], "count": 0.0, "parent": None}


@pytest.mark.parametrize(
    ("is_now", "found"),
    [
        (WAS, []),
        (WAS | {"label": "b"}, ["$.label is 'b' instead of 'a'"]),
        (WAS | {"shares": [{"a": 0.1 + 2**-56, "b": 1}]}, ["$.shares[].a is 0.10000000000000002 instead of 0.1"]),
        (WAS | {"shares": [{"a": 0.1, "b": 1.0}]}, ["$.shares[].b is 1.0 instead of 1"]),
        (WAS | {"shares": [{"b": 1, "a": 0.1}]}, ["the keys of $.shares[] stand in another order"]),
        (WAS | {"shares": []}, ["$.shares has 0 items instead of 1"]),
        (WAS | {"shares": [{"a": 0.1}]}, ["$.shares[].b is gone"]),
        (WAS | {"count": -0.0}, ["$.count is -0.0 instead of 0.0"]),
        (WAS | {"parent": {}}, ["$.parent is {} instead of None"]),
        (WAS | {"size": 1}, ["$.size is new"]),
    ],
)
def test_every_change_of_an_answer_is_found(is_now: Any, found: list[str]) -> None:
    assert list(differences(WAS, is_now)) == found


def test_fields_may_be_added_where_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.upgrades.test_upgrades.ADDED", frozenset({"$.shares[].c"}))
    assert list(differences(WAS, WAS | {"shares": [{"c": 2, "a": 0.1, "b": 1}]})) == []
    assert list(differences(WAS, WAS | {"c": 2})) == ["$.c is new"]


def test_only_unsteady_figures_may_differ_and_only_in_the_last_digits() -> None:
    place = unsteady_places("0.1", "/v1/models/mdl_a/predict")
    assert list(differences({"score": 0.5}, {"score": 0.5 + 2**-53}, unsteady=place)) == []
    assert list(differences({"score": 0.5}, {"score": 0.5 + 1e-11}, unsteady=place))
    assert list(differences({"score": 0.0}, {"score": 0}, unsteady=place))
    assert list(differences({"mean": 0.5}, {"mean": 0.5 + 2**-53}, unsteady=place))
    assert unsteady_places("0.1", "/v1/models/mdl_a/evaluation") == unsteady_places("0.2", "/predict") == NOWHERE


def test_it_answers_as_before(stored: Settings, version: Path, kind: str, tmp_path: Path) -> None:
    answers = recorded(version, kind)
    with serving(stored.model_copy(update={"embedded_worker": False}), tmp_path / "log") as service:
        assert "migrated" in [event["event"] for event in service.events()]
        changed = {
            f"{said['request']['method']} {said['request']['path']} {json.dumps(said['request'].get('body'))}": found
            for said in answers
            if (found := changes(service, version.name, said))
        }
    assert len(answers) > 400
    assert not changed, "\n".join(f"{request}\n    {found[:5]}" for request, found in changed.items())


def test_work_goes_on(stored: Settings, tmp_path: Path) -> None:
    with serving(stored, tmp_path / "log") as service:
        (waiting,) = [one for one in everything(service, "trainings") if one["name"] == QUEUED]
        ended = service.wait(waiting["id"])
        assert (ended["status"], ended["version"], ended["problem"]) == ("succeeded", 1, None)
        twin = service.get(f"/v1/models/{TWIN}")
        assert tree(service, waiting["model_id"]) == tree(service, twin["id"])
        prune_again(service)
        leave_nothing(service)


def prune_again(service: Service) -> None:
    """Prune a stored tree in another way, and see that what both versions share outlives the first."""
    first = service.get("/v1/models/release 8")
    ordered = service.post("/v1/models/release 8/prunings", {"pruning": {"kind": "reduced_error"}}, status=202)
    assert service.wait(ordered["id"])["status"] == "succeeded"
    second = service.get(f"/v1/models/{ordered['model_id']}")  # a new version takes up to a second to have the name
    assert (second["version"], second["parent"]["id"]) == (first["version"] + 1, first["id"])
    grown = tree(service, first["id"], step="full")
    assert tree(service, second["id"], step="full") == grown
    third = service.post(f"/v1/models/{first['id']}/prunings", {"step": "full"}, status=201)
    service.call("DELETE", f"/v1/models/{first['id']}", status=204)
    service.get(f"/v1/models/{first['id']}", status=404)
    assert tree(service, second["id"], step="full") == grown
    assert tree(service, third["id"]) == grown


def leave_nothing(service: Service) -> None:
    """Delete all that was stored, and see that no file stays."""
    for kind in ("models", "datasets", "trainings"):
        for one in everything(service, kind):
            service.call("DELETE", f"/v1/{kind}/{one['id']}", status=204)
        assert everything(service, kind) == []
    assert service.files == []


def tree(service: Service, model_id: str, **parameters: Any) -> str:
    return service.text(f"/v1/models/{model_id}/tree", format="text", **parameters)


def everything(service: Service, kind: str) -> list[Any]:
    """All models, datasets or trainings."""
    page = service.get(f"/v1/{kind}")
    items = list(page["items"])
    while page["next_cursor"] is not None:
        page = service.get(f"/v1/{kind}", cursor=page["next_cursor"])
        items += page["items"]
    return items
