import json
from pathlib import Path

import httpx
import pytest

from service.api.schemas.common import Problem
from service.settings import Settings
from tests.service.store.orders import order_training

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).parents[3] / "golden"
CSV = {"Content-Type": "text/csv"}
JSON = {"Content-Type": "application/json"}
MELONS = {
    "name": "melons",
    "columns": {
        "纹理": ["清晰", None, "模糊"],
        "密度": [0.697, 0.774, None],
        "等级": ["低", "高", "中"],
        "编号": [1, 2, 3],
    },
    "schema": {
        "纹理": {"kind": "categorical", "categories": ["清晰", "稍糊", "模糊"]},
        "等级": {"kind": "ordinal", "order": ["低", "中", "高"]},
        "编号": {"kind": "ignore"},
    },
}


def problem(answer: httpx.Response, status: int, word: str) -> Problem:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    found = Problem.model_validate(answer.json())
    assert found.type == f"/problems/{word}"
    assert found.status == status
    return found


async def test_a_table_becomes_a_dataset(service):
    answer = await service.post("/v1/datasets", json=MELONS)
    assert answer.status_code == 201
    dataset = answer.json()
    assert answer.headers["location"] == f"/v1/datasets/{dataset['id']}"
    assert {key: dataset[key] for key in ("name", "n_rows", "n_columns", "n_missing", "warnings")} == {
        "name": "melons",
        "n_rows": 3,
        "n_columns": 4,
        "n_missing": 2,
        "warnings": [],
    }
    assert dataset["schema"][0] == {
        "name": "纹理",
        "kind": "categorical",
        "categories": ["清晰", "稍糊", "模糊"],
        "n_categories": 3,
        "n_missing": 1,
        "minimum": None,
        "maximum": None,
    }
    assert dataset["schema"][1] | {"name": "密度"} == {
        "name": "密度",
        "kind": "numeric",
        "categories": None,
        "n_categories": None,
        "n_missing": 1,
        "minimum": 0.697,
        "maximum": 0.774,
    }
    assert [column["kind"] for column in dataset["schema"]] == ["categorical", "numeric", "ordinal", "ignore"]
    shown = await service.get(answer.headers["location"])
    assert shown.json() == dataset


async def test_all_ways_to_send_a_table_give_the_same_digest(service):
    file = (GOLDEN / "watermelon_2.0a.csv").read_bytes()
    raw = await service.post("/v1/datasets", params={"name": "瓜"}, content=file, headers=CSV)
    again = await service.post("/v1/datasets", content=file, headers=CSV)
    form = await service.post("/v1/datasets", files={"file": ("melons.csv", file)})
    options = {"name": "form", "missing_tokens": [""]}
    told = await service.post("/v1/datasets", files={"file": ("m.csv", file)}, data={"options": json.dumps(options)})
    header, *rows = [line.split(",") for line in file.decode().split()]
    records = [
        {key: float(cell) if key == "编号" else cell or None for key, cell in zip(header, row, strict=True)}
        for row in rows
    ]
    as_json = await service.post("/v1/datasets", json={"records": records})
    answers = [raw, again, form, told, as_json]
    assert [answer.status_code for answer in answers] == [201] * 5
    assert len({answer.json()["digest"] for answer in answers}) == 1
    assert [answer.json()["name"] for answer in answers] == ["瓜", "dataset", "melons.csv", "form", "dataset"]


async def test_listing_is_paged_newest_first(service):
    ids = [(await service.post("/v1/datasets", json={"columns": {"a": [i]}})).json()["id"] for i in range(5)]
    seen: list[str] = []
    cursor: str | None = None
    for expected in (2, 2, 1):
        page = (await service.get("/v1/datasets", params={"limit": 2} | ({"cursor": cursor} if cursor else {}))).json()
        assert len(page["items"]) == expected
        assert "schema" not in page["items"][0]
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert cursor is None
    assert seen == ids[::-1]


async def test_a_dataset_never_changes_so_clients_may_keep_it(service):
    dataset = (await service.post("/v1/datasets", json=MELONS)).json()
    address = f"/v1/datasets/{dataset['id']}"
    etag = (await service.get(address)).headers["etag"]
    assert etag == f'"{dataset["digest"]}"'
    for sent in (etag, f"W/{etag}", f'"x", {etag}', "*"):
        answer = await service.get(address, headers={"If-None-Match": sent})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)
    assert (await service.get(address, headers={"If-None-Match": '"x"'})).status_code == 200


async def test_deleting_takes_the_file_away_too(service, settings):
    dataset = (await service.post("/v1/datasets", json=MELONS)).json()
    twin = (await service.post("/v1/datasets", json=MELONS | {"name": "twin"})).json()
    assert len(stored_files(settings)) == 1
    assert (await service.delete(f"/v1/datasets/{dataset['id']}")).status_code == 204
    problem(await service.get(f"/v1/datasets/{dataset['id']}"), 404, "dataset_not_found")
    problem(await service.delete(f"/v1/datasets/{dataset['id']}"), 404, "dataset_not_found")
    assert [item["id"] for item in (await service.get("/v1/datasets")).json()["items"]] == [twin["id"]]
    assert len(stored_files(settings)) == 1
    assert (await service.delete(f"/v1/datasets/{twin['id']}")).status_code == 204
    assert stored_files(settings) == []


async def test_a_dataset_in_use_is_not_deleted(service, database, artifacts):
    dataset = (await service.post("/v1/datasets", json=MELONS)).json()
    ordered = await order_training(database, artifacts, dataset_id=dataset["id"])
    found = problem(await service.delete(f"/v1/datasets/{dataset['id']}"), 409, "dataset_in_use")
    assert ordered.training_id in found.detail
    assert (await service.get(f"/v1/datasets/{dataset['id']}")).status_code == 200


def stored_files(settings: Settings) -> list[Path]:
    return [path for path in settings.data_dir.rglob("*") if path.is_file() and "niwaki.db" not in path.name]


async def test_refused_tables_leave_nothing_behind(service, settings):
    problem(await service.post("/v1/datasets", content=b"a,b\n1\n", headers=CSV), 422, "invalid_table")
    assert stored_files(settings) == []


# --- Bad input: each gets a clear answer, and the service goes on.


@pytest.mark.parametrize(
    ("body", "word", "line"),
    [
        (b"", "empty_table", 1),
        (b"a,b\n", "empty_table", 1),
        (b"a,b\n1,2\n3\n", "invalid_table", 3),
        (b"a,a\n1,2\n", "invalid_table", 1),
        (b"a,\n1,2\n", "invalid_table", 1),
        (b"a,b\n1,\0\n", "invalid_file", 2),
        ("色泽,好瓜\n青绿,是\n".encode("gbk"), "invalid_file", 1),
        (b'a,b\n1,2\n"x,2\n', "invalid_file", 3),
    ],
)
async def test_bad_csv(edge, body, word, line):
    found = problem(await edge.post("/v1/datasets", content=body, headers=CSV), 422, word)
    assert [(error.location, error.line, error.pointer) for error in found.errors] == [("file", line, None)]
    assert found.detail.startswith(f"line {line}: ")
    assert (await edge.post("/v1/datasets", content=b"a\n1\n", headers=CSV)).status_code == 201


@pytest.mark.parametrize(
    ("body", "status", "word", "pointers"),
    [
        ({}, 422, "invalid_request", ["#"]),
        ({"columns": {"a": [1]}, "records": []}, 422, "invalid_request", ["#"]),
        ({"colums": {}}, 422, "invalid_request", ["#/colums"]),
        ({"columns": 3}, 422, "invalid_request", ["#/columns"]),
        ({"columns": {"a": 3, "b": "xyz"}}, 422, "invalid_table", ["#/columns/a", "#/columns/b"]),
        ({"records": [{"a": 1}, 3, 4]}, 422, "invalid_request", ["#/records/1"]),
        ({"columns": {"a": [1]}, "name": ""}, 422, "invalid_request", ["#/name"]),
        ({"columns": {"a": [1]}, "name": "a\nb"}, 422, "invalid_request", ["#/name"]),
        ({"columns": {"a": [1]}, "schema": {"a": {"kind": "nominal"}}}, 422, "invalid_request", ["#/schema/a/kind"]),
        ({"columns": {"a": [1]}, "schema": {"b": {"kind": "numeric"}}}, 422, "invalid_table", ["#/schema/b"]),
        ({"columns": {}}, 422, "empty_table", ["#/columns"]),
        ({"records": []}, 422, "empty_table", ["#/records"]),
        ({"columns": {"a": [1, 2], "b/c": [1]}}, 422, "invalid_table", ["#/columns/b~1c"]),
        ({"columns": {"a": [1, "x", {}]}}, 422, "invalid_table", ["#/columns/a/2"]),
        ({"records": [{"a": 1}, {"a": "x"}]}, 422, "invalid_table", ["#/records/1/a"]),
    ],
)
async def test_bad_json_tables(edge, body, status, word, pointers):
    found = problem(await edge.post("/v1/datasets", json=body), status, word)
    assert [(error.location, error.pointer) for error in found.errors] == [("body", pointer) for pointer in pointers]


@pytest.mark.parametrize(
    "body",
    [
        b'{"columns": {"a": [NaN]}}',
        b'{"columns": {"a": [Infinity]}}',
        b'{"columns": {"a": [1e999]}}',
        b'{"columns": {"a": ["\\u0000"]}}',
        b'{"columns": {"a": ["\xff"]}}',
        b'{"columns": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"columns": {"a": [1], "a": [2]}}',
        b"",
        b"{",
    ],
)
async def test_bodies_that_are_not_strict_json(edge, body):
    problem(await edge.post("/v1/datasets", content=body, headers=JSON), 400, "malformed_body")


async def test_a_column_without_a_known_value_is_taken_with_a_warning(edge):
    dataset = (await edge.post("/v1/datasets", json={"columns": {"a": [None, None], "b": [1, 2]}})).json()
    assert dataset["schema"][0]["categories"] == []
    assert dataset["warnings"] == ['column "a" has no known value']


async def test_a_hundred_thousand_categories(service):
    file = "id,b\n" + "".join(f"x{i},1\n" for i in range(100_000))
    answer = await service.post("/v1/datasets", content=file.encode(), headers=CSV)
    dataset = answer.json()
    column = dataset["schema"][0]
    assert (column["n_categories"], len(column["categories"])) == (100_000, 1_000)
    assert "looks like an id" in dataset["warnings"][0]
    assert (await service.get(answer.headers["location"])).json() == dataset


async def test_a_cell_of_ten_megabytes(service):
    answer = await service.post("/v1/datasets", content=b"a,b\n" + b"x" * 10_000_000 + b",1\n", headers=CSV)
    assert (answer.status_code, answer.json()["n_rows"]) == (201, 1)


async def test_names_in_every_script(service):
    name = "西瓜 🍉 👨\u200d👩\u200d👧 naïve"
    answer = await service.post("/v1/datasets", json={"name": name, "columns": {"🍉": ["是"], "纹/理~": [1]}})
    dataset = (await service.get(answer.headers["location"])).json()
    assert dataset["name"] == name
    assert [column["name"] for column in dataset["schema"]] == ["🍉", "纹/理~"]


@pytest.mark.parametrize(
    ("files", "data", "parameter"),
    [
        ({}, {"options": "{}"}, "file"),
        ({"data": ("a.csv", b"a\n1\n")}, {}, "data"),
        ([("file", ("a.csv", b"a\n1\n")), ("file", ("b.csv", b"a\n1\n"))], {}, "file"),
    ],
)
async def test_forms_with_the_wrong_parts(edge, files, data, parameter):
    answer = await edge.post("/v1/datasets", files=files or {"options": (None, "{}")}, data=data if files else {})
    found = problem(answer, 422, "invalid_request")
    assert [(error.location, error.parameter) for error in found.errors] == [("body", parameter)]


async def test_options_of_a_form_are_strict_json_too(edge):
    file = {"file": ("a.csv", b"a\n1\n")}
    found = problem(
        await edge.post("/v1/datasets", files=file, data={"options": '{"nam": "x"}'}), 422, "invalid_request"
    )
    assert (found.errors[0].pointer, found.errors[0].hint) == ("#/nam", "did you mean name?")
    problem(await edge.post("/v1/datasets", files=file, data={"options": "{"}), 400, "malformed_body")
    as_file = file | {"options": ("options.json", b'{"name": "from a file"}')}
    assert (await edge.post("/v1/datasets", files=as_file)).json()["name"] == "from a file"


async def test_a_broken_form(edge):
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    problem(await edge.post("/v1/datasets", content=b"--y\r\nnonsense", headers=headers), 400, "malformed_body")
    headers = {"Content-Type": "multipart/form-data"}
    problem(await edge.post("/v1/datasets", content=b"--x--", headers=headers), 400, "malformed_body")


@pytest.mark.parametrize("header", ["application/xml", "text/csv; charset=gbk", None])
async def test_other_kinds_of_bodies(edge, header):
    headers = {"Content-Type": header} if header else {}
    problem(await edge.post("/v1/datasets", content=b"a\n1\n", headers=headers), 415, "unsupported_media_type")


async def test_a_name_in_the_address_must_be_a_name(edge):
    found = problem(await edge.post("/v1/datasets?name=", content=b"a\n1\n", headers=CSV), 422, "invalid_request")
    assert [(error.location, error.parameter) for error in found.errors] == [("query", "name")]
