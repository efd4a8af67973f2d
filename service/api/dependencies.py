"""Dependencies that routes request by type: sessions, files, settings, models and metrics."""

from collections.abc import AsyncIterator
from typing import Annotated, cast

from fastapi import Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession

from service.api.metrics import Metrics
from service.serving.loaded_models import LoadedModels
from service.settings import Settings
from service.store.artifacts import Artifacts
from service.store.transactions import Database


def _database(request: Request) -> Database:
    return cast(Database, request.app.state.database)


def _artifacts(request: Request) -> Artifacts:
    return cast(Artifacts, request.app.state.artifacts)


def _settings(request: Request) -> Settings:
    return cast(Settings, request.app.state.settings)


def _models(request: Request) -> LoadedModels:
    return cast(LoadedModels, request.app.state.models)


def _metrics(request: Request) -> Metrics:
    return cast(Metrics, request.app.state.metrics)


AppDatabase = Annotated[Database, Depends(_database)]
AppMetrics = Annotated[Metrics, Depends(_metrics)]
AppSettings = Annotated[Settings, Depends(_settings)]
Files = Annotated[Artifacts, Depends(_artifacts)]
Models = Annotated[LoadedModels, Depends(_models)]


async def _read_session(database: AppDatabase) -> AsyncIterator[AsyncSession]:
    async with database.reading() as session:
        yield session


async def _write_session(database: AppDatabase) -> AsyncIterator[AsyncSession]:
    async with database.writing() as session:
        yield session


# Scope "function": the session ends, and commits, before the answer is sent. A commit that fails is an error answer.
ReadSession = Annotated[AsyncSession, Depends(_read_session, scope="function")]
WriteSession = Annotated[AsyncSession, Depends(_write_session, scope="function")]
