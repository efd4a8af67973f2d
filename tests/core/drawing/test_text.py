from core.drawing.text import tree_text
from tests.core.building import cart, id3, model_of, samples_of
from tests.core.stored_models import classification_model, regression_model
from tests.golden_tables import golden_samples


def test_the_tree_of_watermelon_3_0_as_text():
    model = model_of(golden_samples("watermelon_3.0"), id3(), target="好瓜")
    assert tree_text(model, 0) == (
        "纹理 = 清晰\n"
        "|   密度 <= 0.3815: 否 (否 2)\n"
        "|   密度 > 0.3815: 是 (是 7)\n"
        "纹理 = 稍糊\n"
        "|   触感 = 硬滑: 否 (否 4)\n"
        "|   触感 = 软粘: 是 (是 1)\n"
        "纹理 = 模糊: 否 (否 3)\n"
    )


def test_a_cut_tree_as_text():
    assert tree_text(classification_model(), 5) == (
        "脐部 = 凹陷: 是 (是 3, 否 1)\n"
        "脐部 = 稍凹\n"
        "|   根蒂 = 蜷缩: 否 (否 1)\n"
        "|   根蒂 = 稍蜷\n"
        "|   |   色泽 = 青绿: 是 (是 1)\n"
        "|   |   色泽 = 乌黑: 是 (是 1, 否 1)\n"
        "|   |   色泽 = 浅白: 是 (no sample)\n"
        "|   根蒂 = 硬挺: 是 (no sample)\n"
        "脐部 = 平坦: 否 (否 2)\n"
    )


def test_means_and_weights_as_text():
    assert tree_text(regression_model(), 0).splitlines()[:3] == [
        "size <= 3.5",
        "|   colour in {red, green}: 4 (n 4)",
        "|   colour = blue: 8 (n 4)",
    ]


def test_a_single_leaf_as_text():
    assert tree_text(model_of(samples_of({"a": [1, 1, 1]}, ["p", "q", "q"]), cart()), 0) == "q (p 1, q 2)\n"


def test_fractional_weights_have_two_decimals():
    model = model_of(golden_samples("watermelon_2.0a"), id3(max_depth=1))
    assert tree_text(model, 0).splitlines()[0] == "纹理 = 清晰: 是 (是 6.47, 否 1.47)"
