"""A client generated from the committed document does the whole journey."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.journeys.running import Service

COMMITTED = Path(__file__).parent.parent.parent / "openapi.json"
NAME = "niwaki_generated_client"
# The generator formats its output with a tool that is not needed here, and knows files and pictures only under other
# names.
CONFIG = """
post_hooks: []
content_type_overrides:
  text/csv: application/octet-stream
  application/x-ndjson: application/octet-stream
  application/vnd.apache.arrow.stream: application/octet-stream
  image/svg+xml: text/html
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder with the generated package, which can be imported while the tests run."""
    folder = tmp_path_factory.mktemp("sdk")
    (folder / "config.yml").write_text(CONFIG)
    command: list[str | Path] = ["generate", "--path", COMMITTED, "--output-path", folder / NAME, "--meta", "none"]
    made = subprocess.run(
        [
            sys.executable,
            "-m",
            "openapi_python_client",
            *command,
            "--config",
            folder / "config.yml",
            "--fail-on-warning",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "warning" not in (made.stdout + made.stderr).lower()
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


def part(name: str) -> ModuleType:
    return importlib.import_module(f"{NAME}.{name}")


def test_every_operation_and_every_module_can_be_imported(generated: Path) -> None:
    modules = [path.relative_to(generated).with_suffix("") for path in (generated / NAME).rglob("*.py")]
    assert len(modules) > 100
    for module in modules:
        importlib.import_module(".".join(module.parts).removesuffix(".__init__"))


@pytest.fixture
def client(generated: Path, live: Service) -> Iterator[Any]:
    with part("client").Client(base_url=live.address, raise_on_unexpected_status=True, timeout=60) as client:
        yield client


def test_from_a_table_to_rules(client: Any) -> None:
    models = part("models")
    table = models.DatasetUpload.from_dict(
        {
            "name": "melons",
            "columns": {
                "编号": [1, 2, 3, 4],
                "纹理": ["清晰", "稍糊", "清晰", "模糊"],
                "好瓜": ["是", "否", "是", "否"],
            },
            "schema": {
                "编号": {"kind": "ignore"},
                "纹理": {"kind": "categorical", "categories": ["清晰", "稍糊", "模糊"]},
            },
        }
    )
    assert isinstance(table.schema.additional_properties["编号"], models.IgnoredColumn)
    assert set(table.to_dict()) == {"name", "columns", "schema"}
    dataset = part("api.datasets.create_dataset").sync(client=client, body=table)
    assert isinstance(dataset, models.Dataset)
    # Sent under the name `schema`, or the service would have inferred numbers and two categories.
    assert [column.kind for column in dataset.schema] == ["ignore", "categorical", "categorical"]
    assert dataset.schema[1].categories == ["清晰", "稍糊", "模糊"]

    order = models.TrainingRequest(
        name="瓜",
        dataset_id=dataset.id,
        target="好瓜",
        algorithm=models.C45Options(kind="c45", stopping=models.StoppingOptions(min_samples_leaf=1)),
        division=models.NoDivision(kind="none"),
    )
    training = part("api.trainings.create_training").sync(client=client, body=order)
    assert isinstance(training, models.Training)
    assert isinstance(training.configuration.algorithm, models.C45)
    ended = part("api.trainings.get_training").sync(training.id, client=client, wait=30)
    assert (ended.status, ended.problem) == ("succeeded", None)
    assert ended.finished_at >= ended.created_at

    request = models.PredictionRequest.from_dict({"records": [{"纹理": "清晰"}, {"纹理": None}], "explain": True})
    answer = part("api.predictions.predict").sync("瓜", client=client, body=request)
    assert isinstance(answer, models.ClassPredictions)
    known, unknown = answer.predictions
    assert (known.label, known.probabilities["是"], unknown.missing) == ("是", 1.0, ["纹理"])
    assert len(unknown.paths) == 3

    rules = part("api.models.get_rules").sync("瓜@1", client=client, step="full")
    assert isinstance(rules, models.ClassRules)
    assert [rule.text for rule in rules.items][:2] == ["if 纹理 = 清晰 then 是", "if 纹理 = 稍糊 then 否"]
    assert isinstance(rules.items[0].conditions[0], models.IsIn)
    assert (rules.ordered, rules.items[0].match, rules.items[0].interval[1]) == (False, None, 1.0)
    simplified = part("api.models.get_rules").sync(
        "瓜", client=client, step="full", style=models.RulesStyle.SIMPLIFIED, matching='{"纹理": "模糊"}'
    )
    assert (simplified.ordered, simplified.exclusive, simplified.matching.missing) == (True, False, [])
    assert {rule.match.state for rule in simplified.items} <= {models.MatchState.FULL, models.MatchState.NONE}
    assert [rule.label for rule in simplified.items if rule.match.decides] in (["否"], [])
    tree = part("api.models.get_tree").sync(ended.model_id, client=client, candidates=True)
    assert isinstance(tree, models.ClassTree)
    assert tree.nodes[0].split.attribute == "纹理"
    evaluation = part("api.models.get_evaluation").sync("瓜", client=client)
    assert isinstance(evaluation, models.ClassEvaluation)
    assert evaluation.parts.train.accuracy == 1.0
    importance = part("api.models.get_importance").sync("瓜", client=client, part=models.Part.TRAIN)
    assert [(one.attribute, one.permutation.part) for one in importance.items] == [("纹理", "train")]
    schema = part("api.models.get_schema").sync("瓜", client=client)
    assert schema.example.to_dict() == {"纹理": "清晰"}
    assert isinstance(part("api.models.export_model").sync("瓜", client=client), models.ModelExport)
    assert isinstance(part("api.models.list_pruning_steps").sync("瓜", client=client), models.PruningPage)
    (listed,) = part("api.models.list_models").sync(client=client, name="瓜").items
    assert (listed.id, listed.parent) == (ended.model_id, None)

    for delete, thing in (("models.delete_model", "瓜@1"), ("trainings.delete_training", training.id)):
        assert part(f"api.{delete}").sync_detailed(thing, client=client).status_code == HTTPStatus.NO_CONTENT


def test_pruning_again_and_what_it_changes(client: Any) -> None:
    models = part("models")
    table = models.DatasetUpload.from_dict(
        {"columns": {"x": [1, 2, 3, 4, 5, 6, 7, 8], "y": ["p", "q", "p", "p", "q", "q", "p", "q"]}}
    )
    dataset = part("api.datasets.create_dataset").sync(client=client, body=table)
    order = models.TrainingRequest(
        name="again",
        dataset_id=dataset.id,
        target="y",
        algorithm=models.CartOptions(kind="cart"),
        division=models.NoDivision(kind="none"),
        pruning=models.NoPruning(kind="none"),
    )
    training = part("api.trainings.create_training").sync(client=client, body=order)
    grown = part("api.trainings.get_training").sync(training.id, client=client, wait=30)

    prune = part("api.models.prune_model").sync
    options = models.ReducedErrorPruningOptions(kind="reduced_error", on_tie=models.OnTie.CUT)
    request = models.PruningRequest(pruning=options, validation_dataset_id=dataset.id)
    ordered = prune("again", client=client, body=request)
    assert isinstance(ordered, models.Training)
    assert (ordered.version, ordered.parent.id, ordered.validation_dataset_id) == (2, grown.model_id, dataset.id)
    ended = part("api.trainings.get_training").sync(ordered.id, client=client, wait=30)
    assert (ended.status, ended.problem) == ("succeeded", None)

    chosen = prune("again@2", client=client, body=models.PruningRequest(step="full"))
    assert isinstance(chosen, models.Model)
    assert (chosen.version, chosen.selected_step, chosen.parent.version) == (3, 0, 2)
    difference = part("api.models.compare_pruning_steps").sync("again@2", "full", "selected", client=client)
    assert isinstance(difference, models.ClassDifference)
    assert difference.before.n_leaves == chosen.n_leaves
    assert difference.n_gone == len([item for item in difference.items if item.change == "gone"])
    assert difference.errors.test is None
    assert isinstance(prune("again", client=client, body=models.PruningRequest(step="none")), models.Problem)


def test_problems_are_typed(client: Any) -> None:
    models = part("models")
    problem = part("api.models.get_model").sync("nobody", client=client)
    assert isinstance(problem, models.Problem)
    assert problem.type_ == "/problems/model_not_found"
    order = models.TrainingRequest(
        name="m", dataset_id="ds_nobody", target="y", algorithm=models.CartOptions(kind="cart")
    )
    problem = part("api.trainings.create_training").sync(client=client, body=order)
    assert isinstance(problem, models.Problem)
    assert (problem.status, problem.errors[0].in_, problem.errors[0].pointer) == (404, "body", "#/dataset_id")


def test_numbers_are_told_apart_from_classes(client: Any) -> None:
    models = part("models")
    table = models.DatasetUpload.from_dict({"columns": {"x": [1, 2, 3, 4], "y": [1.5, 1.5, 2.5, 2.5]}})
    dataset = part("api.datasets.create_dataset").sync(client=client, body=table)
    order = models.TrainingRequest(
        name="numbers",
        dataset_id=dataset.id,
        target="y",
        algorithm=models.CartOptions(kind="cart"),
        division=models.NoDivision(kind="none"),
    )
    training = part("api.trainings.create_training").sync(client=client, body=order)
    part("api.trainings.get_training").sync(training.id, client=client, wait=30)
    request = models.PredictionRequest.from_dict({"columns": {"x": [1, 4]}, "step": 0})
    answer = part("api.predictions.predict").sync("numbers", client=client, body=request)
    assert isinstance(answer, models.NumberPredictions)
    assert [prediction.mean for prediction in answer.predictions] == [1.5, 2.5]
    assert isinstance(part("api.models.get_tree").sync("numbers", client=client), models.NumberTree)
    numbers = part("api.models.get_rules").sync("numbers", client=client)
    assert isinstance(numbers, models.NumberRules)
    assert (numbers.items[0].interval, numbers.default) == ([1.5, 1.5], None)
    assert isinstance(part("api.models.get_evaluation").sync("numbers", client=client), models.NumberEvaluation)


def test_several_targets_are_told_apart_from_one(client: Any) -> None:
    models = part("models")
    columns = {"x": [1, 2, 3, 4], "y": [1.5, 1.5, 2.5, 2.5], "z": [0, 0, 8, 8]}
    dataset = part("api.datasets.create_dataset").sync(
        client=client, body=models.DatasetUpload.from_dict({"columns": columns})
    )
    order = models.TrainingRequest(
        name="several",
        dataset_id=dataset.id,
        target=["y", "z"],
        algorithm=models.CartOptions(kind="cart"),
        division=models.NoDivision(kind="none"),
    )
    training = part("api.trainings.create_training").sync(client=client, body=order)
    assert training.configuration.target == ["y", "z"]
    part("api.trainings.get_training").sync(training.id, client=client, wait=30)
    request = models.PredictionRequest.from_dict({"records": [{"x": 1}, {}], "explain": True})
    answer = part("api.predictions.predict").sync("several", client=client, body=request)
    assert isinstance(answer, models.MultiOutputPredictions)
    known, unknown = answer.predictions
    assert known.mean.to_dict() == {"y": 1.5, "z": 0.0}
    assert unknown.bounds.to_dict() == {"y": [1.5, 2.5], "z": [0.0, 8.0]}
    assert unknown.paths[1].mean["z"] == 8.0
    tree = part("api.models.get_tree").sync("several", client=client)
    assert isinstance(tree, models.MultiOutputTree)
    assert (tree.targets, tree.nodes[0].mean["z"]) == (["y", "z"], 4.0)
    rules = part("api.models.get_rules").sync("several", client=client)
    assert isinstance(rules, models.MultiOutputRules)
    assert (rules.items[0].mean["y"], rules.default) == (1.5, None)
    assert rules.items[0].interval.to_dict() == {"y": [1.5, 1.5], "z": [0.0, 0.0]}
    evaluation = part("api.models.get_evaluation").sync("several", client=client)
    assert isinstance(evaluation, models.MultiOutputEvaluation)
    assert [one.target for one in evaluation.parts.train.per_target] == ["y", "z"]
    assert part("api.models.get_model").sync("several", client=client).target == ["y", "z"]
    assert part("api.models.export_model").sync("several", client=client).target == ["y", "z"]
    problem = part("api.models.get_tree").sync("several", client=client, thresholds=models.Thresholds.DATA)
    assert isinstance(problem, models.Problem)
    assert problem.errors[0].parameter == "thresholds"


def test_a_committee_from_its_order_to_its_votes(client: Any) -> None:
    models, rows = part("models"), range(40)
    columns = {"a": [row * 7 % 20 for row in rows], "b": ["xyz"[row % 3] for row in rows]}
    columns["y"] = ["p" if a > 9 else "q" for a in columns["a"]]
    body = models.DatasetUpload.from_dict({"columns": columns})
    dataset = part("api.datasets.create_dataset").sync(client=client, body=body)
    forest = models.RandomForestOptions(
        kind="random_forest",
        base=[models.BaseKind.CART, models.BaseKind.C45],
        n_trees=6,
        max_features=2,
        imbalance=models.SmoteOptions(kind="smote"),
    )
    order = models.TrainingRequest(
        name="committee",
        dataset_id=dataset.id,
        target="y",
        algorithm=forest,
        division=models.NoDivision(kind="none"),
        importance=models.RetrainingOptions(kind="retraining", repeats=1),
    )
    training = part("api.trainings.create_training").sync(client=client, body=order)
    assert isinstance(training.configuration.importance, models.Retraining)
    assert training.configuration.algorithm.imbalance.neighbours == 5
    ended = part("api.trainings.get_training").sync(training.id, client=client, wait=30)
    assert (ended.status, ended.problem) == ("succeeded", None)

    importance = part("api.models.get_importance").sync("committee", client=client, part=models.AskedRows.OUT_OF_BAG)
    told, other = importance.items
    assert (told.retraining.part, told.permutation.part) == (models.UnseenRows.OUT_OF_BAG, models.AskedRows.OUT_OF_BAG)
    assert told.retraining.mean > other.retraining.mean
    evaluation = part("api.models.get_evaluation").sync("committee", client=client)
    assert [point.trees for point in evaluation.trees] == [1, 2, 3, 4, 5, 6]
    # The generated function reads JSON only: a picture is fetched by the client that it uses.
    drawn = client.get_httpx_client().get("/v1/models/committee/evaluation", params={"format": "svg"})
    assert "Error by number of trees" in drawn.text

    asked = [{"a": 19, "b": "x"}, {"a": 1, "b": "y"}]
    request = models.PredictionRequest.from_dict(
        {"records": asked, "explain": True, "voting": {"kind": "threshold", "share": 0.6}}
    )
    assert isinstance(request.voting, models.ThresholdVoting)
    answer = part("api.predictions.predict").sync("committee", client=client, body=request)
    assert [one.label for one in answer.predictions] == ["p", "q"]
    assert answer.predictions[0].votes["p"] + answer.predictions[0].votes["q"] == 6
    assert answer.predictions[0].typical_path.tests
    rules = part("api.models.get_rules").sync("committee", client=client)
    assert (rules.style, rules.items[0].shared.trees > 0) == (models.RulesStyle.STRONGEST, True)
    near = part("api.models.find_neighbours").sync(
        "committee", client=client, body=models.NeighboursRequest.from_dict({"records": asked, "n": 2})
    )
    assert [len(one.rows) for one in near.items] == [2, 2]
    page = part("api.models.get_proximity").sync("committee", client=client, limit=3, outliers=True)
    assert [len(item.proximities) for item in page.items] == [3, 3, 3]
    assert isinstance(part("api.models.get_tree").sync("committee", client=client, index=5), models.ClassTree)


def test_an_isolation_forest_and_its_scores(client: Any) -> None:
    models = part("models")
    body = models.DatasetUpload.from_dict({"columns": {"a": [*range(30), 500]}})
    dataset = part("api.datasets.create_dataset").sync(client=client, body=body)
    order = models.TrainingRequest(
        name="odd",
        dataset_id=dataset.id,
        algorithm=models.IsolationForestOptions(kind="isolation_forest", n_trees=20, threshold=0.6),
        division=models.NoDivision(kind="none"),
    )
    training = part("api.trainings.create_training").sync(client=client, body=order)
    assert part("api.trainings.get_training").sync(training.id, client=client, wait=30).status == "succeeded"
    request = models.PredictionRequest.from_dict({"records": [{"a": 500}, {"a": 15}], "explain": True})
    answer = part("api.predictions.predict").sync("odd", client=client, body=request)
    assert isinstance(answer, models.AnomalyPredictions)
    assert [one.is_anomaly for one in answer.predictions] == [True, False]
    assert answer.predictions[0].short_ways[0].conditions
    evaluation = part("api.models.get_evaluation").sync("odd", client=client)
    assert isinstance(evaluation, models.AnomalyEvaluation)
    assert evaluation.parts.train.anomalies >= 1
