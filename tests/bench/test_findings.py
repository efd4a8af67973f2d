"""A figure reaches its goal, its floor, or neither."""

import pytest

from bench.findings import Finding


@pytest.mark.parametrize(
    ("value", "verdict"), [(14.9, "below"), (15, "floor met"), (23.9, "floor met"), (24, "goal met")]
)
def test_a_speed_should_be_large(value, verdict):
    assert Finding("speed", value, floor=15, goal=24).verdict == verdict


@pytest.mark.parametrize(("value", "verdict"), [(2.9, "below"), (2.8, "floor met"), (2.3, "goal met"), (1, "goal met")])
def test_a_share_of_time_should_be_small(value, verdict):
    assert Finding("time", value, floor=2.8, goal=2.3, at_most=True).verdict == verdict
