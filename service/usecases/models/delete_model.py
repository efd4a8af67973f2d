"""Delete a model, and the dataset files that only it still needed."""

from service.serving.loaded_models import LoadedModels
from service.store import datasets, models
from service.store.artifacts import Artifacts
from service.store.transactions import Database


async def delete_model(database: Database, artifacts: Artifacts, loaded_models: LoadedModels, ref: str) -> None:
    """Delete the model, then remove files that nothing needs; if that is interrupted, the next sweep does it."""
    async with database.writing() as session:
        record = await models.delete(session, ref)
    loaded_models.forget(record.id)
    await datasets.sweep_files(database, artifacts)
