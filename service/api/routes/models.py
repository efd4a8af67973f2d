"""Models: list them, read them as of any step of their pruning, delete them."""

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Path, Query, Request, Response

from core.drawing.curve import curve_svg
from core.drawing.dot import tree_dot
from core.drawing.svg import tree_svg
from core.drawing.text import tree_text
from core.drawing.trees_curve import trees_curve_svg
from core.records.schema import record_json_schema
from core.tree import model as core
from service.api.bodies import StrictRoute
from service.api.conditional import WITH_ETAG, is_unchanged, not_modified
from service.api.dependencies import AppDatabase, AppSettings, Files, Models, ReadSession
from service.api.paging import Paging, page_of, write_cursor
from service.api.predicting.record_parameters import record_in
from service.api.problems import documented
from service.api.schemas.configuring.pruning import PruningEntry, PruningPage
from service.api.schemas.differences import AnyDifference, PruningDifference, difference_of
from service.api.schemas.evaluations import Evaluation
from service.api.schemas.exports import ModelExport
from service.api.schemas.importance import Importance
from service.api.schemas.models import Model, ModelListed, ModelPage, ModelSchema, ModelStep, task_of
from service.api.schemas.trees import Tree, tree_of
from service.errors import InvalidParameter, ModelNotFound, ModelNotReady, NotForThisModel, StepNotFound, TooBusy
from service.kernel_cache import compiled_code_is_ready
from service.serving.loaded_models import Loaded, LoadedIsolation, LoadedTrees, common_tree, one_tree
from service.store import models
from service.usecases.models import delete_model as deletion
from service.usecases.models import draw_boundary as boundary
from service.usecases.models.draw_boundary import plane_of
from service.usecases.models.read_importance import AskedRows, read_falls
from service.usecases.models.read_model import (
    Thresholds,
    as_reported,
    read_candidates,
    read_difference,
    read_evaluation,
    trees_curve,
)
from service.usecases.trainings.evaluation_json import curve_from_json

router = APIRouter(route_class=StrictRoute, prefix="/v1/models", tags=["models"])

MODEL_REF, MODEL_REFS = "Model id, name (newest version) or `name@3` (version 3).", ["melon", "melon@3"]
ModelRef = Annotated[str, Path(description=MODEL_REF, examples=MODEL_REFS)]
StepQuery = Annotated[
    str,
    Query(
        description="Step of the pruning history: a number, `selected` (the step served by default), `full` (step 0, "
        "before pruning), `leaves:7` (the largest tree with at most 7 leaves) or `alpha:0.01` (the tree after all cuts "
        "up to that alpha)."
    ),
]
ThresholdsQuery = Annotated[
    Thresholds,
    Query(
        description="Which number to show for a threshold. `midpoint`: the one that splits records, halfway between "
        "two values. `data`: the one that C4.5 release 8 and Weka's J48 print, the largest value in the training data "
        "that is not above the midpoint; training rows go the same way with either. `data` is only for models trained "
        "with the dialect `release8`."
    ),
]
IndexQuery = Annotated[
    int | None,
    Query(description="Index of a tree of a forest, from 0. Omit it for a model with a single tree."),
]
SHOW_ONE = "GET …/tree?index=0 shows one of them"
READ = documented(ModelNotFound, ModelNotReady) | WITH_ETAG
READ_STEP = documented(ModelNotFound, ModelNotReady, StepNotFound) | WITH_ETAG
READ_DATA = documented(ModelNotFound, ModelNotReady, StepNotFound, TooBusy) | WITH_ETAG
OF_ONE_TREE = documented(NotForThisModel)


class TreeFormat(StrEnum):
    """How a tree is shown."""

    JSON = "json"
    TEXT = "text"
    DOT = "dot"
    SVG = "svg"


class SchemaFormat(StrEnum):
    """How a record is described."""

    JSON = "json"
    JSON_SCHEMA = "json_schema"


class EvaluationFormat(StrEnum):
    """How an evaluation is shown."""

    JSON = "json"
    SVG = "svg"


SCHEMA_TYPE = "application/schema+json"
AS_SCHEMA: dict[int | str, dict[str, Any]] = {
    200: {**WITH_ETAG[200], "content": {SCHEMA_TYPE: {"schema": {"$ref": "#/components/schemas/JsonSchema"}}}}
}

DRAWINGS: dict[TreeFormat, tuple[str, Callable[[core.Model, int], str]]] = {
    TreeFormat.TEXT: ("text/plain", tree_text),
    TreeFormat.DOT: ("text/vnd.graphviz", tree_dot),
    TreeFormat.SVG: ("image/svg+xml", tree_svg),
}


def other_formats(*media_types: str) -> dict[int | str, dict[str, Any]]:
    """For `responses=`: the media types of the answer besides JSON, with the same ETag."""
    content = {media_type: {"schema": {"type": "string"}} for media_type in media_types}
    return {200: {**WITH_ETAG[200], "content": content}}


def etag_of(loaded: Loaded) -> str:
    """The content's digest, and the id, since a name may later mean another model with the same content."""
    return f"{loaded.record.digest};{loaded.record.id}"


@router.get("")
async def list_models(
    session: ReadSession,
    paging: Paging,
    name: Annotated[str | None, Query(description="Only list versions of the model with this name.")] = None,
) -> ModelPage:
    """List the models that are ready, newest first."""
    page = await models.page(session, paging.limit, paging.after, name=name)
    return ModelPage(items=[ModelListed.of(one) for one in page.items], next_cursor=write_cursor(page.next_cursor))


@router.get("/{model}", responses=READ, response_model=Model)
async def get_model(model: ModelRef, loaded_models: Models, request: Request, response: Response) -> Model | Response:
    """Show a model with its configuration."""
    loaded = await loaded_models.get(model)
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    return Model.whole(loaded.record)


@router.delete("/{model}", status_code=204, responses=documented(ModelNotFound, ModelNotReady))
async def delete_model(model: ModelRef, database: AppDatabase, files: Files, loaded_models: Models) -> None:
    """Delete a model, and dataset files that only this model still needed. Its version number is not reused."""
    await deletion.delete_model(database, files, loaded_models, model)


@router.get("/{model}/schema", responses=READ | AS_SCHEMA, response_model=ModelSchema)
async def get_schema(
    model: ModelRef,
    loaded_models: Models,
    request: Request,
    response: Response,
    format: Annotated[
        SchemaFormat,
        Query(
            description="`json`: attributes, an example and the JSON Schema of a record. `json_schema`: only the JSON "
            "Schema."
        ),
    ] = SchemaFormat.JSON,
) -> ModelSchema | Response:
    """Show what a record for this model looks like, with an example that can be sent as is."""
    loaded = await loaded_models.get(model)
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    if format is SchemaFormat.JSON_SCHEMA:
        described = json.dumps(record_json_schema(common_tree(loaded).model), ensure_ascii=False, allow_nan=False)
        return Response(described, media_type=SCHEMA_TYPE, headers={"ETag": response.headers["ETag"]})
    return ModelSchema.of(loaded, loaded.number("selected"))


@router.get(
    "/{model}/tree",
    responses=READ_DATA | other_formats(*(media_type for media_type, _ in DRAWINGS.values())),
    response_model=Tree,
)
async def get_tree(
    model: ModelRef,
    loaded_models: Models,
    database: AppDatabase,
    files: Files,
    request: Request,
    response: Response,
    step: StepQuery = "selected",
    index: IndexQuery = None,
    format: Annotated[
        TreeFormat, Query(description="JSON, indented text, Graphviz DOT or an SVG drawing.")
    ] = TreeFormat.JSON,
    candidates: Annotated[bool, Query(description="Also list the candidate splits of each node.")] = False,
    thresholds: ThresholdsQuery = Thresholds.MIDPOINT,
) -> Tree | Response:
    """Show the tree, or one tree of a forest: every node with its counts, its split and the shares of its branches."""
    whole = await loaded_models.get(model)
    loaded = await to_thread.run_sync(one_tree, whole, index)
    number, shown = whole.number(step), as_reported(loaded, thresholds)
    if candidates and index is not None:
        detail = "the nodes of a committee's trees compare drawn attributes on drawn rows, and these are not kept"
        raise InvalidParameter("candidates", detail, hint="leave it out, or train a single tree")
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    if format is not TreeFormat.JSON:
        media_type, draw = DRAWINGS[format]
        drawn = await to_thread.run_sync(draw, shown.model, number)
        return Response(drawn, media_type=media_type, headers={"ETag": response.headers["ETag"]})
    considered = await read_candidates(database, files, loaded, number, thresholds) if candidates else None
    return await to_thread.run_sync(tree_of, shown, number, considered)


@router.get("/{model}/pruning", responses=READ, response_model=PruningPage)
async def list_pruning_steps(
    model: ModelRef, loaded_models: Models, paging: Paging, request: Request, response: Response
) -> PruningPage | Response:
    """List every pruning decision, in order, with its evidence. Models of many trees have none."""
    loaded = await loaded_models.get(model)
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    if isinstance(loaded, LoadedTrees):
        return PruningPage(items=[], next_cursor=None)
    entries, next_cursor = page_of(loaded.model.history.steps, paging)
    return PruningPage(items=[PruningEntry.of(entry, loaded.model) for entry in entries], next_cursor=next_cursor)


@router.get("/{model}/pruning/{step}", responses=READ_STEP | OF_ONE_TREE, response_model=Tree)
async def get_pruned_tree(
    model: ModelRef,
    step: Annotated[
        str, Path(description="Step of the pruning history: a number, `selected`, `full`, `leaves:7` or `alpha:0.01`.")
    ],
    loaded_models: Models,
    request: Request,
    response: Response,
    thresholds: ThresholdsQuery = Thresholds.MIDPOINT,
) -> Tree | Response:
    """Show the tree at a step of its pruning history."""
    loaded = await loaded_models.tree(model, instead=SHOW_ONE)
    number, shown = loaded.number(step, location="path"), as_reported(loaded, thresholds)
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    return await to_thread.run_sync(tree_of, shown, number, None)


@router.get("/{model}/pruning/{a}/diff/{b}", responses=READ_DATA | OF_ONE_TREE, response_model=PruningDifference)
async def compare_pruning_steps(
    model: ModelRef,
    a: Annotated[
        str,
        Path(
            description="The first step: a number, `selected`, `full`, `leaves:7` or `alpha:0.01`.", examples=["full"]
        ),
    ],
    b: Annotated[
        str,
        Path(
            description="The second step: a number, `selected`, `full`, `leaves:7` or `alpha:0.01`.",
            examples=["selected"],
        ),
    ],
    loaded_models: Models,
    database: AppDatabase,
    files: Files,
    paging: Paging,
    request: Request,
    response: Response,
) -> AnyDifference | Response:
    """Show what changes between two steps: rules removed and added, training weight moved, the error on each part."""
    loaded = await loaded_models.tree(model, instead="they are not pruned, so no steps differ")
    before, after = (loaded.number(step, location="path", parameter=name) for name, step in (("a", a), ("b", b)))
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    difference = await read_difference(database, files, loaded, before, after)
    return await to_thread.run_sync(difference_of, loaded, before, after, difference, paging)


@router.get("/{model}/evaluation", responses=READ_DATA | other_formats("image/svg+xml"), response_model=Evaluation)
async def get_evaluation(
    model: ModelRef,
    loaded_models: Models,
    database: AppDatabase,
    files: Files,
    request: Request,
    response: Response,
    step: StepQuery = "selected",
    format: Annotated[
        EvaluationFormat,
        Query(
            description="JSON, or an SVG chart. For a tree: the error by tree size, with the step marked. For a "
            "committee: the out-of-bag error by number of trees."
        ),
    ] = EvaluationFormat.JSON,
) -> Any:
    """Show how well the model predicts each part of the data, against a simple baseline, and along its pruning history.

    For a committee, also on the out-of-bag rows: each training row is predicted by the trees it was not drawn for.
    """
    loaded = await loaded_models.get(model)
    number = loaded.number(step)
    curve = trees_curve(loaded) if isinstance(loaded, LoadedTrees) and format is EvaluationFormat.SVG else None
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    if curve is not None:
        return Response(trees_curve_svg(curve), media_type="image/svg+xml", headers={"ETag": response.headers["ETag"]})
    about = {"model": ModelStep.of(loaded, number), "task": task_of(loaded.model)}
    if isinstance(loaded, LoadedTrees):
        return {**about, **loaded.record.evaluation}
    evaluation = await read_evaluation(database, files, loaded, number)
    if format is EvaluationFormat.SVG:
        drawn = await to_thread.run_sync(curve_svg, loaded.model, curve_from_json(evaluation["curve"]), number)
        return Response(drawn, media_type="image/svg+xml", headers={"ETag": response.headers["ETag"]})
    return {**about, **evaluation, "trees": []}


@router.get("/{model}/importance", responses=READ_DATA | documented(NotForThisModel), response_model=Importance)
async def get_importance(
    model: ModelRef,
    loaded_models: Models,
    database: AppDatabase,
    files: Files,
    settings: AppSettings,
    request: Request,
    response: Response,
    step: StepQuery = "selected",
    part: Annotated[
        AskedRows | None,
        Query(
            description="Also compute the permutation importance: shuffle the values of each attribute among the rows "
            "of this part, and show how much worse the predictions become. Rows that the model was not trained on say "
            "most: `test`, or for a committee `out_of_bag`, where each row is predicted by the trees it was not drawn "
            "for."
        ),
    ] = None,
    repeats: Annotated[int, Query(ge=1, le=100, description="How many times each attribute is shuffled.")] = 5,
) -> Importance | Response:
    """Show which attributes the model relies on: how often each is tested, and how much it decreases impurity."""
    loaded = await loaded_models.get(model)
    if isinstance(loaded, LoadedIsolation):
        detail = f"{loaded.record.name} draws its attributes at random, and relies on none"
        raise NotForThisModel(f"{detail}; the contributions of a prediction tell what sets a record apart")
    number = loaded.number(step)
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    falls = None
    if part is not None:
        kernels = compiled_code_is_ready(settings)
        falls = await read_falls(database, files, loaded, number, part, repeats=repeats, kernels=kernels)
    return await to_thread.run_sync(Importance.of, loaded, number, part, falls)


@router.get(
    "/{model}/boundary",
    responses=READ_DATA | {200: {**WITH_ETAG[200], "content": {"image/svg+xml": {"schema": {"type": "string"}}}}},
    response_class=Response,
)
async def draw_boundary(
    model: ModelRef,
    loaded_models: Models,
    database: AppDatabase,
    files: Files,
    request: Request,
    response: Response,
    x: Annotated[str, Query(description="Numeric attribute on the horizontal axis.", examples=["密度"])],
    y: Annotated[str, Query(description="Numeric attribute on the vertical axis.", examples=["含糖率"])],
    given: Annotated[
        str | None,
        Query(
            description="Values of the other attributes, as a JSON object. An attribute that is not given is missing "
            "and treated as in a weighted prediction: the answer is then a mean over branches.",
            examples=['{"纹理": "清晰"}'],
        ),
    ] = None,
    step: StepQuery = "selected",
    index: IndexQuery = None,
) -> Response:
    """Draw the predictions of the tree, or of one tree of a forest, over two numeric attributes.

    The drawing shows the exact regions and up to 1,000 training rows. A forest as a whole has too many regions to be
    drawn exactly.
    """
    whole = await loaded_models.get(model)
    loaded = await to_thread.run_sync(one_tree, whole, index)
    number, plane = whole.number(step), plane_of(loaded, x, y, record_in("given", "{}" if given is None else given))
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    drawn = await boundary.draw_boundary(database, files, loaded, number, plane)
    return Response(drawn, media_type="image/svg+xml", headers={"ETag": response.headers["ETag"]})


@router.get("/{model}/export", responses=READ_STEP, response_model=ModelExport)
async def export_model(
    model: ModelRef,
    loaded_models: Models,
    request: Request,
    response: Response,
    step: StepQuery = "selected",
    index: IndexQuery = None,
    format: Annotated[Literal["json"], Query(description="The only format.")] = "json",  # noqa: ARG001
    thresholds: ThresholdsQuery = Thresholds.MIDPOINT,
) -> ModelExport | Response:
    """Export a model, or one tree of a forest, as one document: attributes, configuration, tree, pruning history."""
    whole = await loaded_models.get(model)
    loaded = await to_thread.run_sync(one_tree, whole, index)
    number, shown = whole.number(step), as_reported(loaded, thresholds)
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    return await to_thread.run_sync(ModelExport.of, shown, number)
