import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from core.drawing.chart import HEIGHT, WIDTH
from core.drawing.curve import curve_svg
from core.evaluation.curve import CurvePoint, curve
from core.tables.parts import Part
from core.tree.history import CrossValidation
from tests.core.building import CUT, cart, cart_for_numbers, model_of, samples_of

SVG = "{http://www.w3.org/2000/svg}"


def noise(n_rows, seed=0):
    chance = np.random.default_rng(seed)
    columns = {name: chance.random(n_rows).tolist() for name in "ab"}
    return samples_of(columns, [str(label) for label in chance.integers(2, size=n_rows)])


@pytest.fixture(scope="module")
def pruned():
    train, aside = noise(200), noise(100, seed=1)
    model = model_of(train, cart(), validation=aside, pruning=CUT, target="a<b>&c")
    table = CrossValidation(
        alpha=np.array([0.0, 0.1]),
        step=np.array([0, model.history.selected]),
        leaves=np.array([model.history.leaves_by_step[0], model.history.leaves_by_step[-1]]),
        error=np.array([0.5, 0.4]),
        standard_error=np.array([0.2, 0.1]),
        n_folds=2,
    )
    judged = replace(model, history=replace(model.history, cross_validation=table))
    return judged, curve(judged, {Part.TRAIN: train, Part.VALIDATION: aside, Part.TEST: None})


def classes(picture, tag):
    return [element.get("class", "") for element in picture.iter(f"{SVG}{tag}")]


def texts(picture):
    return ["".join(element.itertext()) for element in picture.iter(f"{SVG}text")]


def test_a_line_for_each_part_that_has_rows_with_a_legend(pruned):
    model, points = pruned
    picture = ElementTree.fromstring(curve_svg(model, points, model.history.selected))
    lines = [name for name in classes(picture, "path") if name.startswith("line")]
    # Once in the chart and once in the legend.
    assert sorted(lines) == sorted(2 * ["line train", "line validation", "line left-out"])
    assert {"train", "validation", "cross-validation ± standard error", "leaves", "share answered wrongly"} <= set(
        texts(picture)
    )
    assert "test" not in texts(picture)
    assert picture.findtext(f"{SVG}title") == "Error by size of the tree, a<b>&c"
    assert classes(picture, "path").count("left-out band") == 1


def test_the_step_is_marked_on_every_line(pruned):
    model, points = pruned
    for point in (points[0], points[3], points[-1]):
        picture = ElementTree.fromstring(curve_svg(model, points, point.step))
        words = "leaf" if point.leaves == 1 else "leaves"
        assert f"step {point.step}: {point.leaves} {words}" in texts(picture)
        rings = [name for name in classes(picture, "circle") if "ring" in name]
        n_lines = 2 + (point.cross_validation is not None)
        assert len(rings) == n_lines


def test_nothing_is_drawn_outside_and_nothing_is_run_or_fetched(pruned):
    model, points = pruned
    drawn = curve_svg(model, points, model.history.selected)
    picture = ElementTree.fromstring(drawn)
    for path in picture.iter(f"{SVG}path"):
        if "line" in path.get("class", "") or "band" in path.get("class", ""):
            for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path.get("d", "")):
                assert 0 <= float(x) <= WIDTH
                assert 0 <= float(y) <= HEIGHT
    assert {element.tag.removeprefix(SVG) for element in picture.iter()} == {
        "svg", "title", "style", "rect", "path", "circle", "text",
    }  # fmt: skip
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")
    assert "prefers-color-scheme:dark" in drawn


@pytest.mark.parametrize("error", [0.0, 0.25, 1e-9, 3e8])
def test_a_single_point_is_a_picture_too(error):
    samples = samples_of({"a": [1, 2]}, [0.0, 1.0])
    point = CurvePoint(0, 2, None, {Part.TRAIN: error, Part.VALIDATION: None, Part.TEST: None}, None, None)
    picture = ElementTree.fromstring(curve_svg(model_of(samples, cart_for_numbers()), [point], 0))
    assert "mean squared error" in texts(picture)
    assert "train" in texts(picture)
