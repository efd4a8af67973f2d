"""`average_of_trees` and the other functions of `ensembles.prediction.predictor`, compiled.

A few thousand rows stay in the cache as tiles of ranks while each tree is read once; many rows descend it together,
one depth at a time. The answers to a row are added in the order of the trees, so the bits are those of the definition.
"""

import numpy as np
from numba import int32, int64, uint32, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays, numbers_at, prefetch
from core.ensembles.prediction.kernels.ranks import rank_of, write_ranks
from core.ensembles.prediction.ranks import FIRST_CODE, MISSING_RANK
from core.prediction.kernels.routing import LAST_NODE, SLOT, SLOT_BITS, WEIGHTED, copy_at_holes
from core.tree.layout import IN_FLIGHT, INTERVALS, LOOKUP, THRESHOLD

EVERY_BRANCH = 4  # one more policy: a missing value takes every branch with full weight
FIRST_STEPS, STEPS_BETWEEN = 12, 4  # before the first check whether all rows are in leaves, and between checks
TREES_IN_FLIGHT = 128
N_ADDRESSES = 26
LINE_BYTES, TEST_BYTES, ROW_BYTES, NUMBER_BYTES = 64, 8, 4, 8  # of a line of memory, a test, an answer's number

MISSING = uint32(MISSING_RANK)


@compiled
def column_mask(nodes):
    """The bits of a key that hold the column."""
    return (uint32(1) << uint32(nodes.column_bits)) - uint32(1)


@compiled
def offset_in_tile(key, mask):
    """Where the values that a test reads start in a tile."""
    return uint64(key & mask) * uint64(IN_FLIGHT)


@compiled
def take_thresholds(tests, mask, root, depth, tiles, at, reached):
    """Send the rows of the tile at `at` down a tree to their leaves, where all tests are thresholds."""
    test = tests[root]
    begin = at + offset_in_tile(test.key, mask)
    for i in range(uint64(IN_FLIGHT)):
        reached[i] = test.first + uint32(tiles[begin + i] > test.key)
    for step in range(1, depth):
        if step >= FIRST_STEPS and step % STEPS_BETWEEN == 0 and are_in_leaves(tests, reached):
            break
        for i in range(uint64(IN_FLIGHT)):
            test = tests[reached[i]]
            reached[i] = test.first + uint32(tiles[at + offset_in_tile(test.key, mask) + i] > test.key)


@compiled
def are_in_leaves(tests, reached):
    """Whether all rows of a tile are in leaves, which lead to themselves."""
    n = uint64(0)
    for i in range(uint64(IN_FLIGHT)):
        n += uint64(tests[reached[i]].first == reached[i])
    return n == uint64(IN_FLIGHT)


@compiled
def branch_at(nodes, position, key, rank):
    """The branch of a value, given by its rank, at an inner node; -1 if it has none."""
    if rank == MISSING:
        return nodes.missing[position]
    kind = nodes.kind[position]
    if kind == THRESHOLD:
        return int32(rank > key)
    if kind == LOOKUP:
        code = int64(rank >> uint32(nodes.column_bits)) - FIRST_CODE
        return nodes.lookup[nodes.lookup_start[position] + code]
    row = nodes.cuts_of[position]
    start, end = nodes.cuts_start[row], nodes.cuts_start[row + uint32(1)]
    low, high = start, end
    while low < high:
        middle = (low + high) >> 1
        if nodes.cuts[middle] < rank:
            low = middle + 1
        else:
            high = middle
    if kind == INTERVALS:
        return int32(low - start)
    return nodes.lookup[nodes.lookup_start[position] + low - start]


@compiled
def take_branches(nodes, root, depth, tiles, at, reached, is_incomplete):
    """`take_thresholds` for tests of any kind; sets `is_incomplete` for rows with a value that has no branch."""
    mask = column_mask(nodes)
    for i in range(uint64(IN_FLIGHT)):
        reached[i] = uint32(root)
    for step in range(depth):
        if step >= FIRST_STEPS and step % STEPS_BETWEEN == 0 and are_in_leaves(nodes.tests, reached):
            break
        for i in range(uint64(IN_FLIGHT)):
            position = reached[i]
            if nodes.n_branches[position] > uint32(0):
                test = nodes.tests[position]
                branch = branch_at(nodes, position, test.key, tiles[at + offset_in_tile(test.key, mask) + i])
                is_incomplete[i] |= branch < int32(0)
                reached[i] = test.first + uint32(max(branch, int32(0)))


@compiled
def heaviest_branch(share, first, n_branches):
    """`ties.first_within_tie` of the shares of a node's branches."""
    largest = share[first]
    for branch in range(uint32(1), n_branches):
        largest = max(largest, share[first + branch])
    branch = uint32(0)
    while share[first + branch] < largest - TIE:
        branch += uint32(1)
    return branch


@compiled
def record_ends(nodes, tree, only_thresholds, policy, ranks, buffers, n_kept):
    """Write where parts of a record end in a tree, left to right, from `n_kept` on; returns the new `n_kept`.

    -1 if `buffers` is too small.
    """
    tests, share, waiting, waiting_weights = nodes.tests, nodes.share, buffers.waiting, buffers.waiting_weights
    mask = column_mask(nodes)
    waiting[0], waiting_weights[0] = uint32(nodes.start[tree]), 1.0
    n = 1
    while n > 0:
        n -= 1
        position, weight = waiting[n], waiting_weights[n]
        while True:
            test = tests[position]
            first, rank = test.first, ranks[uint64(test.key & mask)]
            n_branches, branch = uint32(2), int32(rank > test.key) - int32(rank == MISSING)
            if first != position and not only_thresholds:
                n_branches, branch = nodes.n_branches[position], branch_at(nodes, position, test.key, rank)
                if policy == EVERY_BRANCH and rank == MISSING:
                    branch = int32(-1)
            if first == position or (branch < int32(0) and policy == LAST_NODE):
                if n_kept == buffers.positions.shape[0]:
                    return -1
                buffers.positions[n_kept], buffers.weights[n_kept] = position, weight
                n_kept += 1
                break
            if branch >= int32(0):
                position = first + uint32(branch)
                continue
            if policy != WEIGHTED and policy != EVERY_BRANCH:
                position = first + heaviest_branch(share, first, n_branches)
                continue
            if n + int64(n_branches) > waiting.shape[0]:
                return -1
            for step in range(n_branches):
                child = first + n_branches - uint32(1) - uint32(step)
                part = weight if policy == EVERY_BRANCH else weight * share[child]
                if part > 0.0:
                    waiting[n], waiting_weights[n] = child, part
                    n += 1
            break
    return n_kept


@compiled
def forest_ends(nodes, only_thresholds, policy, ranks, buffers, starts):
    """`record_ends` of all trees, tree t from `starts[t]` to `starts[t + 1]`; False if `buffers` is too small."""
    n_kept = 0
    starts[0] = 0
    for tree in range(starts.shape[0] - 1):
        n_kept = record_ends(nodes, tree, only_thresholds, policy, ranks, buffers, n_kept)
        if n_kept < 0:
            return False
        starts[tree + 1] = n_kept
    return True


@compiled
def read_rows(columns, n, ranks, nodes, buffers):
    """Write the ranks of n rows to tiles, and flag rows with a missing value and tiles with such rows.

    Returns the size of a tile.
    """
    width, size = uint64(IN_FLIGHT), uint64(columns.shape[0]) * uint64(IN_FLIGHT)
    shift = uint32(nodes.column_bits)
    for row in range(n):
        buffers.is_incomplete[row] = False
    for column in range(uint64(columns.shape[0])):
        cells = numbers_at(columns[column], n)
        for first in range(uint64(0), n, width):
            at, n_here = first // width * size + column * width, min(width, n - first)
            write_ranks(ranks, column, cells, first, n_here, shift, buffers.reached, buffers.tiles, at)
            for i in range(n_here):
                buffers.is_incomplete[first + i] |= buffers.tiles[at + i] == MISSING
    for first in range(uint64(0), n, width):
        n_incomplete = uint64(0)
        for row in range(first, min(first + width, n)):
            n_incomplete += uint64(buffers.is_incomplete[row])
        buffers.has_incomplete[first // width] = n_incomplete > uint64(0)
    return size


@compiled
def read_record(cells, ranks, column_bits, of_record):
    """Write the ranks of a record's values, shifted left; returns whether all are known."""
    is_complete = True
    for column in range(uint64(cells.shape[0])):
        rank = rank_of(ranks, column, cells[column])
        of_record[column] = rank << uint32(column_bits)
        is_complete &= rank != MISSING
    return is_complete


@compiled
def reach(nodes, tree, only_thresholds, tiles, at, reached, is_incomplete):
    """Write the leaves that the rows of a tile reach in a tree; those of incomplete rows mean nothing."""
    root, depth = uint64(nodes.start[tree]), nodes.depth[tree]
    if only_thresholds:
        take_thresholds(nodes.tests, column_mask(nodes), root, depth, tiles, at, reached)
    else:
        take_branches(nodes, root, depth, tiles, at, reached, is_incomplete)


@compiled
def reach_block(columns, n_rows, ranks, nodes, only_thresholds, buffers, reached):
    """Write `reached[tree, row]`, the leaves of a block's rows, and flag incomplete rows in `buffers.is_incomplete`.

    `reached` holds whole tiles.
    """
    n, width = uint64(n_rows), uint64(IN_FLIGHT)
    size = read_rows(columns, n, ranks, nodes, buffers)
    for tree in range(reached.shape[0]):
        for first in range(uint64(0), n, width):
            at, end = first // width * size, first + width
            reach(
                nodes,
                tree,
                only_thresholds,
                buffers.tiles,
                at,
                reached[tree, first:end],
                buffers.is_incomplete[first:end],
            )


@compiled
def step_down(tests, mask, tiles, at, copies, n, holes):
    """Move every copy down by its value, to the first branch if it is missing; list and count the latter in `holes`."""
    n_holes = uint64(0)
    for i in range(n):
        key = copies[i].key
        row, position = key & SLOT, key >> SLOT_BITS
        test = tests[position]
        rank = tiles[at + offset_in_tile(test.key, mask) + row]
        copies[i].key = ((test.first + uint32(rank > test.key)) << SLOT_BITS) | row
        holes[n_holes] = uint32(i)
        n_holes += uint64((rank == MISSING) & (test.first != position))
    return n_holes


@compiled
def weighted_slots(nodes, tree, at, n_slots, buffers):
    """Send the `slots` of a tile down a tree of thresholds as weighted copies; False if `copies` is too small."""
    copies, holes, slots, mask = buffers.copies, buffers.holes, buffers.slots, column_mask(nodes)
    root = uint32(nodes.start[tree]) << SLOT_BITS
    for i in range(n_slots):
        copy = copies[i]
        copy.key, copy.weight, copy.after = root | slots[i], 1.0, uint32(0)
    n = n_slots
    for _ in range(nodes.depth[tree]):
        n_holes = step_down(nodes.tests, mask, buffers.tiles, at, copies, n, holes)
        if n + n_holes > uint64(copies.shape[0]):
            return False
        n = copy_at_holes(nodes.share, copies, n, holes, n_holes)
    return True


@compiled
def add_copies(nodes, copies, slots, n_slots, first, sums):
    """Add a tree's answer to each row's sum: the sum over the row's copies, from left to right."""
    for slot in range(n_slots):
        row = first + uint64(slots[slot])
        for k in range(uint64(sums.shape[1])):
            total, copy = 0.0, uint32(slot)
            while True:
                answer = nodes.answer_of[copies[copy].key >> SLOT_BITS]
                total += copies[copy].weight * nodes.answers[answer, k]
                copy = copies[copy].after
                if copy == uint32(0):
                    break
            sums[row, k] += total


@compiled
def add_ends(nodes, tree, only_thresholds, policy, ranks, buffers, sums, row):
    """Add a tree's answer to a row's sum, for any tests and policy; False if `buffers` is too small."""
    n = record_ends(nodes, tree, only_thresholds, policy, ranks, buffers, 0)
    for k in range(uint64(sums.shape[1])):
        total = 0.0
        for end in range(n):
            total += buffers.weights[end] * nodes.answers[nodes.answer_of[buffers.positions[end]], k]
        sums[row, k] += total
    return n >= 0


@compiled
def add_leaves(nodes, reached, first, n, sums):
    """Add the answers of the leaves that the rows of a tile reached to their sums."""
    answer_of, answers = nodes.answer_of, nodes.answers
    for i in range(n):
        answer = answer_of[reached[i]]
        for k in range(uint64(sums.shape[1])):
            sums[first + i, k] += answers[answer, k]


@compiled
def add_leaves_of_others(nodes, reached, is_left_out, first, n, sums):
    """`add_leaves` for the rows that are not left out."""
    for i in range(n):
        if not is_left_out[i]:
            for k in range(uint64(sums.shape[1])):
                sums[first + i, k] += nodes.answers[nodes.answer_of[reached[i]], k]


@compiled
def prefetch_tree(nodes, tree, part, n_parts):
    """Prefetch a part of a tree's tests and answers, while the rows descend the tree before it."""
    if tree == nodes.depth.shape[0]:
        return
    start, n = uint64(nodes.start[tree]), uint64(nodes.start[tree + 1] - nodes.start[tree])
    begin, end = n * part // n_parts, n * (part + uint64(1)) // n_parts
    for position in range(start + begin, start + end, uint64(LINE_BYTES // TEST_BYTES)):
        prefetch(nodes.addresses[0] + position * uint64(TEST_BYTES))
    for position in range(start + begin, start + end, uint64(LINE_BYTES // ROW_BYTES)):
        prefetch(nodes.addresses[1] + position * uint64(ROW_BYTES))


@compiled
def list_incomplete(is_incomplete, n, slots):
    """List and count the incomplete ones of the n rows of a tile."""
    n_slots = uint64(0)
    for i in range(n):
        slots[n_slots] = uint32(i)
        n_slots += uint64(is_incomplete[i])
    return n_slots


@compiled
def add_incomplete(nodes, tree, only_thresholds, policy, at, first, n, buffers, scratch, sums):
    """Add a tree's answers to the sums of the incomplete rows of a tile; False if `scratch` is too small."""
    slots, tiles, of_row = buffers.slots, buffers.tiles, buffers.of_row
    n_slots = list_incomplete(buffers.is_incomplete_here, n, slots)
    if n_slots == uint64(0):
        return True
    if only_thresholds and policy == WEIGHTED and weighted_slots(nodes, tree, at, n_slots, buffers):
        add_copies(nodes, buffers.copies, slots, n_slots, first, sums)
        return True
    for i in range(n_slots):
        slot = uint64(slots[i])
        for column in range(uint64(of_row.shape[0])):
            of_row[column] = tiles[at + column * uint64(IN_FLIGHT) + slot]
        if not add_ends(nodes, tree, only_thresholds, policy, of_row, scratch, sums, first + slot):
            return False
    return True


@compiled
def average_block(columns, ranks, nodes, only_thresholds, policy, buffers, scratch, sums):
    """Write the mean over all trees for the rows of a block to `sums[row, output]`; False if `scratch` is too small."""
    n, width, n_trees, n_outputs = uint64(sums.shape[0]), uint64(IN_FLIGHT), nodes.depth.shape[0], uint64(sums.shape[1])
    tiles, is_incomplete, reached = buffers.tiles, buffers.is_incomplete_here, buffers.reached
    size, mask = read_rows(columns, n, ranks, nodes, buffers), column_mask(nodes)
    n_tiles = (n + width - uint64(1)) // width
    for row in range(n):
        for k in range(n_outputs):
            sums[row, k] = 0.0
    for tree in range(n_trees):
        for first in range(uint64(0), n, width):
            at, n_here = first // width * size, min(width, n - first)
            prefetch_tree(nodes, tree + 1, first // width, n_tiles)
            if only_thresholds and not buffers.has_incomplete[first // width]:
                root, depth = uint64(nodes.start[tree]), nodes.depth[tree]
                take_thresholds(nodes.tests, mask, root, depth, tiles, at, reached)
                add_leaves(nodes, reached, first, n_here, sums)
                continue
            for i in range(width):
                is_incomplete[i] = buffers.is_incomplete[first + i]
            reach(nodes, tree, only_thresholds, tiles, at, reached, is_incomplete)
            add_leaves_of_others(nodes, reached, is_incomplete, first, n_here, sums)
            if not add_incomplete(nodes, tree, only_thresholds, policy, at, first, n_here, buffers, scratch, sums):
                return False
    for row in range(n):
        for k in range(n_outputs):
            sums[row, k] /= n_trees
    return True


@compiled
def add_tree(nodes, tree, only_thresholds, policy, buffers, scratch, counts, sums):
    """Add a tree's answers to the sums of those rows that count; False if `scratch` is too small: then sums are wrong.

    `read_rows` has read the rows before.
    """
    n, width = uint64(sums.shape[0]), uint64(IN_FLIGHT)
    is_incomplete, is_other, reached, size = (
        buffers.is_incomplete_here,
        buffers.is_other,
        buffers.reached,
        uint64(buffers.of_row.shape[0]) * width,
    )
    for first in range(uint64(0), n, width):
        at, n_here = first // width * size, min(width, n - first)
        for i in range(width):
            is_incomplete[i] = buffers.is_incomplete[first + i]
        reach(nodes, tree, only_thresholds, buffers.tiles, at, reached, is_incomplete)
        for i in range(n_here):
            is_other[i] = is_incomplete[i] | (not counts[first + i])
            is_incomplete[i] &= counts[first + i]
        add_leaves_of_others(nodes, reached, is_other, first, n_here, sums)
        if not add_incomplete(nodes, tree, only_thresholds, policy, at, first, n_here, buffers, scratch, sums):
            return False
    return True


@making_arrays
def ends_of_record(cells, ranks, nodes, only_thresholds, policy, buffers, starts):
    """`forest_ends` of a record given by its values."""
    of_record = np.empty(cells.shape[0], dtype=np.uint32)
    read_record(cells, ranks, nodes.column_bits, of_record)
    return forest_ends(nodes, only_thresholds, policy, of_record, buffers, starts)


@making_arrays
def average_record(cells, ranks, nodes, only_thresholds, policy, buffers, answer):
    """Write the mean answer to one record, complete or not; False if `buffers` is too small."""
    n_trees, sums = nodes.depth.shape[0], answer.reshape((1, answer.shape[0]))
    of_record = np.empty(cells.shape[0], dtype=np.uint32)
    read_record(cells, ranks, nodes.column_bits, of_record)
    for k in range(answer.shape[0]):
        answer[k] = 0.0
    for tree in range(n_trees):
        if not add_ends(nodes, tree, only_thresholds, policy, of_record, buffers, sums, 0):
            return False
    for k in range(answer.shape[0]):
        answer[k] /= n_trees
    return True
