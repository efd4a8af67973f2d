"""The questions of the net: what is asked about models of some orders, in every format of bodies and answers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from tests.net.orders import ATTRIBUTES, BOTH_ENGINES, BY_KERNELS, ENGINES, ORDERS
from tests.net.tables import TABLES

N_RECORDS = 60
JSON, NDJSON, CSV, ARROW = (
    "application/json",
    "application/x-ndjson",
    "text/csv",
    "application/vnd.apache.arrow.stream",
)

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Question:
    """A request about the model of an order; a path that begins with it, and a body where something is posted."""

    order: str
    path: str
    told: str = ""
    content: bytes | None = None
    media_type: str = JSON
    accept: str = "*/*"
    engines: tuple[str, ...] = BOTH_ENGINES

    @property
    def name(self) -> str:
        return f"{self.order} | {self.method} {self.told or self.path or '/'}"

    @property
    def method(self) -> str:
        return "GET" if self.content is None else "POST"

    @property
    def headers(self) -> dict[str, str]:
        return {"Accept": self.accept} | ({} if self.content is None else {"Content-Type": self.media_type})


TREE, NUMBER, SEVERAL = "mixed: confidence", "mixed: a number, cost-complexity", "mixed: numbers, cost-complexity"
C45, SURROGATES, FILLED = "mixed: release 8, confidence", "mixed: surrogate, gini", "mixed: class_majority, gini"
COSTS, OBLIQUE, PLAIN = "mixed: costs of mistakes, pruned", "slanted: oc1, two classes", "ties: gini"
LARGE, LARGE_HOLES = "large: cost-complexity", "large: holes, gini"
FOREST, FOREST_OF_NUMBERS = "mixed: random_forest, classes", "mixed: extra_trees, a number"
FOREST_OF_SEVERAL, FOREST_COMPLETE = "mixed: bagging, numbers", "complete: random_forest, classes"
RETRAINED, ISOLATION = "rare: forest, retrained", "mixed: isolation of 64"


def asked(table: str, n: int = N_RECORDS, *, complete: bool = False) -> Columns:
    """Records of a table with other values than the training's, and something missing in most of them."""
    rows = TABLES[table]()
    columns = {name: rows[name][5 : 5 + n] for name in ATTRIBUTES[table]}
    if complete:
        return {name: [columns[name][0] if value is None else value for value in columns[name]] for name in columns}
    for number, name in enumerate(columns):
        for row in range(number, n, 7):
            columns[name][row] = None
    return columns


def as_records(columns: Columns) -> list[dict[str, Any]]:
    n = len(next(iter(columns.values())))
    return [{name: values[row] for name, values in columns.items() if values[row] is not None} for row in range(n)]


def as_json(**body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


def as_csv(columns: Columns) -> bytes:
    lines = [",".join(columns)]
    lines += [
        ",".join("" if cell is None else str(cell) for cell in row) for row in zip(*columns.values(), strict=True)
    ]
    return "\n".join(lines).encode() + b"\n"


def as_ndjson(columns: Columns) -> bytes:
    return b"".join(as_json(**record) + b"\n" for record in as_records(columns))


def as_arrow(columns: Columns) -> bytes:
    kinds = {name: pa.string() if isinstance(values[1], str) else pa.float64() for name, values in columns.items()}
    table = pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()})
    buffer = pa.BufferOutputStream()
    with pa.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table)
    return bytes(buffer.getvalue())


def table_of(order: str) -> str:
    return order.partition(":")[0]


def predictions(order: str) -> Iterator[Question]:
    """Many records and few, by records and by columns, with reasons and without."""
    columns = asked(table_of(order))
    few = as_records(columns)[:4]
    path = "/predict"
    yield Question(order, path, "predict records", as_json(records=as_records(columns)))
    yield Question(order, path, "predict columns", as_json(columns=columns))
    yield Question(order, path, "predict a few", as_json(records=few))
    yield Question(order, path, "explain a few", as_json(records=few, explain=True))


def other_formats(order: str) -> Iterator[Question]:
    """NDJSON, CSV and Arrow, sent and asked for."""
    table = table_of(order)
    columns, complete = asked(table), asked(table, complete=True)
    path = "/predict"
    yield Question(order, path, "predict NDJSON", as_ndjson(columns), NDJSON)
    yield Question(order, path, "predict CSV", as_csv(columns), CSV)
    yield Question(order, path, "predict Arrow", as_arrow(columns), ARROW)
    yield Question(order, path, "predict complete Arrow", as_arrow(complete), ARROW)
    yield Question(order, path, "predict complete records", as_json(records=as_records(complete)))
    yield Question(order, f"{path}?explain=true", "explain NDJSON as CSV", as_ndjson(columns), NDJSON, CSV)
    yield Question(order, f"{path}?fields=bounds", "bounds of CSV as NDJSON", as_csv(columns), CSV, NDJSON)
    yield Question(order, path, "predict CSV as Arrow", as_csv(columns), CSV, ARROW)
    yield Question(order, path, "predict Arrow as JSON", as_arrow(columns), ARROW, JSON)


def reads(order: str, *paths: str, engines: tuple[str, ...] = BOTH_ENGINES) -> Iterator[Question]:
    yield from (Question(order, path, engines=engines) for path in paths)


def every_question() -> Iterator[Question]:
    """All questions."""
    for order in (TREE, NUMBER, SEVERAL, OBLIQUE, FOREST, FOREST_OF_NUMBERS, ISOLATION):
        yield from predictions(order)
    yield from other_formats(TREE)
    yield from other_formats(FOREST)
    holes = asked("mixed")
    for policy in ("weighted", "last_node", "majority_branch"):
        told = f"predict by {policy}"
        yield Question(TREE, "/predict", told, as_json(columns=holes, missing=policy))
    yield Question(SURROGATES, "/predict", "predict by surrogates", as_json(columns=holes, explain=True))
    yield Question(FILLED, "/predict", "predict filled", as_json(columns=holes, explain=True))
    yield Question(TREE, "/predict", "leaves", as_json(columns=holes, fields=["leaves"]))
    yield Question(COSTS, "/predict", "predict by costs", as_json(columns=holes))
    for step in ("full", "leaves:25", 1):
        yield Question(TREE, "/predict", f"predict as of {step}", as_json(columns=holes, step=step))
    for voting in ("majority", "unanimous", "trimmed", "bayesian"):
        yield Question(FOREST, "/predict", f"{voting} vote", as_json(columns=holes, voting={"kind": voting}))
    variants = [{"name": "before", "step": "full"}, {"name": "now"}, {"name": "other", "missing": "majority_branch"}]
    yield Question(TREE, "/compare", "compare", as_json(records=as_records(holes)[:12], variants=variants))
    yield Question(NUMBER, "/compare", "compare", as_json(records=as_records(holes)[:12], variants=variants))
    yield Question(FOREST, "/neighbours", "neighbours", as_json(records=as_records(holes)[:5], n=4))

    yield from reads(TREE, "", "/schema", "/tree", "/tree?candidates=true", "/tree?format=text", "/tree?format=dot")
    yield from reads(TREE, "/tree?format=svg", "/tree?step=full&format=text", "/pruning", "/pruning/1")
    yield from reads(TREE, "/pruning/0/diff/1", "/evaluation", "/evaluation?format=svg", "/evaluation?step=full")
    yield from reads(
        TREE, "/importance", "/importance?part=test&repeats=2", "/export", "/rules", "/rules?style=simplified"
    )
    yield from reads(TREE, *(f"/rules?format={each}" for each in ("text", "markdown", "sql", "sql_weighted", "python")))
    yield from reads(TREE, *(f"/rules?style=simplified&format={each}" for each in ("text", "sql", "python")))
    yield from reads(TREE, f"/rules?matching={quote(json.dumps(as_records(holes)[3]))}")
    yield from reads(TREE, "/boundary?x=area&y=age&given={}")
    yield from reads(NUMBER, "/tree?format=text", "/tree?format=svg", "/evaluation", "/evaluation?format=svg")
    yield from reads(NUMBER, "/rules?format=sql_weighted", "/importance", "/pruning")
    yield from reads(SEVERAL, "/tree?format=text", "/evaluation", "/rules?format=python", "/tree?format=svg")
    yield from reads(C45, "/tree?thresholds=data&format=text", "/rules?thresholds=data&format=text", "/evaluation")
    yield from reads(SURROGATES, "/tree", "/tree?format=text")
    yield from reads(OBLIQUE, "/tree?format=text", "/rules?format=sql", "/boundary?x=x0&y=x1&given={}", "/evaluation")
    yield from reads(COSTS, "/tree?format=text", "/evaluation", "/pruning?limit=5")
    yield from reads(FOREST, "", "/tree?index=1&format=text", "/rules", "/rules?format=text", "/export?index=0")
    yield from reads(FOREST, "/evaluation", "/importance?part=train&repeats=2", "/proximity?limit=20&outliers=true")
    yield from reads(FOREST_OF_NUMBERS, "/evaluation", "/importance?part=train&repeats=2", "/rules?index=1&format=text")
    yield from reads(FOREST_OF_SEVERAL, "/evaluation", "/importance")
    yield from reads(RETRAINED, "/importance", "/evaluation")
    yield from reads(ISOLATION, "/evaluation", "/tree?index=2&format=text")

    yield from reads(LARGE, "/evaluation", "/importance?part=test&repeats=1", engines=BY_KERNELS)
    yield from reads(FOREST_COMPLETE, "/evaluation", "/importance?part=train&repeats=1", engines=BY_KERNELS)
    many = asked("complete", 1200, complete=True)
    many = {name: many[name] for name in ATTRIBUTES["complete"][:4]}
    yield Question(FOREST_COMPLETE, "/predict", "predict columns", as_json(columns=many), engines=BY_KERNELS)


QUESTIONS = list(every_question())
assert {question.order for question in QUESTIONS} <= {order.name for order in ORDERS}
assert {engine for question in QUESTIONS for engine in question.engines} <= set(ENGINES)
