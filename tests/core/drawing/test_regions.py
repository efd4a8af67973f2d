"""Regions of a plane: they cover it, do not overlap, and answer as a prediction at any point inside does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.drawing import regions as module
from core.drawing.regions import SQUARE, Plane, TooManyPieces, area, clipped, regions
from core.prediction.predictor import Predictor
from core.tables.schema import Kind
from tests.core.wild_trees import some_view, wild_schema, wild_table, wild_tree
from tests.examples import examples


def wild_plane(seed):
    """A tree with a plane of two numbers, and a record in which others are known or missing; None if it has no two."""
    chance = np.random.default_rng(seed)
    schema = wild_schema(chance)
    numeric = [column for column, attribute in enumerate(schema) if attribute.kind is Kind.NUMERIC]
    if len(numeric) < 2:
        return None
    tree = wild_tree(chance, schema, deepest=3)
    cells = [
        float("nan") if cell < 0 else float(cell) for cell in (c[0] for c in wild_table(chance, schema, 1).columns)
    ]
    return some_view(chance, tree), Plane((numeric[0], numeric[1]), (-1.3, -1.2), (4.1, 4.3), cells), chance


@examples(40)
@given(st.integers(0, 10_000))
def test_regions_cover_the_plane_and_answer_as_predictions_do(seed):
    wild = wild_plane(seed)
    if wild is None:
        return
    view, plane, chance = wild
    found = regions(view, plane)
    assert sum(area(region.corners) for region in found) == pytest.approx(1.0, abs=1e-9)
    for place in chance.integers(len(found), size=min(4, len(found))):
        corners = np.array(found[place].corners)
        middle = corners.mean(axis=0)
        cells = list(plane.cells)
        for axis, column in enumerate(plane.columns):
            cells[column] = plane.lows[axis] + float(middle[axis]) * plane.spans[axis]
        assert found[place].answer == pytest.approx(np.array(Predictor(view).one(cells)), abs=1e-9)


def test_a_half_plane_cuts_a_square_into_two():
    lower, upper = clipped(SQUARE, 1.0, 1.0, 1.0), clipped(SQUARE, -1.0, -1.0, -1.0)
    assert (area(lower), area(upper)) == (0.5, 0.5)
    assert clipped(SQUARE, 1.0, 0.0, -1.0) == ()
    assert clipped(SQUARE, 1.0, 0.0, 2.0) == SQUARE


def test_more_pieces_than_can_be_drawn_are_refused(monkeypatch):
    view, plane, _ = next(wild for wild in map(wild_plane, range(100)) if wild and len(regions(*wild[:2])) > 3)
    monkeypatch.setattr(module, "MOST_PIECES", 2)
    with pytest.raises(TooManyPieces):
        regions(view, plane)
