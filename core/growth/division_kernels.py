"""The division of a node: who goes where, what that adds up to, and the children's pieces of the lists.

The compiled twin of `fractional_weights.send_down`.
"""

from numba import int64, uint32

from core.compiled_kernels import compiled
from core.growth.growth_state import DEPTH, NODE
from core.growth.node_kernels import is_leaf, is_one_class, node_figures
from core.growth.partition_kernels import (
    BOTH,
    EVERY,
    LEFT,
    RIGHT,
    divide_list,
    divide_list_by_branch,
    keep_in_list,
)
from core.splits.numeric_kernels import SQUARED
from core.ties import TIE


@compiled
def take_sides(problem, entries, list_start, place, list_n, rows, start, n, side, left_counts):
    """Mark each row of the node with the child it goes to: by the cut, or to both where the value is missing.

    Counts the classes on the left on the way.
    """
    shift = uint32(problem.shift)
    mask = (uint32(1) << shift) - uint32(1)
    class_mask = (uint32(1) << uint32(31 - problem.shift)) - uint32(1)
    if problem.has_missing:
        for i in range(start, start + n):
            side[rows[i]] = BOTH
    for k in range(left_counts.shape[0]):
        left_counts[k] = 0
    for i in range(list_start, place):
        side[entries[i] & mask] = LEFT
        left_counts[(entries[i] >> shift) & class_mask] += 1
    for i in range(place, list_start + list_n):
        side[entries[i] & mask] = RIGHT


@compiled
def take_branches(problem, j, branch_of, rows, start, n, side, branch):
    """The same by the codes of a coded column, with as many branches as there may be; how many go down the first."""
    codes, n_left = problem.codes, 0
    for i in range(start, start + n):
        row = rows[i]
        to = branch_of[codes[row, j]]
        branch[row] = to
        side[row] = BOTH if to == EVERY else min(to, 1)
        n_left += to == 0
    return n_left


@compiled
def branch_figures(problem, rules, rows, start, n, side, branch, n_branches, figures, out, at):
    """From `out[at]` on: the known weight of each branch, then its sums, added up in row order.

    Returns whether every row is known.
    """
    weights, classes, numbers = problem.weights, problem.classes, problem.numbers
    m, is_squared = numbers.shape[1], rules.criterion == SQUARED
    width = 1 + 2 * m if is_squared else rules.n_classes
    for j in range(n_branches * (1 + width)):
        out[at + j] = 0.0
    is_complete = True
    for i in range(start, start + n):
        row = rows[i]
        if side[row] == BOTH:
            is_complete = False
            continue
        to = int64(side[row]) if n_branches == 2 else int64(branch[row])
        weight = weights[row]
        place = at + n_branches + to * width
        out[at + to] += weight
        if is_squared:
            out[place] += weight
            for j in range(m):
                off = numbers[row, j] - figures[1 + j]
                out[place + 1 + j] += off * weight
                out[place + 1 + m + j] += off * off * weight
        else:
            out[place + classes[row]] += weight
    return is_complete


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
    """The figures of a child all of whose rows are known: those of its branch."""
    figures[0] = sums[at + b]
    for k in range(n_classes):
        figures[1 + k] = sums[at + n_branches + b * n_classes + k]


@compiled
def settle_copies(problem, rules, rows, start, n, side, branch, shares, n_branches):
    """Rows that would go down every branch, but should not: those whose parts weigh too little go the heavier way.

    A part that rounds to nothing is no part: with two branches the row then goes one way. Returns how many are left.
    """
    smallest, largest = 1.0, 0.0
    for b in range(n_branches):
        largest = max(largest, shares[b])
        if shares[b] > 0.0:
            smallest = min(smallest, shares[b])
    heavier = 0
    while shares[heavier] < largest - TIE:
        heavier += 1
    n_left = 0
    for i in range(start, start + n):
        row = rows[i]
        if side[row] == BOTH:
            weight, to = problem.weights[row], -1
            if rules.min_copy > 0.0 and weight * smallest < rules.min_copy - TIE:
                to = heavier
            elif n_branches == 2 and min(weight * shares[0], weight * shares[1]) <= 0.0:
                to = 0 if shares[0] > shares[1] else 1
                problem.weights[row] = weight * shares[to]
            if to < 0:
                n_left += 1
            else:
                side[row] = min(to, 1)
                if n_branches > 2:
                    branch[row] = to
    return n_left


@compiled
def put_aside(problem, rows, start, n, side, share, aside_rows, aside_weights, at):
    """Keep what the rows that go down every branch weigh in one of them; how many."""
    kept, weights = 0, problem.weights
    for i in range(start, start + n):
        row = rows[i]
        if side[row] == BOTH:
            aside_rows[at + kept] = row
            aside_weights[at + kept] = weights[row] * share
            kept += 1
    return kept


@compiled
def open_child(problem, rules, work, rows, start, n, sums, at, n_branches, b, is_known, depth, figures):
    """The figures of a child whose rows are in place; whether it is to be split any further."""
    m = problem.numbers.shape[1]
    if n == 0:
        for j in range(figures.shape[0]):
            figures[j] = 0.0
        return False
    if is_known and rules.criterion != SQUARED:
        copy_figures(sums, at, n_branches, b, rules.n_classes, figures)
        is_pure = is_one_class(figures, rules.n_classes)
    else:
        share = 1.0 if is_known else work.shares[b]
        is_pure = node_figures(problem, rules, rows, start, n, work.side, share, work.left_counts, figures)
    return not is_leaf(figures, is_pure, depth, rules, m)


@compiled
def divide_in_two(
    problem, rules, work, stack, lists, rows, here, depth, first_node, figures, sums, at, is_known, keeper
):
    """Give both children their rows and, unless they are leaves, their pieces of the lists; how many wait then.

    The keeper, which has more rows, stays in the parent's place and waits longer.
    """
    starts, lengths, tops, infos, spent = stack
    n_lists, side, shift = problem.lengths.shape[0], work.side, problem.shift
    start, n, top = starts[here, n_lists], lengths[here, n_lists], tops[here, n_lists]
    if problem.has_missing:
        place = top
        kept, moved = divide_list(rows, start, n, shift, side, keeper, rows, place)
    else:
        kept, moved = divide_list(rows, start, n, shift, side, keeper, work.spare, 0)
        place = start + kept
        for i in range(moved):
            rows[place + i] = work.spare[i]
    keeps = open_child(
        problem, rules, work, rows, start, kept, sums, at, 2, keeper, is_known, depth, figures[first_node + keeper]
    )
    moves = open_child(
        problem,
        rules,
        work,
        rows,
        place,
        moved,
        sums,
        at,
        2,
        1 - keeper,
        is_known,
        depth,
        figures[first_node + 1 - keeper],
    )
    bigger, smaller = here, here + 1 if keeps else here
    if moves:
        starts[smaller, n_lists], lengths[smaller, n_lists] = place, moved
        tops[smaller, n_lists] = place + moved if problem.has_missing else top
        infos[smaller, NODE], infos[smaller, DEPTH] = first_node + 1 - keeper, depth
        for a in range(spent.shape[1]):
            spent[smaller, a] = spent[here, a]
    if keeps:
        lengths[bigger, n_lists] = kept
        infos[bigger, NODE], infos[bigger, DEPTH] = first_node + keeper, depth
    for c in range(n_lists):
        list_start, list_n, list_top = starts[here, c], lengths[here, c], tops[here, c]
        if keeps and moves:
            if problem.has_missing:
                place = list_top
                kept, moved = divide_list(lists[c], list_start, list_n, shift, side, keeper, lists[c], place)
            else:
                kept, moved = divide_list(lists[c], list_start, list_n, shift, side, keeper, work.spare, 0)
                place = list_start + kept
                for i in range(moved):
                    lists[c, place + i] = work.spare[i]
            lengths[bigger, c] = kept
            starts[smaller, c], lengths[smaller, c] = place, moved
            tops[smaller, c] = place + moved if problem.has_missing else list_top
        elif keeps or moves:
            child = keeper if keeps else 1 - keeper
            lengths[here, c] = keep_in_list(lists[c], list_start, list_n, shift, side, child)
    return here + int64(keeps) + int64(moves)


@compiled
def divide_by_branch(
    problem, rules, work, stack, lists, rows, here, depth, first_node, n_branches, figures, sums, at, is_known
):
    """The same for a multiway split; its coded column has nothing more to tell below."""
    starts, lengths, tops, infos, spent = stack
    n_lists, places = problem.lengths.shape[0], work.places
    start, n = starts[here, n_lists], lengths[here, n_lists]
    for b in range(n_branches):
        places[0, b] = 0
    begin = place_branches(problem, work, rows, start, n, tops[here, n_lists], n_branches)
    divide_list_by_branch(
        rows,
        start,
        n,
        problem.shift,
        work.branch,
        n_branches,
        places,
        work.shares,
        problem.weights,
        rows if problem.has_missing else work.spare,
    )
    if not problem.has_missing:
        for i in range(n):
            rows[start + i] = work.spare[i]
        begin = start
    n_open, place = 0, begin
    for b in range(n_branches):
        size = places[2, b]
        is_open = open_child(
            problem, rules, work, rows, place, size, sums, at, n_branches, b, is_known, depth, figures[first_node + b]
        )
        work.open_rows[n_open], work.open_sizes[n_open], work.open_branches[n_open] = place, size, b
        places[3, b] = is_open
        n_open += is_open
        place += size
    row_top = place if problem.has_missing else tops[here, n_lists]
    for c in range(n_lists + 1):
        work.parent_starts[c], work.parent_lengths[c], work.parent_tops[c] = (
            starts[here, c],
            lengths[here, c],
            tops[here, c],
        )
    for e in range(n_open - 1, -1, -1):
        for a in range(spent.shape[1]):
            spent[here + e, a] = spent[here, a]
        infos[here + e, NODE], infos[here + e, DEPTH] = first_node + work.open_branches[e], depth
        starts[here + e, n_lists], lengths[here + e, n_lists] = work.open_rows[e], work.open_sizes[e]
        tops[here + e, n_lists] = row_top
    if n_open == 0:
        return here
    for c in range(n_lists):
        list_start, list_n, list_top = work.parent_starts[c], work.parent_lengths[c], work.parent_tops[c]
        begin = place_branches(problem, work, lists[c], list_start, list_n, list_top, n_branches)
        place = begin
        for b in range(n_branches):
            size = places[2, b]
            places[0, b] = place if places[3, b] else -1
            place += size if places[3, b] else 0
        e = 0
        for b in range(n_branches):
            if places[3, b]:
                at_b = places[0, b]
                starts[here + e, c] = at_b if problem.has_missing else list_start + at_b
                lengths[here + e, c] = places[2, b]
                tops[here + e, c] = place if problem.has_missing else list_top
                e += 1
        divide_list_by_branch(
            lists[c],
            list_start,
            list_n,
            problem.shift,
            work.branch,
            n_branches,
            places,
            work.shares,
            problem.weights,
            lists[c] if problem.has_missing else work.spare,
        )
        if not problem.has_missing:
            for i in range(place):
                lists[c, list_start + i] = work.spare[i]
    return here + n_open


@compiled
def place_branches(problem, work, entries, start, n, top, n_branches):
    """Where each branch's entries will stand, one branch after the other, and how many they are; the first place."""
    places, branch, weights, shares = work.places, work.branch, problem.weights, work.shares
    row_mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    for b in range(n_branches):
        places[1, b], places[2, b] = -1, 0
    for i in range(start, start + n):
        row = entries[i] & row_mask
        to = branch[row]
        if to == EVERY:
            for b in range(n_branches):
                places[2, b] += weights[row] * shares[b] > 0.0
        else:
            places[2, to] += 1
    begin = top if problem.has_missing else 0
    place = begin
    for b in range(n_branches):
        places[0, b] = place
        place += places[2, b]
    return begin
