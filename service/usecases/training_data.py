"""The rows a model was, or is to be, trained, validated and tested on."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from core.config import DatasetsDivision, TrainingConfig, from_json
from core.division import Part
from core.preparation import Prepared, prepare
from service.store import datasets
from service.store.artifacts import Artifacts

Digests = Mapping[str, str]


async def digests_of(session: AsyncSession, dataset_id: str, configuration: Mapping[str, Any]) -> Digests:
    """The files that hold the rows, by part; also those of datasets deleted since."""
    division = from_json(configuration).division
    ids = {Part.TRAIN: dataset_id}
    if isinstance(division, DatasetsDivision):
        others = {Part.VALIDATION: division.validation, Part.TEST: division.test}
        ids |= {part: other for part, other in others.items() if other is not None}
    return {part: (await datasets.get_even_if_deleted(session, other)).digest for part, other in ids.items()}


def prepared_data(artifacts: Artifacts, digests: Digests, config: TrainingConfig) -> Prepared:
    """Read the files and divide their rows as the configuration says; slow, so not for the event loop."""
    tables = {Part(part): artifacts.read(digest) for part, digest in digests.items()}
    return prepare(tables.pop(Part.TRAIN), config, tables)
