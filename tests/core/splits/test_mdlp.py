import math

import numpy as np
import pytest

from core.splits.mdlp import is_worth_telling, mdlp_cuts


def cuts_of(values, classes, weight=1.0):
    return mdlp_cuts(np.array(values, dtype=float), np.eye(max(classes) + 1)[classes] * weight)


def test_a_clean_cut_between_two_classes_is_found():
    # N = 10, k = 2: gain 1 against (log2 9 + log2 7 - 2) / 10 = 0.398.
    assert cuts_of(range(10), [0] * 5 + [1] * 5) == (4.5,)


def test_two_rows_are_too_few_to_tell():
    # gain 1 against (log2 1 + log2 7 - 2) / 2 = 0.404: accepted; with three mixed classes in a row it is not.
    assert cuts_of([1, 2], [0, 1]) == (1.5,)
    assert cuts_of([1, 2, 3, 4], [0, 1, 0, 1]) == ()


def test_both_sides_are_looked_at_again_and_cuts_ascend():
    assert cuts_of(range(30), [0] * 10 + [1] * 10 + [2] * 10) == (9.5, 19.5)


def test_more_evidence_for_the_same_shares_makes_a_cut_worth_telling():
    values, classes = [1, 1, 1, 2, 2, 2], [0, 0, 1, 1, 1, 0]
    assert cuts_of(values, classes) == ()
    assert cuts_of(values, classes, weight=100.0) == (1.5,)


def test_a_weight_of_at_most_one_is_never_cut():
    assert cuts_of([1, 2], [0, 1], weight=0.5) == ()


@pytest.mark.parametrize("sides", [[[5, 1], [2, 6]], [[9, 0, 3], [1, 7, 2]], [[40, 2], [1, 50]]])
def test_the_limit_is_as_published(sides):
    left, right = (np.array(side, dtype=float) for side in sides)

    def ent(weights):
        return -sum(w / sum(weights) * math.log2(w / sum(weights)) for w in weights if w)

    whole, n = left + right, float((left + right).sum())
    k, k1, k2 = ((weights > 0).sum() for weights in (whole, left, right))
    gain = ent(whole) - left.sum() / n * ent(left) - right.sum() / n * ent(right)
    delta = math.log2(3 ** int(k) - 2) - (k * ent(whole) - k1 * ent(left) - k2 * ent(right))
    assert is_worth_telling(np.stack([left, right])) is bool(gain > math.log2(n - 1) / n + delta / n)
