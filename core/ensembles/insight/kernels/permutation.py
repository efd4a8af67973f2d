"""`permutation.ShuffledAnswers`, compiled: only rows whose new value leads away from their leaf descend again.

Values are ranks among thresholds (`ensembles.prediction.ranks`), and the ranks of a column that lead to a leaf are an
interval, found beforehand. Rows whose new rank is outside continue from the first test of the column on their path, a
few at a time, until all are in leaves.
"""

from numba import int32, uint32, uint64

from core.compiler.compile import compiled, making_arrays
from core.ensembles.prediction.kernels.predictor import MISSING, branch_at, column_mask, record_ends
from core.prediction.kernels.routing import WEIGHTED
from core.tree.layout import THRESHOLD

LOWEST, HIGHEST = uint32(0), uint32(0xFFFFFFFF)  # below every known rank, and above every rank
LANES = 8  # independent walks at once, with all positions in registers
NO_POSITION = uint32(0xFFFFFFFF)  # where no test on the path reads the column, or a value has no branch


@compiled
def narrow(held, test, branch, is_threshold, child):
    """Narrow the interval of ranks that lead to a parent to those that lead to a child; empty unless a threshold."""
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
    """For each position of a tree, the first test of the column on the path to it, and the ranks that lead there.

    Parents come before their children. Returns whether the tree tests the column at all.
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
    """Fill `permutation.ColumnTests`; `leaf_at` is the position by leaf, `first` and `holds` scratch by position."""
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
    """Write `permutation.Rows.order` and `ends`: the rows of each block sorted by their leaf in each tree.

    Incomplete rows, and rows that a tree does not answer, are left out.
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
    """Add the answers of all trees to the sums of complete rows."""
    n_rows, is_of_all = uint64(sums.shape[0]), rows.answering.shape[1] < sums.shape[0]
    for tree in range(uint64(leaves.shape[0])):
        for row in range(n_rows):
            if not rows.is_incomplete[row] and (is_of_all or rows.answering[tree, row]):
                answer = rows.answer_of[leaves[tree, row]]
                for k in range(uint64(sums.shape[1])):
                    sums[row, k] += answers[answer, k]


@compiled
def list_moving(rows, tree, begin, column_tests, buffers):
    """List and count the rows of a block whose new rank leads away from their leaf in a tree.

    Each with the first test of the column on its path, and with the answer of its leaf.
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
    """Where a row goes from a position; its ranks start at `at`. A leaf leads to itself."""
    test = tests[position]
    return test.first + uint32(cells[at + (test.key & mask)] > test.key)


@making_arrays
def go_on_by_thresholds(tests, mask, buffers, n):
    """Send the n moving rows, at least one, to their leaves: LANES at a time, until none of them moves."""
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
            before = a + b + c + d + e + f + g + h  # positions only grow on the way down
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
    """Send the n moving rows to their leaves, for tests of any kind; NO_POSITION where a value has no branch."""
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
    """Add the difference between two rows of the table of answers to the sum of a row."""
    if before != after:
        for k in range(uint64(sums.shape[1])):
            sums[row, k] += answers[after, k] - answers[before, k]


@compiled
def answer_to(nodes, tree, only_thresholds, cells, scratch, answer):
    """Write a tree's answer to a record, complete or not; False if `scratch` is too small."""
    n = record_ends(nodes, tree, only_thresholds, WEIGHTED, cells, scratch, 0)
    for k in range(uint64(answer.shape[0])):
        answer[k] = 0.0
        for end in range(n):
            answer[k] += scratch.weights[end] * nodes.answers[nodes.answer_of[scratch.positions[end]], k]
    return n >= 0


@making_arrays
def add_change_of_incomplete(nodes, tree, only_thresholds, answer, column, rank, cells, buffers, scratch, sums):
    """Add the change of an answer where a branch is lacking, now or before; False if `scratch` is too small.

    `answer` is the row of the answer before, or NO_POSITION; then `rank` is the column's rank before.
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
    """Add a tree's changes to the sums of incomplete rows; False if `scratch` is too small."""
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
    """Add a tree's changes to the sums of complete rows; False if `scratch` is too small."""
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
    """Copy n rows into `buffers`, each with its ranks side by side, with the shuffled column in place."""
    for i in range(n):
        for each in range(uint64(ranks.shape[1])):
            buffers.cells[i, each] = ranks[begin + i, each]
        buffers.cells[i, column] = buffers.ranks[i] = after[begin + i]


@compiled
def add_changes(ranks, after, column, nodes, only_thresholds, rows, column_tests, buffers, scratch, sums):
    """Add the changes of all answers to `sums`; False if `scratch` is too small, and then `sums` are wrong.

    `ranks[row, column]` are those before shuffling, `after` is the shuffled column.
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
