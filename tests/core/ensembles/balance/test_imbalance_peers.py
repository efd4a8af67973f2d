"""Beside imbalanced-learn: as many rows of each class, and new rows in the same places."""

import numpy as np
import pytest
from imblearn.over_sampling import SMOTE, SMOTENC, RandomOverSampler
from imblearn.under_sampling import ClusterCentroids, RandomUnderSampler
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from core.config.options import ClusterUndersample, Oversample, Smote, Undersample
from core.ensembles.balance.imbalance import balanced
from core.ensembles.balance.synthetic import near_rows
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget

pytestmark = pytest.mark.slow

SIZES = {0: 120, 1: 40, 2: 13}


@pytest.fixture(scope="module")
def numbers():
    """Three classes of very different size, each a cloud of its own."""
    chance = np.random.default_rng(7)
    positions = np.repeat([0.0, 4.0, 9.0], list(SIZES.values()))[:, None]
    return chance.normal(size=(sum(SIZES.values()), 3)) + positions


CODES = np.repeat(list(SIZES), list(SIZES.values())).astype(np.int32)


def samples_from(numbers, n_categories=0):
    """The columns as numbers; the last one as categories, if told."""
    kinds = [Attribute(f"x{column}", Kind.NUMERIC) for column in range(numbers.shape[1])]
    columns = [np.ascontiguousarray(values) for values in numbers.T]
    if n_categories:
        kinds[-1] = Attribute("c", Kind.CATEGORICAL, tuple(map(str, range(n_categories))))
        columns[-1] = columns[-1].astype(np.int32)
    return Samples(
        Table(Schema(tuple(kinds)), tuple(columns)), ClassTarget(("a", "b", "c"), CODES), np.ones(len(CODES))
    )


def ours(samples, imbalance):
    """The numbers and classes of all rows, new ones last."""
    counts, made = balanced(samples, np.ones(len(samples), dtype=np.int64), imbalance, seed=0, tree=0)
    rows = np.repeat(np.arange(len(samples)), counts)
    tables = [samples.attributes.take(rows)] + ([] if made is None else [made.attributes])
    codes = [samples.target.codes[rows]] + ([] if made is None else [made.target.codes])
    return np.concatenate([np.stack(table.columns, axis=1) for table in tables]), np.concatenate(codes)


@pytest.mark.parametrize(
    ("imbalance", "peer"),
    [
        (Undersample(), RandomUnderSampler(random_state=0)),
        (ClusterUndersample(), ClusterCentroids(random_state=0, voting="hard")),
        (Oversample(), RandomOverSampler(random_state=0)),
        (Smote(), SMOTE(random_state=0)),
    ],
)
def test_as_many_rows_of_each_class(numbers, imbalance, peer):
    _, found = ours(samples_from(numbers), imbalance)
    _, wanted = peer.fit_resample(numbers, CODES)
    assert np.bincount(found).tolist() == np.bincount(wanted).tolist()


@pytest.mark.parametrize(("imbalance", "ratio"), [(Undersample(2), 26), (Oversample(0.5), 60), (Smote(0.5), 60)])
def test_as_many_rows_by_ratio(numbers, imbalance, ratio):
    wanted = {code: min(n, ratio) if isinstance(imbalance, Undersample) else max(n, ratio) for code, n in SIZES.items()}
    kinds = {Undersample: RandomUnderSampler, Oversample: RandomOverSampler, Smote: SMOTE}
    _, peer = kinds[type(imbalance)](random_state=0, sampling_strategy=wanted).fit_resample(numbers, CODES)
    _, found = ours(samples_from(numbers), imbalance)
    assert np.bincount(found).tolist() == np.bincount(peer).tolist()


def is_on_a_way_to_a_neighbour(row, own, n_neighbours=5):
    """Whether a new row lies between a row of its class and one of that row's nearest."""
    near = NearestNeighbors(n_neighbors=n_neighbours + 1).fit(own).kneighbors(own, return_distance=False)[:, 1:]
    for base, of_base in zip(own, near, strict=True):
        ways = own[of_base] - base
        along = ((row - base) * ways).sum(axis=1) / (ways**2).sum(axis=1)
        off = np.abs(base + along[:, None] * ways - row).max(axis=1)
        if ((off < 1e-9) & (along >= -1e-9) & (along <= 1 + 1e-9)).any():
            return True
    return False


def test_smote_makes_rows_on_the_ways_that_imbalanced_learn_takes(numbers):
    own = numbers[CODES == 2]
    theirs, _ = SMOTE(random_state=0, sampling_strategy={2: 113}).fit_resample(numbers, CODES)
    mine, codes = ours(samples_from(numbers), Smote())
    assert all(is_on_a_way_to_a_neighbour(row, own) for row in theirs[len(CODES) :])  # the check is right
    assert all(is_on_a_way_to_a_neighbour(row, own) for row in mine[len(CODES) :][codes[len(CODES) :] == 2])


def test_rows_of_smote_are_spread_as_those_of_imbalanced_learn(numbers):
    theirs, of_theirs = SMOTE(random_state=0, sampling_strategy={1: 1040}).fit_resample(numbers, CODES)
    many = np.concatenate([numbers, np.random.default_rng(0).normal(size=(920, 3))])
    codes = np.concatenate([CODES, np.zeros(920, dtype=np.int32)])
    samples = samples_from(numbers)
    samples = Samples(
        Table(samples.attributes.schema, tuple(np.ascontiguousarray(v) for v in many.T)),
        ClassTarget(("a", "b", "c"), codes),
        np.ones(len(codes)),
    )
    mine, of_mine = ours(samples, Smote())
    assert mine[of_mine == 1].mean(axis=0) == pytest.approx(theirs[of_theirs == 1].mean(axis=0), abs=0.1)
    assert mine[of_mine == 1].std(axis=0) == pytest.approx(theirs[of_theirs == 1].std(axis=0), rel=0.1)


def test_neighbours_are_those_of_scikit_learn(numbers):
    table = samples_from(numbers).attributes
    wanted = NearestNeighbors(n_neighbors=6).fit(numbers).kneighbors(numbers, return_distance=False)[:, 1:]
    assert near_rows(table, 5, kernels=False).tolist() == wanted.tolist()


def test_smote_nc_takes_categories_as_often_as_imbalanced_learn(numbers):
    mixed = numbers.copy()
    mixed[:, 2] = np.where(numbers[:, 0] - 4 * (CODES == 1) - 9 * (CODES == 2) > 0, 1, 0)  # goes with the first column
    theirs, of_theirs = SMOTENC([2], random_state=0).fit_resample(mixed, CODES)
    mine, of_mine = ours(samples_from(mixed, n_categories=2), Smote())
    for code in (1, 2):
        shares = [rows[len(CODES) :][of[len(CODES) :] == code][:, 2].mean() for rows, of in
                  ((theirs, of_theirs), (mine, of_mine))]  # fmt: skip
        assert shares[0] == pytest.approx(shares[1], abs=0.12)
        assert set(mine[of_mine == code][:, 2].tolist()) == {0.0, 1.0}


def test_clusters_are_as_tight_as_those_of_imbalanced_learn(numbers):
    """How far rows are from the nearest of those kept; on columns of equal spread, which we scale and they do not."""
    own = numbers[CODES == 0]
    own = own / own.std(axis=0)
    scaled = numbers.copy()
    scaled[CODES == 0] = own
    peer = ClusterCentroids(estimator=KMeans(n_clusters=13, n_init=1, random_state=0), voting="hard")
    theirs, of_theirs = peer.fit_resample(scaled, CODES)
    mine, of_mine = ours(samples_from(scaled), ClusterUndersample())
    drawn, of_drawn = ours(samples_from(scaled), Undersample())
    tightness = [
        np.linalg.norm(own[:, None] - kept[of == 0][None], axis=2).min(axis=1).mean()
        for kept, of in ((mine, of_mine), (theirs, of_theirs), (drawn, of_drawn))
    ]
    assert tightness[0] == pytest.approx(tightness[1], rel=0.1)
    assert tightness[0] < tightness[2]
