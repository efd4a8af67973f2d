"""Models in SQL: a row is `waiting` while its training runs, then `ready`, and never changes again."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Row, insert, select, update
from sqlalchemy import delete as delete_from
from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import ModelNotFound, ModelNotReady
from service.store import datasets, pieces, tables
from service.store.clock import database_now, moment
from service.store.ids import new_id
from service.store.pages import Page, newest_first
from service.store.pieces import Piece
from service.store.transactions import insert_or_update

ID_PREFIX = "mdl_"

_models = tables.models


class ModelState(StrEnum):
    """Whether a model's training has ended."""

    WAITING = "waiting"
    READY = "ready"


class Role(StrEnum):
    """What a model used a dataset for."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class WaitingModel:
    """A model whose training has not ended: its id, its name and its version under that name."""

    id: str
    name: str
    version: int


@dataclass(frozen=True, slots=True)
class Parent:
    """The model that another was pruned from, and the step of its history that was the start; 0 is the full tree."""

    id: str
    name: str
    version: int
    step: int


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A ready model as shown in a list."""

    id: str
    name: str
    version: int
    task: str
    target: str | list[str] | None
    dataset_id: str
    validation_dataset_id: str | None
    parent: Parent | None
    digest: str
    format: int
    size: int
    facts: dict[str, Any]
    created_at: datetime
    ready_at: datetime


@dataclass(frozen=True, slots=True)
class ModelRecord(ModelSummary):
    """A ready model in full, except for its content."""

    configuration: dict[str, Any]
    evaluation: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PackedContent:
    """A model's content, ready to be stored; `size` is its number of bytes before compression."""

    size: int
    pieces: tuple[Piece, ...]


def pack(*content: bytes) -> PackedContent:
    """A model's content in pieces, each compressed; models with the same piece share it."""
    return PackedContent(sum(map(len, content)), tuple(map(pieces.pack, content)))


async def add_waiting(
    session: AsyncSession,
    *,
    name: str,
    configuration: Mapping[str, Any],
    train: str,
    validation: str | None = None,
    test: str | None = None,
) -> WaitingModel:
    """Record a waiting model as the next version of `name`; its datasets (by id) stay until it is deleted."""
    used = {Role.TRAIN: train, Role.VALIDATION: validation, Role.TEST: test}
    uses = {role: dataset_id for role, dataset_id in used.items() if dataset_id is not None}
    await datasets.hold(session, uses.values())
    return await _add(session, name, configuration, uses)


async def add_descendant(
    session: AsyncSession,
    parent: Parent,
    *,
    name: str,
    configuration: Mapping[str, Any],
    validation: str | None,
) -> WaitingModel:
    """Record a waiting model to be made from another one, with its datasets, and its content until it has its own.

    `validation` is a dataset to validate on instead; None keeps the parent's. The parent may be deleted afterwards.
    """
    held = select(_models).where(_models.c.id == parent.id, _models.c.state == ModelState.READY.value)
    row = (await session.execute(held.with_for_update(read=True))).one_or_none()
    if row is None:
        raise ModelNotFound(f"there is no model {parent.id}; it was deleted a moment ago")
    datasets_of = tables.model_datasets
    query = select(datasets_of.c.role, datasets_of.c.dataset_id).where(datasets_of.c.model_id == parent.id)
    uses = {Role(use.role): use.dataset_id for use in await session.execute(query)}
    if validation is not None:
        await datasets.hold(session, [validation])
        uses[Role.VALIDATION] = validation
    waiting = await _add(
        session,
        name,
        configuration,
        uses,
        parent=asdict(parent),
        validation_dataset_id=validation or row.validation_dataset_id,
    )
    await pieces.share(session, waiting.id, parent.id)
    return waiting


async def publish(
    session: AsyncSession,
    model_id: str,
    *,
    content: PackedContent,
    digest: str,
    task: str,
    target: str | list[str] | None,
    format: int,
    facts: Mapping[str, Any],
    evaluation: Mapping[str, Any],
) -> None:
    """Make a waiting model ready.

    Call `jobs.finish_succeeded` first in the same transaction: it checks that this worker still holds the job, and
    every transaction then locks the job before the model.
    """
    ready = (
        update(_models)
        .where(_models.c.id == model_id, _models.c.state == ModelState.WAITING.value)
        .values(
            state=ModelState.READY.value,
            digest=digest,
            task=task,
            target=target,
            format=format,
            size=content.size,
            facts=facts,
            evaluation=evaluation,
            ready_at=database_now(),
        )
    )
    published = await session.scalar(ready.returning(_models.c.id))
    assert published is not None, f"{model_id} is not waiting"
    await pieces.give(session, model_id, content.pieces)


async def get(session: AsyncSession, ref: str) -> ModelRecord:
    """The ready model `ref` names: an id, `name@3` for a version, or `name` for its newest ready version."""
    matching = _matching(ref)
    query = (
        select(_models).where(matching).order_by(_models.c.state == ModelState.WAITING.value, _models.c.version.desc())
    )
    row = (await session.execute(query.limit(1))).one_or_none()
    if row is None:
        raise ModelNotFound(f"there is no model {ref}; GET /v1/models lists those there are")
    if row.state == ModelState.WAITING.value:
        raise ModelNotReady(f"the training of model {ref} has not ended yet; ask again when it has")
    return ModelRecord(**_shared(row), configuration=row.configuration, evaluation=row.evaluation)


async def read_content(session: AsyncSession, model_id: str) -> bytes:
    """A model's content, as it was before packing; ModelNotFound if it has just been deleted."""
    content = await pieces.read(session, model_id)
    if content is None:
        raise ModelNotFound(f"there is no model {model_id}; it may have been deleted a moment ago")
    return content


async def file_digests(session: AsyncSession, model_id: str) -> dict[str, str]:
    """The digests of the files that hold a model's rows, by role, including those of datasets deleted since."""
    uses, named = tables.model_datasets, tables.datasets
    query = select(uses.c.role, named.c.digest).join(named, named.c.id == uses.c.dataset_id)
    digests = {use.role: use.digest for use in await session.execute(query.where(uses.c.model_id == model_id))}
    if not digests:
        raise ModelNotFound(f"there is no model {model_id}; it may have been deleted a moment ago")
    return digests


async def page(session: AsyncSession, limit: int, cursor: str | None, *, name: str | None = None) -> Page[ModelSummary]:
    """Ready models, newest first; only those called `name` if it is given."""
    left_out = {"configuration", "evaluation"}
    query = select(*(column for column in _models.c if column.name not in left_out))
    query = query.where(_models.c.state == ModelState.READY.value)
    if name is not None:
        query = query.where(_models.c.name == name)
    return await newest_first(session, query, _models.c.id, _summary, limit=limit, cursor=cursor)


async def delete(session: AsyncSession, ref: str) -> ModelRecord:
    """Delete a ready model and its content, and return its record; its training stays, without a model."""
    record = await get(session, ref)
    gone = delete_from(_models).where(_models.c.id == record.id).returning(_models.c.id)
    if await session.scalar(gone) is None:
        raise ModelNotFound(f"there is no model {ref}; it was deleted a moment ago")
    await pieces.sweep(session)
    return record


async def still_there(session: AsyncSession, model_ids: Iterable[str]) -> set[str]:
    """The ids among these whose models have not been deleted."""
    return set((await session.scalars(select(_models.c.id).where(_models.c.id.in_(list(model_ids))))).all())


async def _add(
    session: AsyncSession,
    name: str,
    configuration: Mapping[str, Any],
    uses: Mapping[Role, str],
    **of_descendants: Any,
) -> WaitingModel:
    waiting = WaitingModel(new_id("mdl"), name, await _next_version(session, name))
    values = {
        "id": waiting.id,
        "name": name,
        "version": waiting.version,
        "state": ModelState.WAITING.value,
        "dataset_id": uses[Role.TRAIN],
        "configuration": configuration,
        "created_at": database_now(),
        **of_descendants,
    }
    await session.execute(insert(_models).values(values))
    used = [{"model_id": waiting.id, "role": role.value, "dataset_id": each} for role, each in uses.items()]
    await session.execute(insert(tables.model_datasets), used)
    return waiting


async def _next_version(session: AsyncSession, name: str) -> int:
    names = tables.model_names
    first, further = {"name": name, "last_version": 1}, {"last_version": names.c.last_version + 1}
    next_one = insert_or_update(session, names, first, key="name", changes=further)
    version: int = (await session.execute(next_one.returning(names.c.last_version))).scalar_one()
    return version


def _matching(ref: str) -> ColumnElement[bool]:
    if ref.startswith(ID_PREFIX):
        return _models.c.id == ref
    name, at, version = ref.partition("@")
    if not at:
        return _models.c.name == name
    if not (version.isascii() and version.isdigit() and len(version) <= 9):
        raise ModelNotFound(f"there is no model {ref}; after the @ stands a version number, as in {name}@1")
    return (_models.c.name == name) & (_models.c.version == int(version))


def _summary(row: Row[Any]) -> ModelSummary:
    return ModelSummary(**_shared(row))


def _shared(row: Row[Any]) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "version": row.version,
        "task": row.task,
        "target": row.target,
        "dataset_id": row.dataset_id,
        "validation_dataset_id": row.validation_dataset_id,
        "parent": None if row.parent is None else Parent(**row.parent),
        "digest": row.digest,
        "format": row.format,
        "size": row.size,
        "facts": row.facts,
        "created_at": moment(row.created_at),
        "ready_at": moment(row.ready_at),
    }
