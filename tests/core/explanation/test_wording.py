import pytest

from core.explanation.wording import amount_text, listed, percent_text, probability_text, rounded_text, spoken
from core.tables.schema import Attribute, Kind, Schema
from core.tables.suggestion import SHOWN_LENGTH
from core.tree.conditions import AtMost, Between, IsOneOf


@pytest.mark.parametrize(
    ("parts", "words"),
    [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcdefgh", "a, b, c, d, e and 3 more")],
)
def test_a_list_in_words(parts, words):
    assert listed(list(parts)) == words


@pytest.mark.parametrize(
    ("weight", "words"), [(0.0, "0"), (4.0, "4"), (6.5454, "6.55"), (0.004, "0.004"), (1e-7, "1e-07"), (2e6, "2000000")]
)
def test_a_weight_never_looks_like_nothing(weight, words):
    assert amount_text(weight) == words


@pytest.mark.parametrize(
    ("probability", "words"),
    [(0.0, "0"), (1.0, "1"), (0.598, "0.60"), (0.001, "less than 0.01"), (0.9999, "over 0.99"), (0.9949, "0.99")],
)
def test_only_certainty_is_0_or_1(probability, words):
    assert probability_text(probability) == words


@pytest.mark.parametrize(
    ("share", "words"), [(0.54545, "54.5 %"), (1.0, "100 %"), (1e-9, "less than 0.1 %"), (0.0, "0 %")]
)
def test_a_share_in_percent(share, words):
    assert percent_text(share) == words


@pytest.mark.parametrize(("number", "words"), [(123456.0, "123500"), (-0.041423, "-0.04142"), (3.0, "3")])
def test_numbers_have_four_digits(number, words):
    assert rounded_text(number) == words


def test_conditions_are_short_whatever_they_hold():
    many = Schema((Attribute("colour", Kind.CATEGORICAL, tuple(f"shade {i}" for i in range(1_000))),))
    told = spoken(IsOneOf(0, tuple(range(1_000))), many)
    assert told == "colour in {shade 0, shade 1, shade 2, shade 3, shade 4 and 995 more}"
    assert spoken(IsOneOf(0, (7,)), many) == "colour = shade 7"
    assert spoken(Between(0, 1.0, 2.5), Schema((Attribute("x", Kind.NUMERIC),))) == "1 < x <= 2.5"
    assert len(spoken(AtMost(0, 1.0), Schema((Attribute("x" * 5_000, Kind.NUMERIC),)))) == SHOWN_LENGTH + 1
