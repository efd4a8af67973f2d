"""Which attributes a model relies on, measured by shuffling their values in the rows of its datasets."""

from enum import StrEnum

from core.config.as_json import from_json
from core.config.options import Committee
from core.ensembles.insight.importance import forest_falls_when_shuffled, out_of_bags
from core.evaluation.evaluate import as_trained
from core.evaluation.importance import Fall, falls_when_shuffled
from core.tables.parts import Part
from core.training.preparation import Prepared
from service.errors import InvalidParameter
from service.serving.loaded_models import LoadedForest, LoadedModel
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from service.usecases.models.read_model import samples_of_part, with_data


class AskedRows(StrEnum):
    """The rows on which permutation importance is measured."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"
    OUT_OF_BAG = "out_of_bag"


async def read_falls(
    database: Database,
    artifacts: Artifacts,
    loaded: LoadedModel | LoadedForest,
    step: int,
    asked: AskedRows,
    *,
    repeats: int,
    kernels: bool,
) -> list[Fall]:
    """For each attribute, how far the measure falls on some rows when the attribute's values are shuffled."""
    if asked is AskedRows.OUT_OF_BAG and isinstance(loaded, LoadedModel):
        detail = "a single tree is grown from all training rows: none is out of its bag"
        raise InvalidParameter("part", detail, hint="use test, validation or train")

    def compute(prepared: Prepared) -> list[Fall]:
        falls = falls_in(loaded, step, prepared, asked, repeats=repeats, kernels=kernels)
        if falls is None:
            where = "of the rows out of the bag" if asked is AskedRows.OUT_OF_BAG else f"in the {asked} part"
            detail = f"the target {where} does not vary, or there are none, so there is nothing to measure"
            raise InvalidParameter("part", detail, hint="use another part")
        return falls

    return await with_data(database, artifacts, loaded, compute)


def falls_in(
    loaded: LoadedModel | LoadedForest,
    step: int,
    prepared: Prepared,
    asked: AskedRows,
    *,
    repeats: int,
    kernels: bool,
) -> list[Fall] | None:
    """For each attribute, the fall of the measure, given the rows; None if there is nothing to measure."""
    config = from_json(loaded.record.configuration)
    if isinstance(loaded, LoadedModel):
        samples = samples_of_part(prepared, Part(asked))
        return falls_when_shuffled(loaded.model, step, samples, repeats=repeats, seed=config.seed, kernels=kernels)
    answering, part = None, Part.TRAIN
    if asked is AskedRows.OUT_OF_BAG:
        assert isinstance(config.ensemble, Committee)
        answering = out_of_bags(config.ensemble, len(prepared.train), seed=config.seed)
    else:
        part = Part(asked)
    samples = as_trained(loaded.model, samples_of_part(prepared, part))
    return forest_falls_when_shuffled(
        loaded.model.forest, samples, answering=answering, repeats=repeats, seed=config.seed, kernels=kernels
    )
