from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given

from core.drawing.svg import tree_svg
from tests.core.building import cart, id3, model_of, samples_of
from tests.core.stored_models import classification_model, regression_model, several_numbers_model
from tests.core.strategies import trainings
from tests.examples import examples
from tests.golden_tables import golden_samples

SVG = "{http://www.w3.org/2000/svg}"


def boxes(root, kind):
    """(left, top, right, bottom) of the boxes of a kind."""
    found = []
    for shape in root.iter(f"{SVG}rect"):
        if shape.get("class") == kind:
            x, y, width, height = (float(shape.get(name)) for name in ("x", "y", "width", "height"))
            found.append((x, y, x + width, y + height))
    return found


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def words(root, kind):
    return [text.text or "" for text in root.iter(f"{SVG}text") if text.get("class") == kind]


def assert_well_drawn(model, step):
    root, view = ElementTree.fromstring(tree_svg(model, step)), model.view(step)
    leaves, inner = boxes(root, "leaf"), boxes(root, "inner")
    assert len(leaves) == len(view.leaves)
    assert len(inner) == len(view.nodes) - len(view.leaves)
    assert len(words(root, "title")) == len(words(root, "counts")) == len(view.nodes)
    assert len(words(root, "branch")) == len(view.nodes) - 1
    assert len(list(root.iter(f"{SVG}path"))) == len(view.nodes) - 1
    assert not any(overlap(one, other) for one, other in combinations(leaves, 2))
    _, _, width, height = (float(number) for number in root.get("viewBox").split())
    for left, top, right, bottom in [*leaves, *inner]:
        assert left >= 0
        assert top >= 0
        assert right <= width + 1
        assert bottom <= height + 1
    return root


@pytest.mark.parametrize("make", [classification_model, regression_model, several_numbers_model])
def test_every_node_left_is_drawn_once(make):
    model = make()
    for step in range(model.history.selected + 1):
        assert_well_drawn(model, step)


@examples(40)
@given(trainings())
def test_any_tree_is_well_drawn(training):
    assert_well_drawn(model_of(*training), 0)


def test_a_golden_tree_has_its_words():
    root = assert_well_drawn(model_of(golden_samples("watermelon_3.0"), id3(), target="好瓜"), 0)
    assert root.find(f"{SVG}title").text == "Decision tree for 好瓜"
    assert words(root, "title") == ["纹理?", "密度?", "否", "是", "触感?", "否", "是", "否"]
    assert words(root, "branch") == ["= 清晰", "<= 0.3815", "> 0.3815", "= 稍糊", "= 硬滑", "= 软粘", "= 模糊"]
    assert words(root, "counts")[0] == "是 8, 否 9"


def test_markup_in_names_is_text_in_the_picture():
    samples = samples_of({"<a&\"'>": ["<script>", "&amp;", '"q"']}, ["<p>", "&", '"'])
    root = assert_well_drawn(model_of(samples, id3(), target="</title><b>"), 0)
    assert root.find(f"{SVG}title").text == "Decision tree for </title><b>"
    assert words(root, "title") == ["<a&\"'>?", "<p>", "&", '"']
    assert words(root, "branch") == ["= <script>", "= &amp;", '= "q"']


def test_characters_that_xml_cannot_hold_are_replaced():
    samples = samples_of({"a\ufffe": ["x\x0b", "y\x01", "z\ud800"]}, ["p", "q", "r\x1b"])
    root = assert_well_drawn(model_of(samples, id3(), target="t\uffff"), 0)
    assert words(root, "branch") == ["= x\ufffd", "= y\ufffd", "= z\ufffd"]


def test_long_names_are_cut_and_a_leaf_alone_is_a_picture():
    samples = samples_of({"a" * 100: ["b" * 100, "c" * 100]}, ["d" * 100, "e" * 100])
    root = assert_well_drawn(model_of(samples, id3()), 0)
    assert all(len(text) <= 40 for text in words(root, "title"))
    assert_well_drawn(model_of(samples_of({"a": [1]}, ["p"]), cart()), 0)


def test_the_picture_needs_nothing_from_elsewhere():
    drawn = tree_svg(classification_model(), 0)
    assert "<script" not in drawn
    assert "href" not in drawn
    assert drawn.count("http") == 1  # the name of the format


def test_no_two_boxes_of_a_picture_overlap():
    columns = {"g": list("xxxxyyzz"), "a very long name of an attribute, really": [1, 2, 1, 2, 1, 2, 1, 2]}
    root = ElementTree.fromstring(tree_svg(model_of(samples_of(columns, list("pqpqrrst")), id3()), 0))
    assert not [pair for pair in combinations(boxes(root, "leaf") + boxes(root, "inner"), 2) if overlap(*pair)]
