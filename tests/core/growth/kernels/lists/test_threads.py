"""Threads grow a tree together: who does what, and how they end."""

from typing import Any

import numpy as np
import pytest

from core.config.options import Algorithm, Categorical, Criterion, CriterionKind
from core.growth.kernels.lists import grow as grow_kernels
from core.growth.kernels.lists.grow_fast import grow_fast
from core.growth.kernels.lists.threads import PIECES, GrowthEnded, Pool
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget
from core.tree.tree import Tree

pytestmark = pytest.mark.bounds

N_ROWS = 2_000
CART = Algorithm("cart", Criterion(CriterionKind.GINI), Categorical.TWO_GROUPS)


def samples() -> Samples:
    chance = np.random.default_rng(5)
    columns = tuple(chance.normal(size=N_ROWS) for _ in range(3))
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(3)))
    target = ClassTarget(("a", "b"), chance.integers(0, 2, N_ROWS).astype(np.int32))
    return Samples(Table(schema, columns), target, np.ones(N_ROWS))


def grown_by_pieces(monkeypatch: pytest.MonkeyPatch, threads: int) -> tuple[Tree, list[tuple[int, int]]]:
    """The tree; of each piece in the order in which they were grown, how many rows and how many nodes it had."""
    pieces, grow_piece = [], grow_kernels.grow_piece

    def noted(*arguments: Any) -> Any:
        found = grow_piece(*arguments)
        pieces.append((int(arguments[3][grow_kernels.AT_SIZE]), len(found[0])))
        return found

    monkeypatch.setattr(grow_kernels, "grow_piece", noted)
    return grow_fast(samples(), CART, threads=threads), pieces


def test_one_thread_grows_the_tree_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, pieces = grown_by_pieces(monkeypatch, threads=1)
    assert pieces == [(N_ROWS, len(tree))]


def test_of_several_threads_each_splits_one_node_of_many_rows_or_grows_all_below_one_of_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree, pieces = grown_by_pieces(monkeypatch, threads=2)
    inner = tree.column >= 0
    many = sorted(tree.weight[inner & (tree.weight * PIECES > N_ROWS)], reverse=True)
    assert sorted((size for size, _ in pieces if size * PIECES > N_ROWS), reverse=True) == many
    assert all(n_nodes == 3 for size, n_nodes in pieces if size * PIECES > N_ROWS)
    assert 1 + sum(n_nodes - 1 for _, n_nodes in pieces) == len(tree)


def test_a_piece_that_cannot_be_grown_ends_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    grow_piece = grow_kernels.grow_piece

    def without_memory(*arguments: Any) -> Any:
        if arguments[3][grow_kernels.AT_SIZE] < N_ROWS:
            raise MemoryError
        return grow_piece(*arguments)

    monkeypatch.setattr(grow_kernels, "grow_piece", without_memory)
    with pytest.raises(MemoryError):
        grow_fast(samples(), CART, threads=2)


def test_after_the_end_of_growth_no_piece_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, grow_piece = [], grow_kernels.grow_piece

    def stopped(*arguments: Any) -> Any:
        begun.append(arguments[3])
        found = grow_piece(*arguments)
        progress = arguments[6].base  # a row of it is the thread's own
        progress[:, grow_kernels.STOP] = 1.0
        return found

    monkeypatch.setattr(grow_kernels, "grow_piece", stopped)
    with pytest.raises(GrowthEnded):
        grow_fast(samples(), CART, threads=2)
    assert len(begun) == 1


def test_room_is_given_back_after_an_error() -> None:
    pool = Pool(["room"])
    with pytest.raises(ValueError, match="no"), pool.one():
        raise ValueError("no")
    with pool.one() as item:
        assert item == "room"
