import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise

import pytest

from core.drawing.chart import HEIGHT, LEFT, RIGHT, TOP, WIDTH
from core.drawing.trees_curve import TreesCurve, trees_curve_svg
from tests.core.drawing.test_curve import SVG, classes, texts

CURVE = TreesCurve([(n, 0.1 + 0.2 / n) for n in range(1, 101)], 0.104, "share answered wrongly", ["a<b>&c"])


def drawn(curve=CURVE):
    return ElementTree.fromstring(trees_curve_svg(curve))


def test_axes_and_lines_are_named():
    picture = drawn()
    wanted = {"Error by number of trees", "trees", "share answered wrongly", "0.00", "0.30", "0", "100"}
    assert wanted <= set(texts(picture))
    assert {"out of the bag (0.102 with all trees)", "test rows, all trees (0.104)"} <= set(texts(picture))
    assert picture.findtext(f"{SVG}title") == "Error by number of trees, a<b>&c"
    assert sum("ring" in name for name in classes(picture, "circle")) == 1


def test_without_test_rows_there_is_one_line():
    lines = [name for name in classes(drawn(replace(CURVE, test=None)), "path") if name.startswith("line")]
    assert lines == ["line out-of-bag"] * 2  # in the chart, and in the legend


def test_trees_are_as_far_apart_as_they_are_many_and_errors_fall_as_they_do():
    picture = drawn()
    (path,) = [one for one in picture.iter(f"{SVG}path") if one.get("class") == "line out-of-bag"][:1]
    places = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path.get("d", ""))]
    assert len(places) == 100
    steps = [b[0] - a[0] for a, b in pairwise(places)]
    assert max(steps) - min(steps) < 0.2
    heights = [y for _, y in places]
    assert heights == sorted(heights)  # downwards
    assert all(LEFT <= x <= WIDTH - RIGHT and TOP <= y <= HEIGHT for x, y in places)


@pytest.mark.parametrize("error", [0.0, 0.25, 1e-9, 3e8])
def test_a_single_tree_is_a_picture_too(error):
    picture = drawn(TreesCurve([(1, error)], error, "mean squared error", ["x", "y"]))
    assert "1" in texts(picture)
    assert picture.findtext(f"{SVG}title") == "Error by number of trees, x, y"
