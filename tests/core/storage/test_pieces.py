from dataclasses import replace

import pytest

from core.storage.pieces import pieces
from core.storage.serialization import dump
from core.tree.history import History
from tests.core.stored_models import classification_model, regression_model, several_numbers_model


@pytest.mark.parametrize("make", [classification_model, regression_model, several_numbers_model])
def test_pieces_joined_are_the_content(make):
    content = dump(make())
    assert b"".join(pieces(content)) == content


def test_models_of_one_tree_share_it():
    model = classification_model()
    assert model.history.steps
    unpruned = replace(model, history=History(model.tree))
    tree = model.tree.values.tobytes()
    (shared,) = set(pieces(dump(model))) & set(pieces(dump(unpruned)))
    assert tree in shared
