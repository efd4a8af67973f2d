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
NO_POSITION = uint32(0xFFFFFFFF)  # no place


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
def find_first_tests(nodes, tree, only_thresholds, column, first, holds):
    """The first place on the way to each place of a tree that asks the column, and the levels that lead there.

    Parents stand before their children. Whether the tree asks it at all.
    """
    tests, mask, is_tested, root = nodes.tests, column_mask(nodes), False, nodes.start[tree]
    first[root], holds[root].low, holds[root].high = NO_POSITION, LOWEST, HIGHEST
    for position in range(uint64(root), uint64(nodes.start[tree + 1])):
        test = tests[position]
        if uint64(test.first) == position:
            continue
        n_branches = uint32(2) if only_thresholds else nodes.n_branches[position]
        is_threshold = only_thresholds or nodes.kind[position] == THRESHOLD
        is_on_column = test.key & mask == uint32(column)
        is_tested |= is_on_column
        for branch in range(n_branches):
            child = test.first + uint32(branch)
            first[child] = uint32(position) if is_on_column and first[position] == NO_POSITION else first[position]
            if is_on_column:
                narrow(holds[position], test, uint32(branch), is_threshold, holds[child])
            else:
                holds[child].low, holds[child].high = holds[position].low, holds[position].high
    return is_tested


@compiled
def find_all_first_tests(nodes, only_thresholds, column, leaf_at, first, holds, column_tests):
    """`permutation.Asked` of every tree; `leaf_at` is the place of each leaf, `first` and `holds` memory by place."""
    for tree in range(column_tests.is_tested.shape[0]):
        column_tests.is_tested[tree] = find_first_tests(nodes, tree, only_thresholds, column, first, holds)
    for leaf in range(leaf_at.shape[0]):
        column_tests.first[leaf] = first[leaf_at[leaf]]
        column_tests.holds[leaf].low, column_tests.holds[leaf].high = (
            holds[leaf_at[leaf]].low,
            holds[leaf_at[leaf]].high,
        )


@compiled
def sort_by_leaf(leaves, is_incomplete, answering, rows):
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
                if not is_incomplete[row] and (is_of_all or answering[tree, row]):
                    ends[leaves[tree, row]] += 1
            at = 0
            for leaf in range(rows.leaf_start[tree], rows.leaf_start[tree + uint64(1)]):
                at += ends[leaf]
                ends[leaf] = at - ends[leaf]
            for row in range(begin, begin + n):
                if not is_incomplete[row] and (is_of_all or answering[tree, row]):
                    leaf = leaves[tree, row]
                    rows.order[tree, begin + ends[leaf]] = row - begin
                    ends[leaf] += 1


@compiled
def add_answers(leaves, answers, rows, sums):
    """Add the answers of all trees to the sums of rows that are not open."""
    n_rows, is_of_all = uint64(sums.shape[0]), rows.answering.shape[1] < sums.shape[0]
    for tree in range(uint64(leaves.shape[0])):
        for row in range(n_rows):
            if not rows.is_incomplete[row] and (is_of_all or rows.answering[tree, row]):
                answer = rows.answer_of[leaves[tree, row]]
                for k in range(uint64(sums.shape[1])):
                    sums[row, k] += answers[answer, k]


@compiled
def list_moving(rows, tree, begin, column_tests, buffers):
    """List the rows of a block whose new level leads away from their leaf in a tree; how many.

    Each with the place where its way first asks the column, and with the answer of its leaf.
    """
    moving, positions, answers, ranks = buffers.moving, buffers.positions, buffers.answers, buffers.ranks
    order, ends, n_moving, start = rows.order[tree], rows.ends[begin // uint64(rows.n_block)], uint64(0), uint64(0)
    for leaf in range(uint64(rows.leaf_start[tree]), uint64(rows.leaf_start[tree + uint64(1)])):
        end, first = uint64(ends[leaf]), column_tests.first[leaf]
        if first != NO_POSITION:
            low, high, answer = column_tests.holds[leaf].low, column_tests.holds[leaf].high, rows.answer_of[leaf]
            for position in range(begin + start, begin + end):
                row = order[position]
                rank = ranks[row]
                moving[n_moving], positions[n_moving], answers[n_moving] = row, first, answer
                n_moving += uint64(not ((low < rank) & (rank <= high)))
        start = end
    return n_moving


@compiled
def below(tests, mask, position, cells, at):
    """Where a row goes from a place; `at` is where its levels begin. A leaf leads to itself."""
    test = tests[position]
    return test.first + uint32(cells[at + (test.key & mask)] > test.key)


@making_arrays
def go_on_by_thresholds(tests, mask, buffers, n):
    """Send the n moving rows, at least one, on to their leaves: LANES at a time, until none of them moves."""
    moving, positions, at, cells, last = buffers.moving, buffers.positions, buffers.at, buffers.cells, n - uint64(1)
    for j in range(n):
        at[j] = moving[j] * uint32(cells.shape[1])
    ranks = cells.ravel()
    for j0 in range(uint64(0), n, uint64(LANES)):
        j1, j2, j3 = min(j0 + uint64(1), last), min(j0 + uint64(2), last), min(j0 + uint64(3), last)
        j4, j5, j6 = min(j0 + uint64(4), last), min(j0 + uint64(5), last), min(j0 + uint64(6), last)
        j7 = min(j0 + uint64(7), last)
        a, b, c, d = positions[j0], positions[j1], positions[j2], positions[j3]
        e, f, g, h = positions[j4], positions[j5], positions[j6], positions[j7]
        r0, r1, r2, r3, r4, r5, r6, r7 = at[j0], at[j1], at[j2], at[j3], at[j4], at[j5], at[j6], at[j7]
        while True:
            before = a + b + c + d + e + f + g + h  # of places, which only grow on the way
            a = below(tests, mask, a, ranks, r0)
            b = below(tests, mask, b, ranks, r1)
            c = below(tests, mask, c, ranks, r2)
            d = below(tests, mask, d, ranks, r3)
            e = below(tests, mask, e, ranks, r4)
            f = below(tests, mask, f, ranks, r5)
            g = below(tests, mask, g, ranks, r6)
            h = below(tests, mask, h, ranks, r7)
            if a + b + c + d + e + f + g + h == before:
                break
        positions[j0], positions[j1], positions[j2], positions[j3] = a, b, c, d
        positions[j4], positions[j5], positions[j6], positions[j7] = e, f, g, h


@compiled
def go_on_by_branches(nodes, only_thresholds, buffers, n):
    """The same, whatever the tests and levels; a row that meets a value without a branch has no place then."""
    mask = column_mask(nodes)
    for j in range(n):
        row, position = buffers.moving[j], buffers.positions[j]
        while nodes.tests[position].first != position:
            test = nodes.tests[position]
            rank = buffers.cells[row, test.key & mask]
            branch = int32(rank > test.key) - int32(rank == MISSING)
            if not only_thresholds:
                branch = branch_at(nodes, position, test.key, rank)
            if branch < int32(0):
                position = NO_POSITION
                break
            position = test.first + uint32(branch)
        buffers.positions[j] = position


@compiled
def add_change(answers, before, after, sums, row):
    """Add what a row's answer changes by, from one row of the table of answers to another."""
    if before != after:
        for k in range(uint64(sums.shape[1])):
            sums[row, k] += answers[after, k] - answers[before, k]


@compiled
def answer_to(nodes, tree, only_thresholds, cells, scratch, answer):
    """A tree's answer to a record, whatever it lacks; False where there is no room."""
    n = record_ends(nodes, tree, only_thresholds, WEIGHTED, cells, scratch, 0)
    for k in range(uint64(answer.shape[0])):
        answer[k] = 0.0
        for end in range(n):
            answer[k] += scratch.weights[end] * nodes.answers[nodes.answer_of[scratch.positions[end]], k]
    return n >= 0


@making_arrays
def add_change_of_incomplete(nodes, tree, only_thresholds, answer, column, rank, cells, buffers, scratch, sums):
    """Add what the answer to a record changes by where it lacks a branch, now or before; False where there is no room.

    `answer` is the row of its answer before, or NOT_ASKED; then `level` is what stood in the column before.
    """
    fits = answer_to(nodes, tree, only_thresholds, cells, scratch, buffers.after)
    if answer == NO_POSITION:
        now, cells[column] = cells[column], rank
        fits &= answer_to(nodes, tree, only_thresholds, cells, scratch, buffers.before)
        cells[column] = now
    else:
        buffers.before[:] = nodes.answers[answer]
    for k in range(uint64(sums.shape[0])):
        sums[k] += buffers.after[k] - buffers.before[k]
    return fits


@compiled
def add_changes_of_incomplete(nodes, tree, only_thresholds, column, before, begin, n, rows, buffers, scratch, sums):
    """Add what a tree changes in the sums of open rows; False where there is no room."""
    is_of_all = rows.answering.shape[1] < sums.shape[0]
    for i in range(n):
        row = begin + i
        if rows.is_incomplete[row] and (is_of_all or rows.answering[tree, row]):
            cells, rank = buffers.cells[i], before[row]
            if not add_change_of_incomplete(
                nodes, tree, only_thresholds, NO_POSITION, column, rank, cells, buffers, scratch, sums[row]
            ):  # fmt: skip
                return False
    return True


@compiled
def add_changes_in_tree(nodes, tree, only_thresholds, column, begin, rows, column_tests, buffers, scratch, sums):
    """Add what a tree changes in the sums of rows that are not open; False where there is no room."""
    n_moving = list_moving(rows, tree, begin, column_tests, buffers)
    if n_moving == uint64(0):
        return True
    if only_thresholds and not rows.has_incomplete:
        go_on_by_thresholds(nodes.tests, column_mask(nodes), buffers, n_moving)
    else:
        go_on_by_branches(nodes, only_thresholds, buffers, n_moving)
    for j in range(n_moving):
        i, position, answer = uint64(buffers.moving[j]), buffers.positions[j], buffers.answers[j]
        if position != NO_POSITION:
            add_change(nodes.answers, answer, nodes.answer_of[position], sums, begin + i)
        elif not add_change_of_incomplete(
            nodes,
            tree,
            only_thresholds,
            answer,
            column,
            MISSING,
            buffers.cells[i],
            buffers,
            scratch,
            sums[begin + i],
        ):
            return False
    return True


@compiled
def read_block(ranks, after, column, begin, n, buffers):
    """Bring n rows near, each with all its levels side by side, and those of the shuffled column besides."""
    for i in range(n):
        for each in range(uint64(ranks.shape[1])):
            buffers.cells[i, each] = ranks[begin + i, each]
        buffers.cells[i, column] = buffers.ranks[i] = after[begin + i]


@compiled
def add_changes(ranks, after, column, nodes, only_thresholds, rows, column_tests, buffers, scratch, sums):
    """Add what all answers change by to `sums`; False where there is no room, and then they are not to be used.

    `levels[row, column]` are those of all values in their places, `after` is the column shuffled.
    """
    n_rows, n_block, before = uint64(sums.shape[0]), uint64(rows.n_block), ranks[:, column]
    for begin in range(uint64(0), n_rows, n_block):
        n = min(n_block, n_rows - begin)
        read_block(ranks, after, column, begin, n, buffers)
        for tree in range(uint64(column_tests.is_tested.shape[0])):
            if not column_tests.is_tested[tree]:
                continue
            if not add_changes_in_tree(
                nodes, tree, only_thresholds, column, begin, rows, column_tests, buffers, scratch, sums
            ):
                return False
            if rows.has_incomplete and not add_changes_of_incomplete(
                nodes, tree, only_thresholds, column, before, begin, n, rows, buffers, scratch, sums
            ):
                return False
    return True
