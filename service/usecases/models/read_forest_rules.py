"""Read a committee as rules: the strongest ones that its trees found, judged by out-of-bag rows."""

import numpy as np

from core.config.as_json import from_json
from core.config.options import Committee
from core.ensembles.insight.importance import out_of_bags
from core.ensembles.insight.rules import ForestRule, strongest_rules
from core.training.preparation import Prepared
from core.training.train import training_samples
from service.errors import InvalidParameter
from service.serving.loaded_models import LoadedForest
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from service.usecases.models.read_model import with_data

MOST_RULES = 200
MOST_WORK = 300_000_000  # leaves of all trees times training rows; some seconds of work


async def read_strongest(database: Database, artifacts: Artifacts, loaded: LoadedForest) -> list[ForestRule]:
    """The strongest rules of a committee, at most MOST_RULES of them; computed once, then cached."""
    if loaded.strongest is None:
        loaded.strongest = await with_data(database, artifacts, loaded, lambda prepared: found_in(loaded, prepared))
    return loaded.strongest


def found_in(loaded: LoadedForest, prepared: Prepared) -> list[ForestRule]:
    """The strongest rules, given the rows; InvalidParameter if that is too much work, or no row is out of bag."""
    config, forest = from_json(loaded.record.configuration), loaded.model.forest
    committee, n_rows = config.ensemble, len(prepared.train)
    assert isinstance(committee, Committee)
    n_leaves = int(np.count_nonzero(forest.columns["size"] == 1))
    if n_leaves * n_rows > MOST_WORK:
        detail = f"{n_leaves} leaves with {n_rows} training rows are too many to look for rules that trees share"
        raise InvalidParameter("index", detail, hint="show the rules of one tree: index=0")
    unseen = out_of_bags(committee, n_rows, seed=config.seed)
    if not unseen.any():
        detail = "every tree is grown from all rows, so that none is left to judge shared rules by"
        raise InvalidParameter("index", detail, hint='show the rules of one tree: index=0; or train with "bootstrap"')
    return strongest_rules(forest, training_samples(prepared, config), unseen, most=MOST_RULES)
