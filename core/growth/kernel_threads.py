"""The kernels at work in several threads."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np

from core.table import FloatArray, RowArray

Room = TypeVar("Room")


class GrowthEnded(Exception):
    """Nobody waits for this tree any more."""


class Rooms(Generic[Room]):
    """Room to work in for so many threads; who takes one gives it back, whatever happens."""

    def __init__(self, rooms: Iterable[Room]) -> None:
        self._free: SimpleQueue[Room] = SimpleQueue()
        for room in rooms:
            self._free.put(room)

    @contextmanager
    def one(self) -> Iterator[Room]:
        """One that nobody else has meanwhile."""
        room = self._free.get()
        try:
            yield room
        finally:
            self._free.put(room)


def subtrees_of(
    problem: tuple[Any, ...],
    rules: tuple[Any, ...],
    works: list[tuple[Any, ...]],
    tree: list[Any],
    pieces: RowArray,
    progress: FloatArray,
) -> list[tuple[Any, ...]]:
    """The nodes of each piece, grown by as many threads as there is room to work in, the longest first."""
    from core.growth import grow_kernels as kernels

    links, figures = tree[:2]
    rooms = Rooms(zip(works, progress, strict=True))

    def subtree(piece: Any) -> tuple[Any, ...]:
        with rooms.one() as (work, done):
            node = piece[0]
            found: tuple[Any, ...] = kernels.grow_piece(
                problem, rules, work, piece, links[node, kernels.KEY], figures[node], done
            )
            return found[:4]

    n_rows = pieces[:, 1 + 2 * (len(problem[0]) + 1)]
    longest_first = np.argsort(-n_rows, kind="stable")
    with ThreadPoolExecutor(len(works)) as pool:
        found = dict(zip(longest_first.tolist(), pool.map(subtree, pieces[longest_first]), strict=True))
    return [found[number] for number in range(len(pieces))]


def with_subtrees(tree: list[Any], nodes: RowArray, subtrees: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """`grow_kernels.graft` for all pieces: the first node of each takes the place of the leaf it was left as."""
    from core.growth import grow_kernels as kernels

    links, figures = tree[0].copy(), tree[1].copy()
    parts: list[list[Any]] = [[links], [figures], [tree[2]], [tree[3]]]
    n_nodes, n_sums, n_levels = len(links), len(tree[2]), len(tree[3])
    for node, (links_below, figures_below, sums_below, levels_below) in zip(nodes, subtrees, strict=True):
        placed = links_below.copy()
        placed[:, kernels.SUMS] += n_sums
        placed[:, kernels.LEVELS] += n_levels
        parents = placed[:, kernels.PARENT]
        placed[:, kernels.PARENT] = np.where(parents == 0, node, n_nodes + parents - 1)
        links[node, kernels.SLOT :], figures[node] = placed[0, kernels.SLOT :], figures_below[0]
        for part, below in zip(parts, (placed[1:], figures_below[1:], sums_below, levels_below), strict=True):
            part.append(below)
        n_nodes += len(placed) - 1
        n_sums += len(sums_below)
        n_levels += len(levels_below)
    return tuple(np.concatenate(part) for part in parts)
