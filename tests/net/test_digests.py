"""Every order and every answer of the net has the bytes that the table says, by kernels; some also by the definition.

The definition takes as long as all the others together; `python -m tests.net check` has it grow every order.

Where bytes are meant to change, `python -m tests.net write` writes the table anew, and the changelog says so.
"""

import pytest

from service.kernel_cache import KernelCache
from tests.net.answers import QUESTIONS
from tests.net.comparing import changes, differences, disagreements, openapi_differences, read_table, without_texts
from tests.net.orders import BY_KERNELS, ORDERS
from tests.net.processors import OLD
from tests.net.running import Found, run_net


def test_the_table_has_every_order_and_every_answer() -> None:
    table = read_table()
    assert list(table["models"]) == [order.name for order in ORDERS]
    assert list(table["answers"]) == [question.name for question in QUESTIONS]
    assert len({order.name for order in ORDERS}) == len(ORDERS) >= 200
    assert len({question.name for question in QUESTIONS}) == len(QUESTIONS) >= 60
    assert not [name for name, digest in table["models"].items() if not digest.startswith("sha256:")]


def test_all_bytes_are_as_before(warm_kernels: KernelCache) -> None:
    assert warm_kernels.folder is not None
    found = run_net(kernels=warm_kernels.folder.parent, engines=BY_KERNELS)
    assert not (changed := changes(found, read_table())), "\n".join(changed)
    assert {name for given in found.models.values() for name in given} == read_table()["models"].keys()
    assert {name for given in found.answers.values() for name in given} == read_table()["answers"].keys()


# What logarithms, powers, sums and matrices decide; `make processors` runs everything, on more processors.
BY_ARITHMETIC = (
    "mixed: c45",
    "mixed: confidence",
    "mixed: release 8, confidence",
    "mixed: nunez",
    "mixed: mdlp cuts, gain ratio",
    "mixed: chaid",
    "mixed: chaid of a number",
    "mixed: quest",
    "mixed: numbers, cost-complexity",
    "mixed: extra_trees, a number",
    "mixed: isolation of 64",
    "ties: information gain, weighted",
    "slanted: lda, three classes",
    "slanted: logistic, two classes",
)


def test_bytes_are_those_of_an_old_processor(warm_kernels: KernelCache) -> None:
    assert warm_kernels.folder is not None
    orders = [order for order in ORDERS if order.name in BY_ARITHMETIC]
    questions = [question for question in QUESTIONS if question.order in BY_ARITHMETIC]
    found = run_net(
        kernels=warm_kernels.folder.parent,
        orders=orders,
        questions=questions,
        engines=["definition", "kernels"],
        variables=OLD,
    )
    assert len(orders) == len(BY_ARITHMETIC)
    assert not (changed := changes(found, read_table())), "\n".join(changed)


def test_some_orders_have_the_same_bytes_by_the_definition(warm_kernels: KernelCache) -> None:
    assert warm_kernels.folder is not None
    found = run_net(kernels=warm_kernels.folder.parent, engines=["definition"], orders=ORDERS[::3])
    assert len(found.models["definition"]) > 60
    assert not (changed := changes(found, read_table())), "\n".join(changed)


def test_a_change_is_told_with_its_order_and_engine() -> None:
    found = Found(models={"kernels": {"a": "sha256:1", "b": "sha256:2"}}, answers={"definition": {"c": "sha256:3"}})
    table = {"models": {"a": "sha256:1", "b": "sha256:9"}, "answers": {}}
    assert changes(found, table) == [
        "model of 'b' by kernels: 2 instead of 9",
        "answer of 'c' by definition: 3 instead of nothing",
    ]


def test_engines_that_disagree_are_told() -> None:
    digests = {"definition": {"a": "sha256:1", "b": "sha256:2"}, "kernels": {"a": "sha256:1", "b": "sha256:3"}}
    assert list(disagreements(digests)) == ["b: 2 by definition, 3 by kernels"]


def test_two_checkouts_are_compared_answer_by_answer() -> None:
    base = Found(models={"kernels": {"a": "sha256:1"}}, bodies={"kernels": {"q": b"200 text\nx <= 1.5"}})
    ours = Found(models={"kernels": {"a": "sha256:2"}}, bodies={"kernels": {"q": b"200 text\nx <= 2.5"}})
    model, answer = differences(base, ours)
    assert model == "model of 'a' by kernels: 2, in the base 1"
    assert "x <= 1.5" in answer
    assert "x <= 2.5" in answer
    assert differences(base, base) == []


@pytest.mark.parametrize(
    ("ours", "told"),
    [
        ({"info": {"version": "2", "title": "t"}, "paths": {"/a": [1]}}, []),
        (
            {"info": {"version": "2", "title": "u"}, "paths": {"/a": [1]}},
            ["openapi.json: #/info/title is 'u', in the base 't'"],
        ),
        ({"info": {"version": "1", "title": "t"}, "paths": {}}, ["openapi.json: #/paths/~1a is only in the base"]),
    ],
)
def test_documents_are_compared_but_for_the_version(ours: object, told: list[str]) -> None:
    base = {"info": {"version": "1", "title": "t"}, "paths": {"/a": [1]}}
    assert list(openapi_differences(base, ours)) == told


def test_texts_of_a_document_are_only_counted() -> None:
    base, ours = {"a": {"description": "x", "type": "number"}}, {"a": {"description": "y", "type": "string"}}
    assert without_texts(openapi_differences(base, ours)) == [
        "openapi.json: #/a/type is 'string', in the base 'number'",
        "openapi.json: 1 descriptions and summaries differ",
    ]
    assert without_texts(openapi_differences(base, base)) == []
