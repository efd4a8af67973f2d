"""Trees of thresholds packed for one record at a time: a path from root to leaf touches few cache lines.

One record passes each test once, so the time is that of loading cache lines. A test has 8 bytes, as in
`ensembles.prediction.layout`, and a line holds eight: siblings are adjacent, as a pair, and the pairs of two depths
below the same node form a block.

    the first line of a tree      root -   1 2   3 4   5 6        1, 2 below the root; 3, 4 below 1; 5, 6 below 2
    another                         7 8   9 10  11 12   - -       7, 8 below 3; 9, 10 below 7; 11, 12 below 8

Blocks hold 4, 2 or 1 pairs, and those of a tree are sorted by size, the largest first, so each lies within one line.
A leaf leads to itself, as no rank is above its key, and its key holds its answer too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import RowArray
from core.ensembles.prediction.layout import TEST, ForestLayout
from core.ensembles.prediction.ranks import ThresholdRanks
from core.ensembles.shape import Shape

LINE_BYTES = 64
BLOCK_DEPTH = 2  # of nodes whose children share a line
LINE_PAIRS = 1 << BLOCK_DEPTH
LEAF_BIT = 31  # of a key, above every rank

TREES_IN_FLIGHT = 128
WORD_BYTES = 8

# The entries of the kernel's table after the addresses and lengths of the arrays of `ThresholdRanks`.
FIRST = 2 * len(ThresholdRanks._fields)
COLUMN_BITS, N_COLUMNS, N_TREES, N_OUTPUTS, N_TESTS, N_ANSWERS = range(FIRST, FIRST + 6)
TESTS, START, DEPTH, BEFORE, ANSWERS = range(FIRST + 6, FIRST + 11)
N_ADDRESSES = FIRST + 11


class PackedTrees(NamedTuple):
    """The tests of all trees.

    tests   aligned to a cache line: the position of the first branch, and the key; a leaf's key holds its answer. A
            tree's root comes first; unused entries of blocks are never reached
    start   by tree: its root
    before  by tree: how many of the answers that are not of a single class belong to trees before it
    """

    tests: NDArray[np.void]
    start: RowArray
    before: RowArray


def suits_packing(layout: ForestLayout) -> bool:
    """Whether all tests are thresholds, and ranks and answers fit into keys, below the bit of a leaf."""
    if not layout.only_thresholds:
        return False
    most = max(layout.n_outputs + layout.forest.n_nodes, *(len(of_column) + 1 for of_column in layout.thresholds))
    return most < 1 << max(0, LEAF_BIT - layout.column_bits)


def packed_trees(layout: ForestLayout) -> PackedTrees:
    """The trees of a forest that suits packing."""
    shape, order = layout.shape, layout.order
    answers, before = _answers_in_tree(layout)
    pair, start = _pairs(shape)
    position = 2 * pair[shape.parent] + shape.branch
    position[shape.start[:-1]] = start
    key = layout.nodes.tests["key"].astype(np.int64)
    is_leaf = shape.is_leaf[order]
    key[is_leaf] = 1 << LEAF_BIT | answers[is_leaf] << layout.column_bits
    tests = _whole_lines(2 * LINE_PAIRS * (-(-(int(position.max()) + 1) // (2 * LINE_PAIRS))))
    tests["first"][position] = np.where(shape.is_leaf, position, 2 * pair)
    tests["key"][position[order]] = key
    return PackedTrees(tests, start, before)


def _answers_in_tree(layout: ForestLayout) -> tuple[RowArray, RowArray]:
    """By position in `layout`, the number of a leaf's answer in its tree; by tree, the answers before its own.

    An answer of a single class has the number of the class. The others are numbered within their tree.
    """
    nodes = layout.nodes
    is_own = layout.shape.is_leaf[layout.order] & (nodes.answer_of >= layout.n_outputs)
    before = np.append(0, np.cumsum(is_own))[nodes.start[:-1]]
    answer_in_tree = nodes.answer_of.astype(np.int64) - np.where(is_own, np.repeat(before, np.diff(nodes.start)), 0)
    return answer_in_tree, before


def _pairs(shape: Shape) -> tuple[RowArray, RowArray]:
    """By node, the pair of its children, numbered through all trees; and by tree, the position of its root."""
    n_nodes, roots, n_of_tree = len(shape.size), shape.start[:-1], np.diff(shape.start)
    above, top = np.flatnonzero(~shape.is_leaf), np.arange(n_nodes)
    for height in range(1, BLOCK_DEPTH):
        climbs = shape.depth % BLOCK_DEPTH >= height
        top[climbs] = shape.parent[top[climbs]]  # the node above a block
    n_pairs = np.bincount(top[above], minlength=n_nodes)
    capacity = np.where(n_pairs > 0, 1 << np.ceil(np.log2(np.maximum(n_pairs, 1))).astype(np.int64), 0)
    capacity[roots] = LINE_PAIRS
    capacity_of_tree = np.add.reduceat(capacity, roots)
    lines = -(-capacity_of_tree // LINE_PAIRS)
    start, skipped = LINE_PAIRS * (np.cumsum(lines) - lines), np.cumsum(capacity_of_tree) - capacity_of_tree
    by_size = np.lexsort((-capacity, np.repeat(np.arange(len(roots)), n_of_tree)))
    first = np.empty(n_nodes, dtype=np.int64)
    first[by_size] = np.cumsum(capacity[by_size]) - capacity[by_size]
    first += np.repeat(start - skipped, n_of_tree)
    first[roots] += 1  # after the root itself
    in_turn = above[np.lexsort((shape.depth[above], top[above]))]
    of_block = top[in_turn]
    pair = np.zeros(n_nodes, dtype=np.int64)
    pair[in_turn] = first[of_block] + np.arange(len(in_turn)) - (np.cumsum(n_pairs) - n_pairs)[of_block]
    return pair, 2 * start


def _whole_lines(n_tests: int) -> NDArray[np.void]:
    """An array of tests that starts at a cache line."""
    memory = np.zeros(n_tests * TEST.itemsize + LINE_BYTES, dtype=np.uint8)
    begin = -int(memory.__array_interface__["data"][0]) % LINE_BYTES
    return memory[begin : begin + n_tests * TEST.itemsize].view(TEST)
