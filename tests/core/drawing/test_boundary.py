"""Pictures of what a tree answers by two numbers."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from core.drawing.boundary import MOST_POINTS, boundary_svg, drawn_range
from core.drawing.regions import Plane
from tests.core.building import cart, cart_for_numbers, model_of, samples_of

SVG = "{http://www.w3.org/2000/svg}"


def picture(samples, algorithm, target="y"):
    model = model_of(samples, algorithm, target=target)
    ranges = [drawn_range(model.ranges[column]) for column in (0, 1)]
    plane = Plane((0, 1), *zip(*ranges, strict=True), [np.nan] * len(model.attributes))
    return ElementTree.fromstring(boundary_svg(model, 0, plane, samples))


def test_classes_have_colours_regions_points_and_names():
    drawn = picture(samples_of({"a <b>": [1, 2, 3, 4], "c": [1, 1, 2, 2]}, ["p", "p", "q", "q"]), cart(), "好 & bad")
    polygons, circles = drawn.findall(f"{SVG}polygon"), drawn.findall(f"{SVG}circle")
    assert len(polygons) == 2
    assert len({polygon.get("fill") for polygon in polygons}) == 2
    assert [circle.get("fill") for circle in circles].count(polygons[0].get("fill")) == 2
    words = [text.text for text in drawn.findall(f"{SVG}text")]
    assert {"p", "q", "a <b>", "c", "好 & bad by a <b> and c"} <= set(words)


def test_numbers_have_a_scale():
    drawn = picture(samples_of({"a": [1, 2, 3, 4], "b": [1, 1, 1, 1]}, [0.0, 0.0, 5.0, 12.5]), cart_for_numbers())
    fills = [polygon.get("fill") for polygon in drawn.findall(f"{SVG}polygon")]
    assert len(set(fills)) == 3
    words = [text.text for text in drawn.findall(f"{SVG}text")]
    assert {"0", "12.5"} <= set(words)


def test_of_many_rows_some_are_drawn_and_those_with_holes_are_not():
    n = 2 * MOST_POINTS
    columns = {"a": [*range(n - 1), None], "b": list(range(n))}
    assert len(picture(samples_of(columns, ["p", "q"] * MOST_POINTS), cart(max_depth=1)).findall(f"{SVG}circle")) == (
        MOST_POINTS
    )
    few = picture(samples_of({"a": [1, 2, None], "b": [1, None, 1]}, ["p", "q", "p"]), cart())
    assert len(few.findall(f"{SVG}circle")) == 1


@pytest.mark.parametrize("known", [(0.0, 0.0), (5.0, 5.0), (-1e308, 1e308), (1.0, 2.0)])
def test_there_is_room_around_whatever_the_values_are(known):
    low, high = drawn_range(known)
    assert np.isfinite(high - low)
    assert low < high
