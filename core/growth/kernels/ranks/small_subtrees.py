"""Growing subtrees of few rows by positions: a node stores its rows only, and sorts the columns that it draws.

    list      c a d b          position   a 1, b 3, c 0, d 2
    node      a b d            position   1 3 2   ->   a d b

In a node of few rows, the positions below each row's own are counted at once; in one of more, each position sets a bit,
and the bits below it are counted. Cuts that cannot exceed the best are skipped without dividing.
"""

import numpy as np
from numba import int64, uint64

from core.arithmetic.kernels.randomness import key_of
from core.arithmetic.randomness import FOR_COLUMNS
from core.arithmetic.ties import TIE
from core.compiler.byte_lanes import BYTES_AT_ONCE, below_mask, n_bits
from core.compiler.compile import byte_at, compiled
from core.criteria.kernels.impurity import SQUARED, gain_of_two, squared_error
from core.growth.kernels.node.branch_sums import no_branches, put_branches, with_row
from core.growth.kernels.node.column_draw import draw_next, first_of_best, take_back
from core.growth.kernels.node.scan_few import may_exceed
from core.growth.kernels.node.split_rows import copy_figures
from core.growth.kernels.node.sums import is_leaf, is_one_class
from core.growth.kernels.ranks.four_columns import best_of_drawn_numbers, keys_at, packed_cut, parts_of_cut
from core.growth.kernels.ranks.state import BEGIN, DEPTH, HIGH_ROW, KEY, LOW_ROW, N_ROWS, SIZE, SLOT
from core.splits.kernels.numeric import NO_CUT, just_below

NODE_DEPTH, NODE_BEGIN, NODE_SIZE, NODE_KEY = range(4)  # columns of waiting nodes
FEW = 64  # rows: up to here they are sorted by counting


@compiled
def grow_small_subtree(bag, rules, link, figures, nodes, n_nodes):
    """Grow a subtree and append its nodes, depth first; returns the new number of nodes.

    Of a waiting node all is known but its split, and leaves wait too: a node is stored when its turn comes.
    """
    first, n, waiting, known, sums = link[BEGIN], link[N_ROWS], bag.waiting, bag.waiting_figures, bag.child_sums
    n_figures, is_squared, n_waiting = figures.shape[0], rules.criterion == SQUARED, 1
    for j in range(n):
        bag.small_rows[j] = j
    n_keys = n + 1
    waiting[0, NODE_DEPTH], waiting[0, NODE_BEGIN], waiting[0, NODE_SIZE] = link[DEPTH], 0, n
    waiting[0, NODE_KEY] = link[KEY]
    for j in range(n_figures):
        known[0, j] = figures[j]
    while n_waiting > 0:
        n_waiting -= 1
        figure, node = bag.figure, n_nodes
        for j in range(n_figures):
            figure[j] = known[n_waiting, j]
        depth, begin, n = waiting[n_waiting, NODE_DEPTH], waiting[n_waiting, NODE_BEGIN], waiting[n_waiting, NODE_SIZE]
        key = uint64(waiting[n_waiting, NODE_KEY])
        n_nodes += 1
        put_node(nodes, node, rules, np.nan, figure)
        if n == 0:
            continue
        if n == 2:
            c = best_of_two(bag, rules, key, first, begin, figure)
        elif is_squared:
            c = best_of_drawn_numbers(bag, rules, key, first, begin, n, n_keys, figure)
        else:
            c = best_of_drawn(bag, rules, key, first, begin, n, figure)
        if c < 0 or bag.gains[c] < max(rules.min_gain, rules.min_score) - rules.tolerance:
            continue
        column, (border, low, high) = bag.drawn[c], parts_of_cut(bag.cuts[c])
        n_left = split_rows(bag, rules, column, border, first, begin, n, figure[1], sums)
        nodes.splits[node, SLOT] = column
        nodes.splits[node, LOW_ROW], nodes.splits[node, HIGH_ROW] = bag.rows[first + low], bag.rows[first + high]
        nodes.gains[node] = gain_of_two(sums, rules.criterion, rules.n_classes, 0.0)
        for b in range(1, -1, -1):  # the first child is taken next
            start, size = (begin + n_left, n - n_left) if b else (begin, n_left)
            child = bag.child
            if is_squared:
                is_pure = figures_of(bag, first, start, size, sums[b], bag.centres[b], child)
            else:
                copy_figures(sums, int64(0), int64(2), b, rules.n_classes, child)
                is_pure = is_one_class(child, rules.n_classes)
            is_open = not is_leaf(child, is_pure, depth + 1, rules, 1)
            for j in range(n_figures):
                known[n_waiting, j] = child[j]
            waiting[n_waiting, NODE_DEPTH], waiting[n_waiting, NODE_BEGIN] = depth + 1, start
            waiting[n_waiting, NODE_SIZE] = size if is_open else 0
            if is_open:
                waiting[n_waiting, NODE_KEY] = int64(key_of(key, b))
            n_waiting += 1
    return n_nodes


@compiled
def put_node(nodes, node, rules, gain, figure):
    """Store the figures of a node, as `growth.kernels.lists.assemble.node_values` computes them."""
    nodes.gains[node], nodes.splits[node, SLOT] = gain, -1
    if rules.criterion != SQUARED:
        for k in range(rules.n_classes):
            nodes.weights[node, k] = figure[1 + k]
        return
    weight, centre, moment, square, around = figure[0], figure[1], figure[2], figure[3], figure[4]
    nodes.weights[node, 0], nodes.means[node] = weight, centre + moment / weight
    nodes.impurities[node], nodes.variances[node] = squared_error(weight, moment, square), around / weight


@compiled
def fill_sizes(splits, n_nodes):
    """Set the size of each node's subtree, for nodes in depth-first order."""
    for node in range(n_nodes - 1, -1, -1):
        splits[node, SIZE] = 1
        if splits[node, SLOT] >= 0:
            first = splits[node + 1, SIZE]
            splits[node, SIZE] += first + splits[node + 1 + first, SIZE]


@compiled
def best_of_drawn(bag, rules, key, first, begin, n, figure):
    """The best cut by Gini of the columns that a node draws, as its index in `bag.cuts`; -1 if there is none."""
    n_columns, for_columns, n_found, turn = rules.open_columns.shape[0], key_of(key, FOR_COLUMNS), 0, 0
    drawn, gains, cuts, most, weight = bag.drawn, bag.gains, bag.cuts, NO_CUT, figure[0]
    while turn < n_columns and (turn < rules.n_drawn or n_found == 0):
        column = draw_next(rules, bag.order, bag.taken, for_columns, turn)
        turn += 1
        bar = (most - 2.0 * rules.tolerance) * weight if n_found > 0 else NO_CUT
        gain, cut = search(bag, rules, column, first, begin, n, figure, bar)
        if cut:
            drawn[n_found], gains[n_found], cuts[n_found] = column, gain / weight, cut
            most = max(most, gains[n_found])
            n_found += 1
    take_back(bag.order, bag.taken, turn)
    return first_of_best(drawn, gains, n_found, most, rules.tolerance)


@compiled
def best_of_two(bag, rules, key, first, begin, figure):
    """The best cut of a node of two rows, as its index in `bag.cuts`; -1 if there is none.

    Every column whose values differ splits them alike, so of those drawn the first in column order is taken.
    """
    n_columns, for_columns, turn = rules.open_columns.shape[0], key_of(key, FOR_COLUMNS), 0
    one, other, none = uint64(bag.small_rows[begin]), uint64(bag.small_rows[begin + 1]), bag.distinct.shape[0]
    best, least = none, max(rules.min_leaf - TIE, 1.0)
    while turn < n_columns and (turn < rules.n_drawn or best == none):
        column = draw_next(rules, bag.order, bag.taken, for_columns, turn)
        turn += 1
        if bag.distinct[column] or bag.value[column, first + one] != bag.value[column, first + other]:
            best = min(best, column)
    take_back(bag.order, bag.taken, turn)
    if best == none or bag.weights[first + one] < least or bag.weights[first + other] < least:
        return -1
    keys = keys_at(bag, best, first)
    here, there = byte_at(keys + one), byte_at(keys + other)
    low, high = (one, other) if here < there else (other, one)
    bag.drawn[0], bag.cuts[0] = best, packed_cut(max(here, there), low, high)
    bag.gains[0] = gain_of_rows(bag, rules, first + one, first + other, figure)
    return 0


@compiled
def gain_of_rows(bag, rules, one, other, figure):
    """The gain of splitting two rows."""
    left, right = bag.weights[one], bag.weights[other]
    if rules.criterion == SQUARED:
        off = left * (bag.numbers[one] - figure[1] - figure[2] / figure[0])
        return off * off / (left * right)
    share = left / (left + right)
    return 2.0 * share * (1.0 - share)  # their classes differ, or the node would be a leaf


@compiled
def search(bag, rules, column, first, begin, n, figure, bar_gain):
    """The best cut of a column by Gini: its gain times the weight, and its `packed_cut`; 0 for none."""
    sort_rows(bag, column, first, begin, n)
    least, tie = max(rules.min_leaf - TIE, 1.0), rules.tolerance * figure[0]
    score, j, undivided = best_of_classes(bag, column, first, n, figure, rules.n_classes, least, tie, bar_gain)
    if j == 0:
        return NO_CUT, int64(0)
    low, high = bag.ordered[j - 1], bag.ordered[j]
    return score - undivided, packed_cut(byte_at(keys_at(bag, column, first) + uint64(high)), low, high)


@compiled
def sort_rows(bag, column, first, begin, n):
    """Fill `bag.ordered` with a node's rows sorted by a column."""
    position, rows, ordered = bag.position, bag.small_rows, bag.ordered
    if n > FEW:
        sort_rows_by_bits(bag, column, first, begin, n)
        return
    positions = bag.bytes
    for j in range(n):
        positions[j] = position[column, first + rows[begin + j]]
    address, last = uint64(positions.ctypes.data), n - BYTES_AT_ONCE
    if last <= 0:
        among = ~uint64(0) >> uint64(64 - n)
        for j in range(n):
            ordered[n_bits(below_mask(address, positions[j]) & among)] = rows[begin + j]
        return
    among, further = ~uint64(0) >> uint64(64 - last), address + uint64(BYTES_AT_ONCE)
    for j in range(n):
        below = n_bits(below_mask(address, positions[j])) + n_bits(below_mask(further, positions[j]) & among)
        ordered[below] = rows[begin + j]


@compiled
def sort_rows_by_bits(bag, column, first, begin, n):
    """`sort_with_ties` of many rows: positions set bits, and a row's index is the number of bits below its own."""
    position, rows, words, ordered = bag.position, bag.small_rows, bag.words, bag.ordered
    for word in range(4):
        words[word] = uint64(0)
    for j in range(begin, begin + n):
        p = uint64(position[column, first + rows[j]])
        words[p >> uint64(6)] |= uint64(1) << (p & uint64(63))
    bag.before_word[0] = 0
    for word in range(3):
        bag.before_word[word + 1] = bag.before_word[word] + n_bits(words[word])
    for j in range(begin, begin + n):
        p = uint64(position[column, first + rows[j]])
        below = words[p >> uint64(6)] & ((uint64(1) << (p & uint64(63))) - uint64(1))
        ordered[bag.before_word[p >> uint64(6)] + n_bits(below)] = rows[j]


@compiled
def best_of_classes(bag, column, first, n, figure, n_classes, least, tie, bar_gain):
    """The best cut of sorted rows by Gini: its score, its index in `bag.ordered` or 0, and the score without a cut.

    Weights are whole numbers, so the sums of squares are updated exactly from row to row.
    """
    ordered, weights, classes, left, totals = bag.ordered, bag.weights, bag.classes, bag.left, bag.totals
    weight, squares, value, is_distinct = figure[0], 0.0, bag.value, bag.distinct[column]
    for k in range(n_classes):
        totals[k] = figure[1 + k]
        squares += totals[k] * totals[k]
    undivided = squares / weight
    bar = undivided + bar_gain if bar_gain > NO_CUT else NO_CUT
    for is_second in range(2):
        best, chosen, position, is_unclear = bar, NO_CUT, int64(0), False
        squares_left, squares_right, passed = 0.0, squares, 0.0
        for k in range(n_classes):
            left[k] = 0.0
        for j in range(n):
            row = ordered[j]
            right = weight - passed
            if may_exceed(best, squares_left, squares_right, passed, right) and (
                is_distinct or (j > 0 and value[column, first + row] != value[column, first + ordered[j - 1]])
            ):
                score = squares_left / passed + squares_right / right
                if score > best and passed >= least and right >= least:
                    if is_second:
                        return score, int64(j), undivided
                    if score - tie > chosen:
                        is_unclear |= best >= score - tie
                        chosen, position = score, int64(j)
                    best = score
            k, added = classes[first + row], weights[first + row]
            squares_left += added * (2.0 * left[k] + added)
            squares_right -= added * (2.0 * (totals[k] - left[k]) - added)
            left[k] += added
            passed += added
        if not is_unclear:
            break
        bar = just_below(best - tie)
    return chosen, position, undivided


@compiled
def split_rows(bag, rules, column, border, first, begin, n, centre, sums):
    """Move the rows whose key is below `border` to the front; returns their number.

    `sums` gets the weights of both branches, then their sums, as in `growth.kernels.node.split_rows.branch_figures`.
    """
    rows, others, keys, is_squared = bag.small_rows, bag.others, keys_at(bag, column, first), rules.criterion == SQUARED
    weights, classes, here, there = bag.weights, bag.classes, begin, 0
    for j in range(2 + 2 * rules.n_classes):
        sums[j] = 0.0
    both = no_branches()
    for j in range(begin, begin + n):
        row = rows[j]
        weight, to = weights[first + row], int64(byte_at(keys + uint64(row)) >= border)
        if is_squared:
            both = with_row(both, to, weight, bag.numbers[first + row], centre)
        else:
            sums[to] += weight
            sums[2 + to * rules.n_classes + classes[first + row]] += weight
        rows[here], others[there] = row, row
        here += 1 - to
        there += to
    for j in range(there):
        rows[here + j] = others[j]
    if is_squared:
        put_branches(both, sums, bag.centres)
    return here - begin


@compiled
def figures_of(bag, first, begin, n, weight, centre, figures):
    """`growth.kernels.node.sums.node_figures` of a node, given its weight and, as `centre`, its sum of numbers."""
    rows, weights, numbers, is_pure = bag.small_rows, bag.weights, bag.numbers, True
    centre, moment, square, around, one = centre / weight, 0.0, 0.0, 0.0, numbers[first + rows[begin]]
    for j in range(begin, begin + n):
        here, number = weights[first + rows[j]], numbers[first + rows[j]]
        off = number - centre
        moment += off * here
        square += off * off * here
        is_pure &= number == one
    mean = centre + moment / weight
    for j in range(begin, begin + n):
        off = numbers[first + rows[j]] - mean
        around += weights[first + rows[j]] * (off * off)
    figures[0], figures[1], figures[2], figures[3], figures[4] = weight, centre, moment, square, around
    return is_pure
