"""Delete a dataset, and its file once nothing uses it."""

from service.store import datasets
from service.store.artifacts import Artifacts
from service.store.transactions import Database


async def delete_dataset(database: Database, artifacts: Artifacts, dataset_id: str) -> None:
    """Mark the dataset as deleted, then remove the files that nothing needs any more.

    These are two transactions: if the sweep is interrupted, the next one finds what is left.
    """
    async with database.writing() as session:
        await datasets.delete(session, dataset_id)
    await datasets.sweep_files(database, artifacts)
