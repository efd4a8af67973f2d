"""Rules: a model as sentences, as a table, as a query and as a program."""

from enum import StrEnum
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from core.rules.extraction import path_rule, path_rules
from core.rules.markdown import rules_markdown
from core.rules.matching import ordered_matches, path_matches
from core.rules.python_source import ordered_python, tree_python
from core.rules.simplification import OrderedRules
from core.rules.sql import case_sql, weighted_sql
from core.rules.text import rules_text
from core.tree.model import Model
from core.tree.tree import TreeView
from service.api.bodies import StrictRoute
from service.api.conditional import is_unchanged, not_modified
from service.api.dependencies import AppDatabase, Files, Models
from service.api.paging import PageRequest, Paging, page_of
from service.api.predicting.record_parameters import record_in
from service.api.routes.models import (
    READ_DATA,
    IndexQuery,
    ModelRef,
    StepQuery,
    ThresholdsQuery,
    etag_of,
    other_formats,
)
from service.api.schemas.forest_rules import forest_rules_of, forest_rules_text
from service.api.schemas.models import ModelStep
from service.api.schemas.rules import AnyRules, Rules, RulesPage, rules_of
from service.errors import InvalidParameter
from service.serving.loaded_models import LoadedForest, LoadedModel, one_tree
from service.usecases.models.read_forest_rules import read_strongest
from service.usecases.models.read_model import Thresholds, as_reported
from service.usecases.models.read_rules import RecordToMatch, RulesStyle, read_record, read_simplified, refuse_numbers

router = APIRouter(route_class=StrictRoute, prefix="/v1/models", tags=["models"])


class RulesFormat(StrEnum):
    """How rules are shown."""

    JSON = "json"
    TEXT = "text"
    MARKDOWN = "markdown"
    SQL = "sql"
    SQL_WEIGHTED = "sql_weighted"
    PYTHON = "python"


MEDIA_TYPES = {
    RulesFormat.TEXT: "text/plain",
    RulesFormat.MARKDOWN: "text/markdown",
    RulesFormat.SQL: "application/sql",
    RulesFormat.SQL_WEIGHTED: "application/sql",
    RulesFormat.PYTHON: "text/x-python",
}


@router.get(
    "/{model}/rules", responses=READ_DATA | other_formats(*dict.fromkeys(MEDIA_TYPES.values())), response_model=Rules
)
async def get_rules(
    model: ModelRef,
    loaded_models: Models,
    database: AppDatabase,
    files: Files,
    paging: Paging,
    request: Request,
    response: Response,
    step: StepQuery = "selected",
    index: IndexQuery = None,
    style: Annotated[
        RulesStyle | None,
        Query(
            description="`paths` (default for a single tree): one rule per leaf, of which each complete record "
            "satisfies exactly one. `simplified`: fewer and shorter rules, applied in order and with a default, as in "
            "C4.5rules; for classification. `strongest` (default for a committee): rules that trees share, judged by "
            "rows that these trees have not seen; JSON or text only."
        ),
    ] = None,
    format: Annotated[
        RulesFormat,
        Query(
            description="JSON in pages, or all rules as text, as a Markdown table, as a Python function, or as a CASE "
            "expression for SQLite and Postgres. `sql_weighted` gives the probability of each class, or each mean, as "
            "an expression that also handles rows with NULLs."
        ),
    ] = RulesFormat.JSON,
    thresholds: ThresholdsQuery = Thresholds.MIDPOINT,
    matching: Annotated[
        str | None,
        Query(
            description="A record as JSON. Each rule then says whether it holds for this record.",
            examples=['{"纹理": null, "触感": "硬滑"}'],
        ),
    ] = None,
) -> AnyRules | Response:
    """Show the tree, or one tree of a forest, as if-then rules; for a committee, the strongest shared rules."""
    whole = await loaded_models.get(model)
    if isinstance(whole, LoadedForest) and index is None and style in (None, RulesStyle.STRONGEST):
        whole.number(step)
        _refuse_with_many(format, thresholds, matching)
        if is_unchanged(request, response, etag_of(whole)):
            return not_modified(response)
        strongest = await read_strongest(database, files, whole)
        if format is RulesFormat.TEXT:
            text = await to_thread.run_sync(forest_rules_text, whole.model, strongest)
            return Response(text, media_type=MEDIA_TYPES[format], headers={"ETag": response.headers["ETag"]})
        some, next_cursor = page_of(strongest, paging)
        return await to_thread.run_sync(forest_rules_of, whole.model, ModelStep.of(whole, 0), some, next_cursor)
    loaded = await to_thread.run_sync(one_tree, whole, index)
    style = _style_of_one(style, index)
    number, reported = whole.number(step), as_reported(loaded, thresholds)
    _refuse_what_does_not_go_together(loaded, style, format, thresholds, matching)
    record = None
    if matching is not None:
        record = await to_thread.run_sync(read_record, loaded, number, record_in("matching", matching))
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    ordered = None
    if style is RulesStyle.SIMPLIFIED:
        ordered = await read_simplified(database, files, loaded, number, thresholds)
    as_of, view = loaded.as_of(number), reported.view(number)
    if format is not RulesFormat.JSON:
        document = await to_thread.run_sync(_document, format, as_of, view, ordered)
        return Response(document, media_type=MEDIA_TYPES[format], headers={"ETag": response.headers["ETag"]})

    def shown() -> AnyRules:
        return rules_of(as_of, ModelStep.of(loaded, number), _page_of(as_of, view, ordered, paging, record))

    return await to_thread.run_sync(shown)


def _style_of_one(style: RulesStyle | None, index: int | None) -> RulesStyle:
    """The style of one tree's rules, `paths` by default; InvalidParameter for a style that it cannot have."""
    if style is RulesStyle.STRONGEST:
        raise InvalidParameter("style", "only many trees together have rules that they share", hint="use paths")
    if style is RulesStyle.SIMPLIFIED and index is not None:
        detail = "rules are simplified by the rows of a tree, and those drawn for one of many are not kept"
        raise InvalidParameter("style", detail, hint="use paths")
    return style or RulesStyle.PATHS


def _refuse_with_many(format: RulesFormat, thresholds: Thresholds, matching: str | None) -> None:
    if format not in (RulesFormat.JSON, RulesFormat.TEXT):
        detail = "rules that trees share do not answer every record, so they make no table, query or program"
        raise InvalidParameter("format", detail, hint="use json or text, or the rules of one tree: index=0")
    if thresholds is not Thresholds.MIDPOINT:
        detail = "rules that trees share have thresholds at quantiles of the data"
        raise InvalidParameter("thresholds", detail, hint="leave it out")
    if matching is not None:
        detail = "rules that trees share are not matched with records"
        raise InvalidParameter("matching", detail, hint="explain a prediction, or match those of one tree: index=0")


def _refuse_what_does_not_go_together(
    loaded: LoadedModel, style: RulesStyle, format: RulesFormat, thresholds: Thresholds, matching: str | None
) -> None:
    if style is RulesStyle.SIMPLIFIED:
        refuse_numbers(loaded)
    if format is RulesFormat.SQL_WEIGHTED and style is RulesStyle.SIMPLIFIED:
        detail = "simplified rules have no weights"
        raise InvalidParameter("format", detail, hint="use sql, which answers rows with NULLs too by these rules")
    if matching is not None and format is not RulesFormat.JSON:
        raise InvalidParameter("format", "which rules match is told in JSON only", hint="use json, or leave it out")
    if matching is not None and thresholds is not Thresholds.MIDPOINT:
        detail = "records are divided at midpoints, so that is what they are matched with"
        raise InvalidParameter("thresholds", detail, hint="use midpoint, or leave it out")


def _document(format: RulesFormat, model: Model, view: TreeView, ordered: OrderedRules | None) -> str:
    """All rules as text in the given format; `model` is as of their step."""
    if format is RulesFormat.SQL_WEIGHTED:
        return weighted_sql(model, view) + "\n"
    if format is RulesFormat.PYTHON:
        return tree_python(model, view) if ordered is None else ordered_python(model, ordered)
    rules = path_rules(view, model.attributes) if ordered is None else ordered.rules
    default = None if ordered is None else ordered.default
    if format is RulesFormat.SQL:
        return case_sql(model, rules, default) + "\n"
    return (rules_markdown if format is RulesFormat.MARKDOWN else rules_text)(model, rules, default)


def _page_of(
    model: Model, view: TreeView, ordered: OrderedRules | None, paging: PageRequest, record: RecordToMatch | None
) -> RulesPage:
    """A page of the rules, with how they match the record, if one is given; `model` is as of their step."""
    if ordered is None:
        leaves, next_cursor = page_of(view.leaves, paging)
        paths = [path_rule(view.tree, leaf, model.attributes) for leaf in leaves]
        matches = None if record is None else path_matches(paths, record.table, record.reached)
        return RulesPage(RulesStyle.PATHS, paths, None, matches, record, by_default=False, next_cursor=next_cursor)
    rules, next_cursor = page_of(ordered.rules, paging)
    every = None if record is None else ordered_matches(ordered, record.table)
    return RulesPage(
        RulesStyle.SIMPLIFIED,
        rules,
        ordered.default,
        None if every is None else page_of(every, paging)[0],
        record,
        by_default=every is not None and not any(match.decides for match in every),
        next_cursor=next_cursor,
    )
