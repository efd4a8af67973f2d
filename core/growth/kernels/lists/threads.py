"""Growing one tree in several threads."""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from heapq import heappop, heappush
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.growth.kernels.lists import grow as kernels
from core.growth.kernels.node import state
from core.growth.kernels.node.kept import node_buffers

Item = TypeVar("Item")

PIECES = 8  # one thread grows a node with at most 1/PIECES of the rows, and its subtree


class GrowthEnded(Exception):
    """Growth was stopped because the tree is no longer wanted."""


class Pool(Generic[Item]):
    """Scratch buffers that threads borrow and always give back, also after an exception."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._free: SimpleQueue[Item] = SimpleQueue()
        for item in items:
            self._free.put(item)

    @contextmanager
    def one(self) -> Iterator[Item]:
        """Borrow an item; no other thread has it meanwhile."""
        item = self._free.get()
        try:
            yield item
        finally:
            self._free.put(item)


def grown_nodes(
    problem: tuple[Any, ...], rules: tuple[Any, ...], works: list[tuple[Any, ...]], progress: FloatArray
) -> tuple[Any, ...]:
    """Grow all nodes: their links, figures, branch figures and branches by code.

    There is a thread for each of `works`. If there are several, a thread splits a node of many rows and leaves its
    children to whichever thread is free, the largest child first; a node of few rows is grown with its whole subtree.
    Waiting nodes share no rows, so the result does not depend on their order.
    """
    root, root_figures = kernels.root_piece(problem, rules, works[0])
    n_rows, scratches = int(root[kernels.AT_SIZE]), Pool(zip(works, progress, strict=True))
    apart = node_buffers(0, len(root_figures))  # empty: only trees of a forest store small subtrees apart

    def subtree(piece: RowArray, figures: FloatArray) -> tuple[Any, ...]:
        size = int(piece[kernels.AT_SIZE])
        few_rows = size - 1 if len(works) > 1 and size * PIECES > n_rows else 0
        with scratches.one() as (work, done):
            if done[kernels.STOP]:
                raise GrowthEnded
            found = kernels.grow_piece(problem, rules, work, piece, figures, few_rows, done, *apart)
            return tuple(found[:5])

    subtrees: list[tuple[int, tuple[Any, ...]]] = []
    n_nodes, waiting, growing = 1, [(-n_rows, 0, root, root_figures)], dict[Future[tuple[Any, ...]], int]()
    with ThreadPoolExecutor(len(works)) as pool:
        while waiting or growing:
            while waiting and len(growing) < len(works):
                _, node, piece, figures = heappop(waiting)
                growing[pool.submit(subtree, piece, figures)] = node
            for future in wait(growing, return_when=FIRST_COMPLETED).done:
                *found, pieces = future.result()
                subtrees.append((growing.pop(future), tuple(found)))
                for piece in pieces:
                    below = int(piece[kernels.AT_NODE])
                    heappush(waiting, (-int(piece[kernels.AT_SIZE]), n_nodes + below - 1, piece, found[1][below]))
                n_nodes += len(found[0]) - 1
    return in_one_tree(subtrees)


def in_one_tree(subtrees: list[tuple[int, tuple[Any, ...]]]) -> tuple[Any, ...]:
    """Join subtrees with `growth.kernels.lists.grow.graft`; each comes with the node that it replaces."""
    if len(subtrees) == 1:
        return subtrees[0][1]
    parts = [[subtree[part] for _, subtree in subtrees] for part in range(4)]
    links, figures, sums, levels = (
        np.empty((sum(map(len, each)), *each[0].shape[1:]), each[0].dtype) for each in parts
    )
    links[0, state.PARENT], links[0, state.BRANCH] = -1, 0
    n_nodes, n_sums, n_levels = 1, 0, 0
    for node, subtree in subtrees:
        kernels.graft((links, figures, sums, levels), (n_nodes, n_sums, n_levels), node, subtree)
        n_nodes, n_sums, n_levels = n_nodes + len(subtree[0]) - 1, n_sums + len(subtree[2]), n_levels + len(subtree[3])
    return links[:n_nodes], figures[:n_nodes], sums, levels
