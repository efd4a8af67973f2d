import numpy as np

from core.randomness import shuffled, stream

STORED_BITS = [12857819347629845928, 3435373481670335573, 10940126766874034527]
STORED_ORDER = [0, 4, 6, 1, 3, 7, 2, 5]


def test_the_stream_of_a_seed_never_changes():
    assert stream(0, "division").random_raw(3).tolist() == STORED_BITS
    assert shuffled(np.arange(8), stream(1, "division")).tolist() == STORED_ORDER


def test_purposes_do_not_share_bits():
    assert stream(0, "division").random_raw(3).tolist() != stream(0, "folds").random_raw(3).tolist()


def test_shuffling_keeps_every_row():
    assert sorted(shuffled(np.array([5, 7, 7, 9]), stream(2, "division")).tolist()) == [5, 7, 7, 9]
    assert shuffled(np.empty(0, dtype=np.int64), stream(2, "division")).tolist() == []
