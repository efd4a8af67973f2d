"""The compiled twin of `forest_predictor.average_of_trees`, and all that is asked of the leaves of many trees.

Some thousand rows stand near the processor as tiles, and each tree comes by once: rows go down it level by level, many
at a time. For one record it is the other way round: many trees are on their way at a time. A row's sum is added up tree
by tree in their order, whoever adds it.
"""

import numpy as np
from numba import int32, int64, uint32, uint64

from core.compiled_kernels import compiled, numbers_at
from core.ensembles.forest_layout import COLUMN_BITS, PLACE_BITS
from core.ensembles.levels import FIRST_CODE, MISSING_LEVEL
from core.ensembles.levels_kernels import level_of
from core.prediction_kernels import LAST_NODE, SLOT, SLOT_BITS, WEIGHTED, copy_at_holes
from core.ties import TIE
from core.tree_layout import IN_FLIGHT, INTERVALS, LOOKUP, THRESHOLD

EVERY_BRANCH = 4  # a policy beside those of records: a missing value takes every branch, with all of its weight
FEW_LEVELS, LEVELS_BETWEEN = 12, 4  # down which rows go before it is asked whether all are in leaves, then and again
TREES_IN_FLIGHT = 32

FIRST = uint64((1 << PLACE_BITS) - 1)
COLUMN = uint64((1 << COLUMN_BITS) - 1)
MISSING = int32(MISSING_LEVEL)


@compiled
def first_of(test):
    """The place that the first branch of a test leads to; a leaf's own."""
    return uint32(test & FIRST)


@compiled
def column_of(test):
    """The column that a test asks for."""
    return test >> uint64(PLACE_BITS) & COLUMN


@compiled
def is_above(level, test):
    """Whether a value of this level is above the test's threshold; a missing one never is."""
    return uint32(level > int32(test >> uint64(PLACE_BITS + COLUMN_BITS)))


@compiled
def take_thresholds(tests, root, depth, tiles, at, reached):
    """Send the rows of the tile at `at` down a tree to their leaves, level by level; all tests are thresholds."""
    test = tests[root]
    begin = at + column_of(test) * uint64(IN_FLIGHT)
    for i in range(uint64(IN_FLIGHT)):
        reached[i] = first_of(test) + is_above(tiles[begin + i], test)
    for level in range(1, depth):
        if level >= FEW_LEVELS and level % LEVELS_BETWEEN == 0 and are_in_leaves(tests, reached):
            break
        for i in range(uint64(IN_FLIGHT)):
            test = tests[reached[i]]
            reached[i] = first_of(test) + is_above(tiles[at + column_of(test) * uint64(IN_FLIGHT) + i], test)


@compiled
def are_in_leaves(tests, reached):
    """Whether all rows of a tile have come to leaves, which lead to themselves."""
    n = uint64(0)
    for i in range(uint64(IN_FLIGHT)):
        n += uint64(first_of(tests[reached[i]]) == reached[i])
    return n == uint64(IN_FLIGHT)


@compiled
def branch_at(nodes, place, test, level):
    """The branch of a value at an inner node; -1 where it has none."""
    if level == MISSING:
        return nodes.missing[place]
    kind = nodes.kind[place]
    if kind == THRESHOLD:
        return int32(is_above(level, test))
    if kind == LOOKUP:
        return nodes.lookup[nodes.lookup_start[place] + int64(level) - FIRST_CODE]
    row = nodes.cuts_of[place]
    start, end = nodes.cuts_start[row], nodes.cuts_start[row + uint32(1)]
    low, high = start, end
    while low < high:
        middle = (low + high) >> 1
        if nodes.cuts[middle] < level:
            low = middle + 1
        else:
            high = middle
    if kind == INTERVALS:
        return int32(low - start)
    return nodes.lookup[nodes.lookup_start[place] + low - start]


@compiled
def take_branches(nodes, root, depth, tiles, at, reached, is_open):
    """`take_thresholds`, whatever the kinds of tests; `is_open` marks rows that met a value without a branch."""
    for i in range(uint64(IN_FLIGHT)):
        reached[i] = uint32(root)
    for level in range(depth):
        if level >= FEW_LEVELS and level % LEVELS_BETWEEN == 0 and are_in_leaves(nodes.tests, reached):
            break
        for i in range(uint64(IN_FLIGHT)):
            place = reached[i]
            if nodes.n_branches[place] > uint32(0):
                test = nodes.tests[place]
                branch = branch_at(nodes, place, test, tiles[at + column_of(test) * uint64(IN_FLIGHT) + i])
                is_open[i] |= branch < int32(0)
                reached[i] = first_of(test) + uint32(max(branch, int32(0)))


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
def record_ends(nodes, tree, only_thresholds, policy, levels, room, n_kept):
    """Where parts of a record end in a tree, left to right: written from `n_kept` on; how many are kept then.

    -1 where there is no room for all, neither there nor for places that wait.
    """
    tests, share, waiting, waiting_weights = nodes.tests, nodes.share, room.waiting, room.waiting_weights
    waiting[0], waiting_weights[0] = uint32(nodes.start[tree]), 1.0
    n = 1
    while n > 0:
        n -= 1
        place, weight = waiting[n], waiting_weights[n]
        while True:
            test = tests[place]
            first, level = first_of(test), levels[column_of(test)]
            n_branches, branch = uint32(2), int32(is_above(level, test)) - int32(level == MISSING)
            if first != place and not only_thresholds:
                n_branches, branch = nodes.n_branches[place], branch_at(nodes, place, test, level)
                if policy == EVERY_BRANCH and level == MISSING:
                    branch = int32(-1)
            if first == place or (branch < int32(0) and policy == LAST_NODE):
                if n_kept == room.places.shape[0]:
                    return -1
                room.places[n_kept], room.weights[n_kept] = place, weight
                n_kept += 1
                break
            if branch >= int32(0):
                place = first + uint32(branch)
                continue
            if policy != WEIGHTED and policy != EVERY_BRANCH:
                place = first + heaviest_branch(share, first, n_branches)
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
def forest_ends(nodes, only_thresholds, policy, levels, room, starts):
    """`record_ends` of all trees, those of tree t from `starts[t]` to `starts[t + 1]`; False where there is no room."""
    n_kept = 0
    starts[0] = 0
    for tree in range(starts.shape[0] - 1):
        n_kept = record_ends(nodes, tree, only_thresholds, policy, levels, room, n_kept)
        if n_kept < 0:
            return False
        starts[tree + 1] = n_kept
    return True


@compiled
def read_rows(columns, n, levels, room):
    """Write the levels of the n rows of a block to tiles, and mark rows that lack a value; how large a tile is."""
    width, size = uint64(IN_FLIGHT), uint64(columns.shape[0]) * uint64(IN_FLIGHT)
    for row in range(n):
        room.is_open[row] = False
    for column in range(uint64(columns.shape[0])):
        cells = numbers_at(columns[column], n)
        for row in range(n):
            level = level_of(levels, column, cells[row])
            room.tiles[row // width * size + column * width + row % width] = level
            room.is_open[row] |= level == MISSING
    return size


@compiled
def read_record(cells, levels, of_record):
    """The levels of a record's values; whether all are known."""
    is_complete = True
    for column in range(uint64(cells.shape[0])):
        level = level_of(levels, column, cells[column])
        of_record[column] = level
        is_complete &= level != MISSING
    return is_complete


@compiled
def reach(nodes, tree, only_thresholds, tiles, at, reached, is_open):
    """The leaves of a tree that the rows of a tile come to; those marked in `is_open` come to some leaf or other."""
    root, depth = uint64(nodes.start[tree]), nodes.depth[tree]
    if only_thresholds:
        take_thresholds(nodes.tests, root, depth, tiles, at, reached)
    else:
        take_branches(nodes, root, depth, tiles, at, reached, is_open)


@compiled
def reach_block(columns, n_rows, levels, nodes, only_thresholds, room, reached):
    """`reached[tree, row]` of the rows of a block; `room.is_open` marks those that met a value without a branch.

    There is room for whole tiles.
    """
    n, width = uint64(n_rows), uint64(IN_FLIGHT)
    size = read_rows(columns, n, levels, room)
    for tree in range(reached.shape[0]):
        for first in range(uint64(0), n, width):
            at, end = first // width * size, first + width
            reach(nodes, tree, only_thresholds, room.tiles, at, reached[tree, first:end], room.is_open[first:end])


@compiled
def step_down(tests, tiles, at, copies, n, holes):
    """Every copy takes the branch of its value, the first one if it is missing: `holes` lists those; how many."""
    n_holes = uint64(0)
    for i in range(n):
        key = copies[i].key
        row, place = key & SLOT, key >> SLOT_BITS
        test = tests[place]
        level, first = tiles[at + column_of(test) * uint64(IN_FLIGHT) + row], first_of(test)
        copies[i].key = ((first + is_above(level, test)) << SLOT_BITS) | row
        holes[n_holes] = uint32(i)
        n_holes += uint64((level == MISSING) & (first != place))
    return n_holes


@compiled
def weighted_slots(nodes, tree, tiles, at, slots, n_slots, copies, holes):
    """Send the `slots` of a tile down a tree by thresholds and weighted copies; False if there is no room for all."""
    root = uint32(nodes.start[tree]) << SLOT_BITS
    for i in range(n_slots):
        copy = copies[i]
        copy.key, copy.weight, copy.after = root | slots[i], 1.0, uint32(0)
    n = n_slots
    for _ in range(nodes.depth[tree]):
        n_holes = step_down(nodes.tests, tiles, at, copies, n, holes)
        if n + n_holes > uint64(copies.shape[0]):
            return False
        n = copy_at_holes(nodes.share, copies, n, holes, n_holes)
    return True


@compiled
def add_copies(nodes, copies, slots, n_slots, first, sums):
    """Add a tree's answer to the sum of each row: itself the sum over the row's copies, from left to right."""
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
def add_ends(nodes, tree, only_thresholds, policy, levels, room, sums, row):
    """Add a tree's answer to a row's sum, whatever its tests and the policy; False where there is no room."""
    n = record_ends(nodes, tree, only_thresholds, policy, levels, room, 0)
    for k in range(uint64(sums.shape[1])):
        total = 0.0
        for end in range(n):
            total += room.weights[end] * nodes.answers[nodes.answer_of[room.places[end]], k]
        sums[row, k] += total
    return n >= 0


@compiled
def add_leaves(nodes, reached, is_open, first, n, sums):
    """Add the answers of the leaves that complete rows of a tile have come to, to their sums."""
    for i in range(n):
        if not is_open[i]:
            answer = nodes.answer_of[reached[i]]
            for k in range(uint64(sums.shape[1])):
                sums[first + i, k] += nodes.answers[answer, k]


@compiled
def list_open(is_open, n, slots):
    """Which of the n rows of a tile are marked; how many."""
    n_slots = uint64(0)
    for i in range(n):
        slots[n_slots] = uint32(i)
        n_slots += uint64(is_open[i])
    return n_slots


@compiled
def average_block(columns, levels, nodes, only_thresholds, policy, room, waiting_room, sums):
    """`sums[row, output]`: the mean over all trees for the rows of a block; False where there is no room."""
    n, width, n_trees, n_outputs = uint64(sums.shape[0]), uint64(IN_FLIGHT), nodes.depth.shape[0], uint64(sums.shape[1])
    tiles, is_open, reached, slots, of_row = room.tiles, room.is_open_here, room.reached, room.slots, room.of_row
    size, by_copies = read_rows(columns, n, levels, room), only_thresholds and policy == WEIGHTED
    for row in range(n):
        for k in range(n_outputs):
            sums[row, k] = 0.0
    for tree in range(n_trees):
        for first in range(uint64(0), n, width):
            at, n_here = first // width * size, min(width, n - first)
            for i in range(width):
                is_open[i] = room.is_open[first + i]
            reach(nodes, tree, only_thresholds, tiles, at, reached, is_open)
            add_leaves(nodes, reached, is_open, first, n_here, sums)
            n_slots = list_open(is_open, n_here, slots)
            if n_slots == uint64(0):
                continue
            if by_copies and weighted_slots(nodes, tree, tiles, at, slots, n_slots, room.copies, room.holes):
                add_copies(nodes, room.copies, slots, n_slots, first, sums)
                continue
            for i in range(n_slots):
                slot = uint64(slots[i])
                for column in range(uint64(of_row.shape[0])):
                    of_row[column] = tiles[at + column * width + slot]
                if not add_ends(nodes, tree, only_thresholds, policy, of_row, waiting_room, sums, first + slot):
                    return False
    for row in range(n):
        for k in range(n_outputs):
            sums[row, k] /= n_trees
    return True


@compiled
def ends_of_record(cells, levels, nodes, only_thresholds, policy, room, starts):
    """`forest_ends` of a record that comes as values."""
    of_record = np.empty(cells.shape[0], dtype=np.int32)
    read_record(cells, levels, of_record)
    return forest_ends(nodes, only_thresholds, policy, of_record, room, starts)


@compiled
def average_open_record(nodes, only_thresholds, policy, of_record, room, answer):
    """The mean answer to one record, whatever it lacks; False where there is no room."""
    n_trees, sums = nodes.depth.shape[0], answer.reshape((1, answer.shape[0]))
    for k in range(answer.shape[0]):
        answer[k] = 0.0
    for tree in range(n_trees):
        if not add_ends(nodes, tree, only_thresholds, policy, of_record, room, sums, 0):
            return False
    for k in range(answer.shape[0]):
        answer[k] /= n_trees
    return True


@compiled
def average_complete_record(nodes, of_record, answer):
    """The mean answer to one record that has every value, by thresholds: many trees on their way at a time."""
    tests, n_trees = nodes.tests, nodes.depth.shape[0]
    reached = np.empty(n_trees, dtype=np.uint32)
    for begin in range(0, n_trees, TREES_IN_FLIGHT):
        end, depth = min(begin + TREES_IN_FLIGHT, n_trees), 0
        for tree in range(begin, end):
            reached[tree] = uint32(nodes.start[tree])
            depth = max(depth, nodes.depth[tree])
        for _ in range(depth):
            for tree in range(uint64(begin), uint64(end)):
                test = tests[reached[tree]]
                reached[tree] = first_of(test) + is_above(of_record[column_of(test)], test)
    for k in range(answer.shape[0]):
        total = 0.0
        for tree in range(n_trees):
            total += nodes.answers[nodes.answer_of[reached[tree]], k]
        answer[k] = total / n_trees


@compiled
def average_record(cells, levels, nodes, only_thresholds, policy, room, answer):
    """The mean answer to one record; False where there is no room."""
    of_record = np.empty(cells.shape[0], dtype=np.int32)
    if read_record(cells, levels, of_record) and only_thresholds:
        average_complete_record(nodes, of_record, answer)
        return True
    return average_open_record(nodes, only_thresholds, policy, of_record, room, answer)
