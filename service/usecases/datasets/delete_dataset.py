"""Delete a dataset, and its file once nothing uses it."""

from service.store import datasets
from service.store.artifacts import Artifacts
from service.store.transactions import Database


async def delete_dataset(database: Database, artifacts: Artifacts, dataset_id: str) -> None:
    """Take the dataset out of the listings, then remove the files that nothing needs any more.

    Two transactions: what the sweep leaves over when it is interrupted, the next sweep finds.
    """
    async with database.writing() as session:
        await datasets.delete(session, dataset_id)
    await datasets.sweep_files(database, artifacts)
