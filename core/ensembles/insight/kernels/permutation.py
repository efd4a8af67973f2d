"""The compiled twin of `permutation.ShuffledAnswers`: only rows whose new value leads away from their leaf go again.

Values are levels, as in `levels`, and which levels of a column lead to a leaf is known beforehand: an interval. Rows
whose level is outside go on from where their way first asks the column, those of a block together, some at a time,
until the last of these is in a leaf.
"""

from numba import int32, uint32, uint64

from core.compiler.compile import compiled, making_arrays
from core.ensembles.prediction.kernels.predictor import MISSING, branch_at, column_mask, record_ends
from core.prediction.kernels.routing import WEIGHTED
from core.tree.layout import THRESHOLD

LOWEST, HIGHEST = uint32(0), uint32(0xFFFFFFFF)  # below every level that is known, and above every level
LANES = 8  # independent walks that the processor can work on at once with what it has at hand
NOT_ASKED = uint32(0xFFFFFFFF)  # no place


@compiled
def narrow(held, test, branch, is_threshold, child):
    """Tell a child which levels of the column lead to it from those that lead to its parent; by other tests none do."""
    low, high = held.low, held.high
    if not is_threshold:
        low, high = HIGHEST, LOWEST
    elif branch == uint32(0):
        high = min(high, test.key)
    else:
        low = max(low, test.key)
    child.low, child.high = low, high


@compiled
def mark_asked(nodes, tree, only_thresholds, column, first, holds):
    """The first place on the way to each place of a tree that asks the column, and the levels that lead there.

    Parents stand before their children. Whether the tree asks it at all.
    """
    tests, mask, is_asked, root = nodes.tests, column_mask(nodes), False, nodes.start[tree]
    first[root], holds[root].low, holds[root].high = NOT_ASKED, LOWEST, HIGHEST
    for place in range(uint64(root), uint64(nodes.start[tree + 1])):
        test = tests[place]
        if uint64(test.first) == place:
            continue
        n_branches = uint32(2) if only_thresholds else nodes.n_branches[place]
        is_threshold = only_thresholds or nodes.kind[place] == THRESHOLD
        asks = test.key & mask == uint32(column)
        is_asked |= asks
        for branch in range(n_branches):
            child = test.first + uint32(branch)
            first[child] = uint32(place) if asks and first[place] == NOT_ASKED else first[place]
            if asks:
                narrow(holds[place], test, uint32(branch), is_threshold, holds[child])
            else:
                holds[child].low, holds[child].high = holds[place].low, holds[place].high
    return is_asked


@compiled
def mark_all_asked(nodes, only_thresholds, column, leaf_at, first, holds, asked):
    """`permutation.Asked` of every tree; `leaf_at` is the place of each leaf, `first` and `holds` memory by place."""
    for tree in range(asked.is_asked.shape[0]):
        asked.is_asked[tree] = mark_asked(nodes, tree, only_thresholds, column, first, holds)
    for leaf in range(leaf_at.shape[0]):
        asked.first[leaf] = first[leaf_at[leaf]]
        asked.holds[leaf].low, asked.holds[leaf].high = holds[leaf_at[leaf]].low, holds[leaf_at[leaf]].high


@compiled
def sort_by_leaf(leaves, is_open, answering, rows):
    """Write `permutation.Rows.order` and `ends`: the rows of each block by the leaf of each tree they come to.

    Not those that are open, nor those that a tree does not answer.
    """
    n_rows, n_block = uint64(leaves.shape[1]), uint64(rows.n_block)
    for begin in range(uint64(0), n_rows, n_block):
        n, ends = min(n_block, n_rows - begin), rows.ends[begin // n_block]
        ends[:] = 0
        for tree in range(uint64(leaves.shape[0])):
            is_of_all = answering.shape[1] < leaves.shape[1]
            for row in range(begin, begin + n):
                if not is_open[row] and (is_of_all or answering[tree, row]):
                    ends[leaves[tree, row]] += 1
            at = 0
            for leaf in range(rows.leaf_start[tree], rows.leaf_start[tree + uint64(1)]):
                at += ends[leaf]
                ends[leaf] = at - ends[leaf]
            for row in range(begin, begin + n):
                if not is_open[row] and (is_of_all or answering[tree, row]):
                    leaf = leaves[tree, row]
                    rows.order[tree, begin + ends[leaf]] = row - begin
                    ends[leaf] += 1


@compiled
def add_answers(leaves, answers, rows, sums):
    """Add the answers of all trees to the sums of rows that are not open."""
    n_rows, is_of_all = uint64(sums.shape[0]), rows.answering.shape[1] < sums.shape[0]
    for tree in range(uint64(leaves.shape[0])):
        for row in range(n_rows):
            if not rows.is_open[row] and (is_of_all or rows.answering[tree, row]):
                answer = rows.answer_of[leaves[tree, row]]
                for k in range(uint64(sums.shape[1])):
                    sums[row, k] += answers[answer, k]


@compiled
def list_moving(rows, tree, begin, asked, room):
    """List the rows of a block whose new level leads away from their leaf in a tree; how many.

    Each with the place where its way first asks the column, and with the answer of its leaf.
    """
    moving, places, answers, levels = room.moving, room.places, room.answers, room.levels
    order, ends, n_moving, start = rows.order[tree], rows.ends[begin // uint64(rows.n_block)], uint64(0), uint64(0)
    for leaf in range(uint64(rows.leaf_start[tree]), uint64(rows.leaf_start[tree + uint64(1)])):
        end, first = uint64(ends[leaf]), asked.first[leaf]
        if first != NOT_ASKED:
            low, high, answer = asked.holds[leaf].low, asked.holds[leaf].high, rows.answer_of[leaf]
            for place in range(begin + start, begin + end):
                row = order[place]
                level = levels[row]
                moving[n_moving], places[n_moving], answers[n_moving] = row, first, answer
                n_moving += uint64(not ((low < level) & (level <= high)))
        start = end
    return n_moving


@compiled
def below(tests, mask, place, cells, at):
    """Where a row goes from a place; `at` is where its levels begin. A leaf leads to itself."""
    test = tests[place]
    return test.first + uint32(cells[at + (test.key & mask)] > test.key)


@making_arrays
def go_on_by_thresholds(tests, mask, room, n):
    """Send the n moving rows, at least one, on to their leaves: LANES at a time, until none of them moves."""
    moving, places, at, cells, last = room.moving, room.places, room.at, room.cells, n - uint64(1)
    for j in range(n):
        at[j] = moving[j] * uint32(cells.shape[1])
    levels = cells.ravel()
    for j0 in range(uint64(0), n, uint64(LANES)):
        j1, j2, j3 = min(j0 + uint64(1), last), min(j0 + uint64(2), last), min(j0 + uint64(3), last)
        j4, j5, j6 = min(j0 + uint64(4), last), min(j0 + uint64(5), last), min(j0 + uint64(6), last)
        j7 = min(j0 + uint64(7), last)
        a, b, c, d = places[j0], places[j1], places[j2], places[j3]
        e, f, g, h = places[j4], places[j5], places[j6], places[j7]
        r0, r1, r2, r3, r4, r5, r6, r7 = at[j0], at[j1], at[j2], at[j3], at[j4], at[j5], at[j6], at[j7]
        while True:
            before = a + b + c + d + e + f + g + h  # of places, which only grow on the way
            a = below(tests, mask, a, levels, r0)
            b = below(tests, mask, b, levels, r1)
            c = below(tests, mask, c, levels, r2)
            d = below(tests, mask, d, levels, r3)
            e = below(tests, mask, e, levels, r4)
            f = below(tests, mask, f, levels, r5)
            g = below(tests, mask, g, levels, r6)
            h = below(tests, mask, h, levels, r7)
            if a + b + c + d + e + f + g + h == before:
                break
        places[j0], places[j1], places[j2], places[j3] = a, b, c, d
        places[j4], places[j5], places[j6], places[j7] = e, f, g, h


@compiled
def go_on_by_branches(nodes, only_thresholds, room, n):
    """The same, whatever the tests and levels; a row that meets a value without a branch has no place then."""
    mask = column_mask(nodes)
    for j in range(n):
        row, place = room.moving[j], room.places[j]
        while nodes.tests[place].first != place:
            test = nodes.tests[place]
            level = room.cells[row, test.key & mask]
            branch = int32(level > test.key) - int32(level == MISSING)
            if not only_thresholds:
                branch = branch_at(nodes, place, test.key, level)
            if branch < int32(0):
                place = NOT_ASKED
                break
            place = test.first + uint32(branch)
        room.places[j] = place


@compiled
def add_change(answers, before, after, sums, row):
    """Add what a row's answer changes by, from one row of the table of answers to another."""
    if before != after:
        for k in range(uint64(sums.shape[1])):
            sums[row, k] += answers[after, k] - answers[before, k]


@compiled
def answer_to(nodes, tree, only_thresholds, cells, waiting, answer):
    """A tree's answer to a record, whatever it lacks; False where there is no room."""
    n = record_ends(nodes, tree, only_thresholds, WEIGHTED, cells, waiting, 0)
    for k in range(uint64(answer.shape[0])):
        answer[k] = 0.0
        for end in range(n):
            answer[k] += waiting.weights[end] * nodes.answers[nodes.answer_of[waiting.places[end]], k]
    return n >= 0


@making_arrays
def add_change_of_open(nodes, tree, only_thresholds, answer, column, level, cells, room, waiting, sums):
    """Add what the answer to a record changes by where it lacks a branch, now or before; False where there is no room.

    `answer` is the row of its answer before, or NOT_ASKED; then `level` is what stood in the column before.
    """
    has_room = answer_to(nodes, tree, only_thresholds, cells, waiting, room.after)
    if answer == NOT_ASKED:
        now, cells[column] = cells[column], level
        has_room &= answer_to(nodes, tree, only_thresholds, cells, waiting, room.before)
        cells[column] = now
    else:
        room.before[:] = nodes.answers[answer]
    for k in range(uint64(sums.shape[0])):
        sums[k] += room.after[k] - room.before[k]
    return has_room


@compiled
def add_changes_of_open(nodes, tree, only_thresholds, column, before, begin, n, rows, room, waiting, sums):
    """Add what a tree changes in the sums of open rows; False where there is no room."""
    is_of_all = rows.answering.shape[1] < sums.shape[0]
    for i in range(n):
        row = begin + i
        if rows.is_open[row] and (is_of_all or rows.answering[tree, row]):
            cells, level = room.cells[i], before[row]
            if not add_change_of_open(
                nodes, tree, only_thresholds, NOT_ASKED, column, level, cells, room, waiting, sums[row]
            ):  # fmt: skip
                return False
    return True


@compiled
def add_changes_in_tree(nodes, tree, only_thresholds, column, begin, rows, asked, room, waiting, sums):
    """Add what a tree changes in the sums of rows that are not open; False where there is no room."""
    n_moving = list_moving(rows, tree, begin, asked, room)
    if n_moving == uint64(0):
        return True
    if only_thresholds and not rows.has_open:
        go_on_by_thresholds(nodes.tests, column_mask(nodes), room, n_moving)
    else:
        go_on_by_branches(nodes, only_thresholds, room, n_moving)
    for j in range(n_moving):
        i, place, answer = uint64(room.moving[j]), room.places[j], room.answers[j]
        if place != NOT_ASKED:
            add_change(nodes.answers, answer, nodes.answer_of[place], sums, begin + i)
        elif not add_change_of_open(
            nodes, tree, only_thresholds, answer, column, MISSING, room.cells[i], room, waiting, sums[begin + i]
        ):
            return False
    return True


@compiled
def read_block(levels, after, column, begin, n, room):
    """Bring n rows near, each with all its levels side by side, and those of the shuffled column besides."""
    for i in range(n):
        for each in range(uint64(levels.shape[1])):
            room.cells[i, each] = levels[begin + i, each]
        room.cells[i, column] = room.levels[i] = after[begin + i]


@compiled
def add_changes(levels, after, column, nodes, only_thresholds, rows, asked, room, waiting, sums):
    """Add what all answers change by to `sums`; False where there is no room, and then they are not to be used.

    `levels[row, column]` are those of all values in their places, `after` is the column shuffled.
    """
    n_rows, n_block, before = uint64(sums.shape[0]), uint64(rows.n_block), levels[:, column]
    for begin in range(uint64(0), n_rows, n_block):
        n = min(n_block, n_rows - begin)
        read_block(levels, after, column, begin, n, room)
        for tree in range(uint64(asked.is_asked.shape[0])):
            if not asked.is_asked[tree]:
                continue
            if not add_changes_in_tree(nodes, tree, only_thresholds, column, begin, rows, asked, room, waiting, sums):
                return False
            if rows.has_open and not add_changes_of_open(
                nodes, tree, only_thresholds, column, before, begin, n, rows, room, waiting, sums
            ):
                return False
    return True
