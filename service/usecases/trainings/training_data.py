"""The rows a model was, or is to be, trained, validated and tested on."""

from collections.abc import Mapping

from core.config.options import TrainingConfig
from core.tables.parts import Part
from core.training.preparation import Prepared, prepare
from service.store.artifacts import Artifacts

Digests = Mapping[str, str]


def prepared_data(artifacts: Artifacts, digests: Digests, config: TrainingConfig) -> Prepared:
    """Read the files and divide their rows as the configuration says; slow, so not for the event loop.

    `digests` name the files by part. A separate file for validation or test replaces that part of the division.
    """
    tables = {Part(part): artifacts.read(digest) for part, digest in digests.items()}
    return prepare(tables.pop(Part.TRAIN), config, tables)
