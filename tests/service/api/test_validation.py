from typing import Annotated, Literal

import pytest
from pydantic import Field
from typing_extensions import TypeAliasType

from service.api.problems import pointer
from service.api.schemas.common import Body, Flag, Number, OneOf, WholeNumber
from service.api.validation import validated
from service.errors import InvalidBody


class Forest(Body):
    kind: Literal["forest"]
    n_trees: WholeNumber = Field(default=100, ge=1)


class Twig(Body):
    kind: Literal["twig"]
    length: Number


class Tree(Body):
    kind: Literal["tree"]
    depth: Annotated[Number, Field(gt=0, le=0.5)] | None = None
    leaves: Annotated[list[str] | None, Field(min_length=1, max_length=2)] = None
    tidy: Flag = True
    inner: Annotated[Forest | Twig | None, Field(discriminator="kind")] = None


Plan = TypeAliasType("Plan", Annotated[Forest | Tree, Field(discriminator="kind")])
Step = TypeAliasType("Step", Annotated[WholeNumber | str | list[str], OneOf()])


class Order(Body):
    plans: list[Plan] = []
    named: dict[str, Plan] = {}
    step: Step = 0
    colour: Literal["green", "black"] = "green"
    shape: Annotated[str | None, Field(alias="as")] = None


def faults(value: object) -> list[tuple[str, str, str | None]]:
    with pytest.raises(InvalidBody) as caught:
        validated(Order, value)
    return [(pointer(fault.path), fault.detail, fault.hint) for fault in caught.value.faults]


def test_a_fitting_body_passes():
    order = validated(Order, {"plans": [{"kind": "forest", "n_trees": 3}], "step": ["a"], "as": "oval"})
    assert order.plans[0].n_trees == 3
    assert order.shape == "oval"


def test_pointers_leave_out_the_tags_of_union_members():
    value = {"plans": [{"kind": "tree", "inner": {"kind": "forest", "n_trees": 0}}]}
    assert faults(value) == [("#/plans/0/inner/n_trees", "must be at least 1", None)]


def test_unknown_keys_get_the_nearest_known_one():
    assert faults({"plan": []}) == [("#/plan", "not a known key here", "did you mean plans?")]
    assert faults({"named": {"x/y": {"kind": "forest", "n_tree": 3}}}) == [
        ("#/named/x~1y/n_tree", "not a known key here", "did you mean n_trees?")
    ]
    nested = {"plans": [{"kind": "tree", "inner": {"kind": "twig", "length": 1, "lenght": 1}}]}
    assert faults(nested) == [("#/plans/0/inner/lenght", "not a known key here", "did you mean length?")]


def test_keys_of_another_kind_get_the_kinds_that_have_them():
    assert faults({"plans": [{"kind": "tree", "n_trees": 3}]}) == [
        ("#/plans/0/n_trees", "not a known key here", "it is for forest")
    ]
    nested = {"plans": [{"kind": "tree", "inner": {"kind": "twig", "length": 1, "n_trees": 1}}]}
    assert faults(nested) == [("#/plans/0/inner/n_trees", "not a known key here", "it is for forest")]


def test_unknown_keys_far_from_all_get_the_list():
    assert faults({"zzz": 1})[0][2] == "known here: as, colour, named, plans, step"


def test_the_name_in_our_code_is_not_the_name_of_the_key():
    assert faults({"shape": "oval"})[0][0] == "#/shape"


def test_a_wrong_kind_is_named_at_its_key():
    assert faults({"plans": [{"kind": "forst"}]}) == [
        ("#/plans/0/kind", "must be one of 'forest', 'tree'", "did you mean forest?")
    ]
    assert faults({"plans": [{}]}) == [("#/plans/0/kind", "required, but missing", None)]


def test_members_of_a_plain_union_speak_together():
    assert faults({"step": 1.5}) == [("#/step", "must be a whole number, or must be text, or must be a list", None)]
    assert ("#/step/1", "must be text", None) in faults({"step": ["a", 2]})


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        ({"plans": {}}, "must be a list"),
        ({"plans": [3]}, "must be an object"),
        ({"plans": [{"kind": "forest", "n_trees": "3"}]}, "must be a whole number"),
        ({"plans": [{"kind": "forest", "n_trees": True}]}, "must be a whole number"),
        ({"plans": [{"kind": "tree", "tidy": 1}]}, "must be true or false"),
        ({"plans": [{"kind": "tree", "depth": "1"}]}, "must be a number"),
        ({"plans": [{"kind": "tree", "depth": 0}]}, "must be greater than 0"),
        ({"plans": [{"kind": "tree", "depth": 1}]}, "must be at most 0.5"),
        ({"plans": [{"kind": "tree", "leaves": []}]}, "must have at least 1 entry"),
        ({"plans": [{"kind": "tree", "leaves": ["a"] * 3}]}, "must have at most 2 entries"),
        ({"colour": "blue"}, "must be 'green' or 'black'"),
        ([], "must be an object"),
        (None, "must be an object"),
    ],
)
def test_words_are_plain(value, detail):
    assert [found[1] for found in faults(value)] == [detail]


def test_at_most_100_faults_are_listed():
    assert len(faults({f"key{i}": 1 for i in range(500)})) == 100
