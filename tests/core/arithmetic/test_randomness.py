import numpy as np

from core.arithmetic.randomness import key_of, path_key, root_key, shuffled, splitmix64, stream, uniform

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


def test_splitmix64_is_the_published_one():
    # The first outputs of the published generator seeded with 0: its state grows by the golden gamma each time.
    gamma = 0x9E3779B97F4A7C15
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [splitmix64(step * gamma % 2**64) for step in range(3)] == published


def test_keys_differ_by_seed_path_and_order():
    root = root_key(0)
    keys = [root, root_key(1), path_key(root, 0), path_key(root, 1)]
    keys += [path_key(path_key(root, 0), 1), path_key(path_key(root, 1), 0), key_of(key_of(root, 1), 0)]
    assert len(set(keys)) == len(keys) - 1  # the last two name the same thing
    assert all(0 <= key < 2**64 for key in keys)


def test_uniform_numbers_lie_strictly_between_0_and_1():
    numbers = [uniform(key_of(9, draw)) for draw in range(4_000)]
    assert 0 < min(numbers) < 0.01
    assert 0.99 < max(numbers) < 1
    assert abs(sum(numbers) / 4_000 - 0.5) < 0.02
