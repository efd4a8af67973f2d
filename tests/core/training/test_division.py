import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import RandomDivision
from core.tables.parts import Part
from core.training.division import divide_at_random, part_sizes

SHARES = st.sampled_from([(0.6, 0.2, 0.2), (0.5, 0.5, 0.0), (0.7, 0.0, 0.3), (1.0, 0.0, 0.0), (0.34, 0.33, 0.33)])


STORED_DIVISION = {
    Part.TRAIN: [1, 2, 4, 5, 6, 8],
    Part.VALIDATION: [0, 7],
    Part.TEST: [3, 9],
}


@given(SHARES, st.lists(st.integers(0, 4), max_size=60), st.integers(0, 2**63), st.booleans())
def test_every_row_is_in_exactly_one_part(shares, codes, seed, is_stratified):
    classes = np.array(codes, dtype=np.int32) if is_stratified else None
    parts = divide_at_random(RandomDivision(*shares), len(codes), classes, seed)
    assert list(parts) == list(Part)
    assert sorted(np.concatenate(list(parts.values())).tolist()) == list(range(len(codes)))
    for share, rows in zip(shares, parts.values(), strict=True):
        assert rows.tolist() == sorted(rows.tolist())
        assert share > 0 or len(rows) == 0


@given(SHARES, st.lists(st.integers(0, 2), min_size=1, max_size=60), st.integers(0, 1000))
def test_each_class_is_divided_in_proportion_or_stays_in_train(shares, codes, seed):
    classes = np.array(codes, dtype=np.int32)
    parts = divide_at_random(RandomDivision(*shares), len(codes), classes, seed)
    for code in set(codes):
        of_class = codes.count(code)
        counts = [int(np.count_nonzero(classes[parts[part]] == code)) for part in Part]
        if counts[0] == of_class:
            continue  # too small, or nothing to set aside
        assert all(count >= 1 for count, share in zip(counts, shares, strict=True) if share > 0)
        assert all(abs(count - share * of_class) < 1 for count, share in zip(counts, shares, strict=True))


@pytest.mark.parametrize(("n_rows", "is_divided"), [(1, False), (2, False), (3, False), (4, True), (5, True)])
def test_a_class_too_small_to_divide_stays_in_train(n_rows, is_divided):
    parts = divide_at_random(RandomDivision(), n_rows, np.zeros(n_rows, dtype=np.int32), 7)
    assert (len(parts[Part.TRAIN]) < n_rows) is is_divided


def test_the_same_seed_gives_the_same_division_and_another_one_another():
    classes = np.arange(100, dtype=np.int32) % 3
    first, again, other = (divide_at_random(RandomDivision(), 100, classes, seed) for seed in (3, 3, 4))
    assert all(np.array_equal(first[part], again[part]) for part in Part)
    assert not all(np.array_equal(first[part], other[part]) for part in Part)


def test_the_division_of_seed_0_never_changes():
    parts = divide_at_random(RandomDivision(), 10, None, 0)
    assert {part: rows.tolist() for part, rows in parts.items()} == STORED_DIVISION


@pytest.mark.parametrize(
    ("n_rows", "shares", "sizes"),
    [
        (10, (0.6, 0.2, 0.2), [6, 2, 2]),
        (5, (0.6, 0.2, 0.2), [3, 1, 1]),
        (4, (0.6, 0.2, 0.2), [2, 1, 1]),
        (3, (0.6, 0.2, 0.2), [2, 1, 0]),
        (0, (0.6, 0.2, 0.2), [0, 0, 0]),
        (30, (0.7, 0.1, 0.2), [21, 3, 6]),
        (7, (1.0, 0.0, 0.0), [7, 0, 0]),
    ],
)
def test_sizes_are_the_nearest_whole_numbers(n_rows, shares, sizes):
    assert part_sizes(n_rows, np.array(shares)).tolist() == sizes
