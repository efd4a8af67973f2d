"""Splitting a node: where each row goes, the sums of the branches, and the children's segments of the lists.

The compiled twin of `fractional_weights.send_down`.
"""

from numba import int64, uint32, uint64

from core.compiler.compile import compiled
from core.compiler.eight_lanes import no_sums, plus_products, sum_in_lane
from core.criteria.kernels.impurity import SQUARED
from core.growth.kernels.node.split_list import (
    BOTH,
    EVERY,
    LEFT,
    RIGHT,
    keep_in_list,
    split_distinct_by_branch,
    split_known_by_branch,
    split_list,
    split_list_by_branch,
)
from core.growth.kernels.node.state import DEPTH, NODE
from core.growth.kernels.node.sums import is_leaf, is_one_class, node_figures

MOST_SUMMED = 3  # classes: with their sums in two branches and the branches' weights, eight numbers


@compiled
def take_sides(problem, entries, list_start, position, list_n, rows, start, n, side, left_counts, is_counted):
    """Set `side` of each row of the node: the child it goes to by the cut, or both where the value is missing.

    Where rows are counted, also fills `left_counts` with the classes on the left.
    """
    shift = uint32(problem.shift)
    mask = (uint32(1) << shift) - uint32(1)
    class_mask = (uint32(1) << uint32(31 - problem.shift)) - uint32(1)
    if problem.has_missing:
        for i in range(start, start + n):
            side[rows[i]] = BOTH
    for k in range(left_counts.shape[0]):
        left_counts[k] = 0
    for i in range(list_start, position if is_counted else list_start):
        side[entries[i] & mask] = LEFT
        left_counts[(entries[i] >> shift) & class_mask] += 1
    for i in range(list_start, list_start if is_counted else position):
        side[entries[i] & mask] = LEFT
    for i in range(position, list_start + list_n):
        side[entries[i] & mask] = RIGHT


@compiled
def branch_figures(problem, rules, work, rows, start, n, n_branches, figures, out, at):
    """Fill `out` from `at` on: the known weight of each branch, then its sums, added up in row order.

    Fills `work.unknown` with the rows that go down every branch, and returns their number.
    """
    weights, classes, numbers = problem.weights, problem.classes, problem.numbers
    side, branch, unknown = work.side, work.branch, work.unknown
    m, is_squared = numbers.shape[1], rules.criterion == SQUARED
    width = 1 + 2 * m if is_squared else rules.n_classes
    for j in range(n_branches * (1 + width)):
        out[at + j] = 0.0
    if n_branches == 2 and not is_squared:
        return class_weights_of_two(problem, work, rows, start, n, width, out, at)
    n_unknown = 0
    for i in range(start, start + n):
        row = rows[i]
        if side[row] == BOTH:
            unknown[n_unknown] = row
            n_unknown += 1
            continue
        to = int64(side[row] >> 1) if n_branches == 2 else int64(branch[row])
        weight = weights[row]
        position = at + n_branches + to * width
        out[at + to] += weight
        if is_squared:
            out[position] += weight
            for j in range(m):
                off = numbers[row, j] - figures[1 + j]
                out[position + 1 + j] += off * weight
                out[position + 1 + m + j] += off * off * weight
        else:
            out[position + classes[row]] += weight
    return n_unknown


@compiled
def class_weights_of_two(problem, work, rows, start, n, n_classes, out, at):
    """`branch_figures` of two branches by class, without a conditional jump: where a row goes is hard to predict.

    To a branch that it does not go down, or not alone, a row adds nothing: x + 0 is x.
    """
    weights, classes, side, parts, unknown = problem.weights, problem.classes, work.side, work.parts, work.unknown
    if n_classes <= MOST_SUMMED:
        return few_class_weights_of_two(problem, work, rows, start, n, n_classes, out, at)
    for to in range(LEFT, BOTH + 1):
        parts[0, to], parts[1, to] = 1.0 * (to == LEFT), 1.0 * (to == RIGHT)
    first, second, n_unknown = uint64(at + 2), uint64(at + 2 + n_classes), uint64(0)
    left_weight, right_weight = 0.0, 0.0
    i, end = uint64(start), uint64(start + n)
    while i < end:
        row = rows[i]
        to, k, weight = side[row], uint64(classes[row]), weights[row]
        left, right = weight * parts[0, to], weight * parts[1, to]
        unknown[n_unknown] = row
        n_unknown += uint64((to + uint64(1)) >> uint64(2))  # 1 for both
        left_weight += left
        right_weight += right
        out[first + k] += left
        out[second + k] += right
        i += uint64(1)
    out[at], out[at + 1] = left_weight, right_weight
    return int64(n_unknown)


@compiled
def few_class_weights_of_two(problem, work, rows, start, n, n_classes, out, at):
    """`class_weights_of_two` for up to three classes, whose sums in both branches fit into eight lanes."""
    weights, classes, side, unknown, ways = problem.weights, problem.classes, work.side, work.unknown, work.known_ways
    sums, n_unknown = no_sums(), uint64(0)
    i, end = uint64(start), uint64(start + n)
    while i < end:
        row = rows[i]
        to = uint64(side[row])
        unknown[n_unknown] = row
        n_unknown += (to + uint64(1)) >> uint64(2)  # 1 for both
        sums = plus_products(sums, ways, way_of(to, classes[row]), weights[row])
        i += uint64(1)
    take_sums(sums, out, at, at + 2, n_classes, 0)
    take_sums(sums, out, at + 1, at + 2 + n_classes, n_classes, 1)
    return int64(n_unknown)


@compiled
def way_of(to, k):
    """The index of the eight factors of a row of class k that goes that way.

    See `growth.kernels.lists.scratch.ways_of_rows`.
    """
    return ((uint64(to) << uint64(2)) | uint64(k)) << uint64(3)


@compiled
def take_sums(sums, out, weight_at, at, n_classes, branch):
    """Store a branch's weight and its class weights, from eight lanes."""
    lane = 4 * branch
    out[weight_at] = sum_in_lane(sums, lane)
    for k in range(n_classes):
        out[at + k] = sum_in_lane(sums, lane + 1 + k)


@compiled
def counted_branches(counts, left_counts, out, at):
    """`branch_figures` of two branches where every weight is 1: whole numbers, exact in any order."""
    n_classes = counts.shape[0]
    out[at], out[at + 1] = 0.0, 0.0
    for k in range(n_classes):
        right = counts[k] - left_counts[k]
        out[at + 2 + k] = left_counts[k]
        out[at + 2 + n_classes + k] = right
        out[at] += left_counts[k]
        out[at + 1] += right


@compiled
def copy_figures(sums, at, n_branches, b, n_classes, figures):
    """The figures of a child whose rows all have a known value: those of its branch."""
    figures[0] = sums[at + b]
    for k in range(n_classes):
        figures[1 + k] = sums[at + n_branches + b * n_classes + k]


@compiled
def store_copies(problem, copied, n, share, aside_rows, aside_weights, at):
    """Store the rows that go down every branch with their weights in one, where above 0; returns their number."""
    kept, weights = 0, problem.weights
    for i in range(n):
        weight = weights[copied[i]] * share
        if weight > 0.0:
            aside_rows[at + kept], aside_weights[at + kept] = copied[i], weight
            kept += 1
    return kept


@compiled
def split_rows(problem, work, rows, start, n, keeper, kept_figures, moved_figures):
    """Split a node's rows and sum the `node_figures` of both children in the same pass; how many each got.

    To the figures of the child that it does not go to, a row adds nothing: x + 0 is x.
    """
    weights, classes, side, parts, spare = problem.weights, problem.classes, work.side, work.parts, work.spare
    if kept_figures.shape[0] <= 1 + MOST_SUMMED:
        return split_rows_of_few(problem, work, rows, start, n, keeper, kept_figures, moved_figures)
    mover = 1 - keeper
    for k in range(kept_figures.shape[0]):
        kept_figures[k], moved_figures[k] = 0.0, 0.0
    parts[0, 1 + keeper], parts[0, 1 + mover], parts[0, BOTH] = 1.0, 0.0, work.shares[keeper]
    parts[1, 1 + keeper], parts[1, 1 + mover], parts[1, BOTH] = 0.0, 1.0, work.shares[mover]
    stays, goes = uint64(keeper), uint64(mover)
    i, end = uint64(start), uint64(start + n)
    here, there = uint64(start), uint64(0)
    kept_weight, moved_weight = 0.0, 0.0
    while i < end:
        row = rows[i]
        to, k, weight = side[row], uint64(classes[row]) + uint64(1), weights[row]
        kept, moved = weight * parts[0, to], weight * parts[1, to]
        rows[here], spare[there] = row, row
        here += (uint64(to) >> stays) & uint64(1)
        there += (uint64(to) >> goes) & uint64(1)
        kept_figures[k] += kept
        moved_figures[k] += moved
        kept_weight += kept
        moved_weight += moved
        i += uint64(1)
    kept_figures[0], moved_figures[0] = kept_weight, moved_weight
    copy_entries(spare, int64(0), int64(there), rows, int64(here))
    return int64(here) - start, int64(there)


@compiled
def split_rows_of_few(problem, work, rows, start, n, keeper, kept_figures, moved_figures):
    """`split_rows` for up to three classes, whose sums in both children fit into eight lanes."""
    weights, classes, side, spare, ways = problem.weights, problem.classes, work.side, work.spare, work.ways
    stays, goes, n_classes = uint64(keeper), uint64(1 - keeper), kept_figures.shape[0] - 1
    for k in range(n_classes):
        at = way_of(BOTH, k)
        ways[at], ways[at + uint64(1 + k)] = work.shares[0], work.shares[0]
        ways[at + uint64(4)], ways[at + uint64(5 + k)] = work.shares[1], work.shares[1]
    i, end = uint64(start), uint64(start + n)
    here, there, sums = uint64(start), uint64(0), no_sums()
    while i < end:
        row = rows[i]
        to = uint64(side[row])
        rows[here], spare[there] = row, row
        here += (to >> stays) & uint64(1)
        there += (to >> goes) & uint64(1)
        sums = plus_products(sums, ways, way_of(to, classes[row]), weights[row])
        i += uint64(1)
    take_sums(sums, kept_figures, 0, 1, n_classes, keeper)
    take_sums(sums, moved_figures, 0, 1, n_classes, 1 - keeper)
    copy_entries(spare, int64(0), int64(there), rows, int64(here))
    return int64(here) - start, int64(there)


@compiled
def open_child(problem, rules, work, rows, start, n, sums, at, n_branches, b, is_known, is_summed, depth, figures):
    """Sum the figures of a child whose rows are in place, unless done before; returns whether it is split further."""
    m = problem.numbers.shape[1]
    if n == 0:
        for j in range(figures.shape[0]):
            figures[j] = 0.0
        return False
    if rules.criterion != SQUARED and (is_known or is_summed):
        if not is_summed:
            copy_figures(sums, at, n_branches, b, rules.n_classes, figures)
        is_pure = is_one_class(figures, rules.n_classes)
    else:
        share = 1.0 if is_known else work.shares[b]
        is_pure = node_figures(problem, rules, rows, start, n, work.side, share, work.left_counts, figures)
    return not is_leaf(figures, is_pure, depth, rules, m)


@compiled
def split_segment(problem, work, entries, start, n, keeper, is_distinct, flag):
    """Split a node's segment of a list between its children; returns how many entries each got, the keeper first."""
    work.flags[BOTH] = flag
    kept, moved = split_list(entries, start, n, problem.shift, work.side, keeper, work.spare, is_distinct, work.flags)
    copy_entries(work.spare, int64(0), moved, entries, start + kept)
    return kept, moved


@compiled
def copy_entries(source, begin, end, entries, position):
    """Copy `source[begin:end]` to `entries` from `position` on, which may be a lower index of the same list."""
    first, to = uint64(begin), uint64(position)
    for i in range(uint64(end - begin)):
        entries[to + i] = source[first + i]


@compiled
def split_in_two(
    problem, rules, work, stack, lists, rows, here, depth, first_node, figures, sums, at, is_known, keeper, flag
):
    """Give both children their rows and, unless they are leaves, their segments of the lists; how many nodes wait then.

    The keeper, which has more rows, stays in the parent's memory and waits longer. Entries that go to both children get
    the flag only where both get any.
    """
    starts, lengths, infos, spent = stack
    n_lists, side, mover = problem.lengths.shape[0], work.side, 1 - keeper
    start, n = starts[here, n_lists], lengths[here, n_lists]
    is_summed, is_distinct = not is_known and rules.criterion != SQUARED, n > 0
    kept_figures, moved_figures = figures[first_node + keeper], figures[first_node + mover]
    if is_summed:
        kept, moved = split_rows(problem, work, rows, start, n, keeper, kept_figures, moved_figures)
    else:
        kept, moved = split_segment(problem, work, rows, start, n, keeper, is_distinct, uint32(0))
    keeps = open_child(
        problem, rules, work, rows, start, kept, sums, at, 2, keeper, is_known, is_summed, depth, kept_figures
    )
    moves = open_child(
        problem, rules, work, rows, start + kept, moved, sums, at, 2, mover, is_known, is_summed, depth, moved_figures
    )
    bigger, smaller = here, here + 1 if keeps else here
    if moves:
        starts[smaller, n_lists], lengths[smaller, n_lists] = start + kept, moved
        infos[smaller, NODE], infos[smaller, DEPTH] = first_node + mover, depth
        for a in range(spent.shape[1]):
            spent[smaller, a] = spent[here, a]
    if keeps:
        lengths[bigger, n_lists] = kept
        infos[bigger, NODE], infos[bigger, DEPTH] = first_node + keeper, depth
    for c in range(n_lists):
        list_start, list_n = starts[here, c], lengths[here, c]
        if keeps and moves:
            kept, moved = split_segment(problem, work, lists[c], list_start, list_n, keeper, problem.distinct[c], flag)
            lengths[bigger, c] = kept
            starts[smaller, c], lengths[smaller, c] = list_start + kept, moved
        elif keeps or moves:
            child = keeper if keeps else mover
            lengths[here, c] = keep_in_list(
                lists[c], list_start, list_n, problem.shift, side, child, problem.distinct[c]
            )
    return here + int64(keeps) + int64(moves)


@compiled
def split_by_branch(
    problem, rules, work, stack, lists, rows, here, depth, first_node, n_branches, figures, sums, at, is_known
):
    """Give a multiway split's children their rows and, unless leaves, their list segments; how many nodes wait then.

    Below, the split's coded column is spent.
    """
    starts, lengths, infos, spent = stack
    n_lists, positions = problem.lengths.shape[0], work.positions
    start, n = starts[here, n_lists], lengths[here, n_lists]
    for b in range(n_branches):
        positions[0, b] = 0
    begin = set_branch_positions(problem, work, rows, start, n, n_branches)
    if problem.has_missing:
        split_list_by_branch(
            rows, start, n, problem.shift, work.branch, n_branches, positions, work.shares, problem.weights, rows
        )
    else:
        for b in range(n_branches):
            positions[3, b] = 1
        split_distinct_by_branch(rows, start, n, problem.shift, work.branch, positions, work.spare)
    position = begin
    for b in range(n_branches):
        position += positions[2, b]
    copy_entries(rows if problem.has_missing else work.spare, begin, position, rows, start)
    n_open, position, is_summed = 0, start, n < 0
    for b in range(n_branches):
        size = positions[2, b]
        is_open = open_child(
            problem,
            rules,
            work,
            rows,
            position,
            size,
            sums,
            at,
            n_branches,
            b,
            is_known,
            is_summed,
            depth,
            figures[first_node + b],
        )
        work.open_rows[n_open], work.open_sizes[n_open], work.open_branches[n_open] = position, size, b
        positions[3, b] = is_open
        n_open += is_open
        position += size
    for c in range(n_lists + 1):
        work.parent_starts[c], work.parent_lengths[c] = starts[here, c], lengths[here, c]
    for e in range(n_open - 1, -1, -1):
        for a in range(spent.shape[1]):
            spent[here + e, a] = spent[here, a]
        infos[here + e, NODE], infos[here + e, DEPTH] = first_node + work.open_branches[e], depth
        starts[here + e, n_lists], lengths[here + e, n_lists] = work.open_rows[e], work.open_sizes[e]
    if n_open == 0:
        return here
    for c in range(n_lists):
        list_start, list_n = work.parent_starts[c], work.parent_lengths[c]
        if problem.has_missing:
            begin, nowhere = set_branch_positions(problem, work, lists[c], list_start, list_n, n_branches), -1
        else:  # every list has an entry for each row
            begin, nowhere = 0, work.spare.shape[0] - 1
        position = begin
        for b in range(n_branches):
            positions[0, b], positions[1, b] = position if positions[3, b] else nowhere, -1
            position += positions[2, b] if positions[3, b] else 0
        e = 0
        for b in range(n_branches):
            if positions[3, b]:
                starts[here + e, c], lengths[here + e, c] = list_start + positions[0, b] - begin, positions[2, b]
                e += 1
        if problem.has_missing:
            split_list_by_branch(
                lists[c],
                list_start,
                list_n,
                problem.shift,
                work.branch,
                n_branches,
                positions,
                work.shares,
                problem.weights,
                lists[c],
            )
        elif problem.distinct[c]:
            split_distinct_by_branch(lists[c], list_start, list_n, problem.shift, work.branch, positions, work.spare)
        else:
            split_known_by_branch(lists[c], list_start, list_n, problem.shift, work.branch, positions, work.spare)
        copy_entries(lists[c] if problem.has_missing else work.spare, begin, position, lists[c], list_start)
        for e in range(n_open):
            if lengths[here + e, c] > 0:
                lists[c, starts[here + e, c]] &= ~(uint32(1) << uint32(31))  # the first value of a list is not new
    return here + n_open


@compiled
def set_branch_positions(problem, work, entries, start, n, n_branches):
    """Set where each branch's entries are written, one branch after the other, and how many; the first position.

    They go to the spare buffer, or above the parent's segment where copies may make them more than its rows.
    """
    positions, branch, weights, shares = work.positions, work.branch, problem.weights, work.shares
    row_mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    for b in range(n_branches):
        positions[1, b], positions[2, b] = -1, 0
    for i in range(start, start + n):
        row = entries[i] & row_mask
        to = branch[row]
        if to == EVERY:
            for b in range(n_branches):
                positions[2, b] += weights[row] * shares[b] > 0.0
        else:
            positions[2, to] += 1
    begin = start + n if problem.has_missing else 0
    position = begin
    for b in range(n_branches):
        positions[0, b] = position
        position += positions[2, b]
    return begin
