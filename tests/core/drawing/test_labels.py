import pytest

from core.drawing import labels
from tests.core.building import cart_for_numbers, model_of, samples_of
from tests.core.stored_models import classification_model, regression_model, several_numbers_model


@pytest.mark.parametrize(("weight", "text"), [(3.0, "3"), (2 / 3, "0.67"), (0.004, "0"), (1e6, "1000000")])
def test_weights_in_words(weight, text):
    assert labels.weight_text(weight) == text


def test_words_of_nodes():
    model = classification_model()
    assert labels.branch_text(model, 0) == ""
    assert labels.branch_text(model, 1) == "= 凹陷"
    assert labels.test_text(model, 0) == "脐部"
    assert labels.answer_text(model, 0) == "是"
    assert labels.counts_text(model, 1) == "是 3, 否 1"
    assert labels.counts_text(model, 12) == "no sample"
    assert labels.title_text(model, model.view(0), 0) == "脐部?"
    assert labels.title_text(model, model.view(0), 2) == "是"
    assert labels.title_text(model, model.view(5), 1) == "是"


def test_words_of_numbers():
    model = regression_model()
    assert labels.answer_text(model, 0) == "20"
    assert labels.counts_text(model, 0) == "n 16"


def test_words_of_several_numbers():
    model = several_numbers_model()
    assert labels.answer_text(model, 0) == "price = 4, weight = 2"
    assert labels.counts_text(model, 0) == "n 8"


def test_a_list_of_one_target_names_it():
    model = model_of(samples_of({"a": [1, 1]}, [1.0, 2.0]), cart_for_numbers(), target=("y",))
    assert labels.answer_text(model, 0) == "y = 1.5"
