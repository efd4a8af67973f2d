import re

from hypothesis import given
from hypothesis import strategies as st

from core.rules.extraction import path_rules
from core.rules.markdown import escaped, rules_markdown
from core.tables.target import Task
from tests.core.building import cart_for_numbers, id3, model_of, samples_of
from tests.core.rules.wild_models import wild_model
from tests.examples import examples


def test_a_row_for_each_rule_with_its_figures():
    model = model_of(samples_of({"纹理": list("清清清模")}, list("好好坏坏")), id3())
    rules = path_rules(model.view(0), model.attributes)
    assert rules_markdown(model, rules, None).splitlines() == [
        "| rule | support | confidence | 95 % | lift |",
        "| --- | --- | --- | --- | --- |",
        "| if 纹理 = 清 then 好 | 0.75 | 0.6667 | 0.0943 to 0.9916 | 1.333 |",
        "| if 纹理 = 模 then 坏 | 0.25 | 1 | 0.025 to 1 | 2 |",
    ]
    assert rules_markdown(model, rules[:1], 1).splitlines()[-1] == "| otherwise 坏 |  |  |  |  |"


def test_rules_of_several_numbers():
    model = model_of(
        samples_of({"a": [1, 2, 8]}, [[1, 5], [2, 5], [9, 0]]), cart_for_numbers(max_depth=1), target=("y", "z|")
    )
    assert rules_markdown(model, path_rules(model.view(0), model.attributes), None).splitlines() == [
        "| rule | support | 95 % | spread |",
        "| --- | --- | --- | --- |",
        "| if a <= 5 then y = 1.5, z\\| = 5 | 0.6667 | y = -4.853 to 7.853, z\\| = 5 to 5 | y = 0.5, z\\| = 0 |",
        "| if a > 5 then y = 9, z\\| = 0 | 0.3333 |  | y = 0, z\\| = 0 |",
    ]


@examples(60)
@given(st.integers(0, 2**32))
def test_names_stay_in_their_cells(seed):
    model, view, _ = wild_model(seed)
    if model.task is not Task.CLASSIFICATION:
        return
    rules = path_rules(view, model.attributes)
    lines = rules_markdown(model, rules, 0).splitlines()
    assert len(lines) == len(rules) + 3
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines} == {6}


@given(st.text())
def test_nothing_special_is_left(text):
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>|~&$]", escaped(text))
    assert len(escaped(text).splitlines()) <= 1
