"""Growing a tree of a forest by ranks, without splitting lists.

The compiled twin of `grow.Grower` with column draws, with the same bytes. Nodes of many rows come first, and search the
columns drawn in buckets (`growth.kernels.ranks.buckets`). What is left are subtrees of few rows, all of which get their
positions at once (`growth.kernels.ranks.local_ranks`). Then the tree is traversed depth first, and each subtree is
grown at its turn (`growth.kernels.ranks.small_subtrees`), so that nodes are stored in the order that a tree keeps.
"""

import numpy as np
from numba import int64, uint16, uint64

from core.arithmetic.kernels.randomness import key_of
from core.arithmetic.randomness import FOR_COLUMNS
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays, numbers_at
from core.compiler.growing_arrays import longer_list, longer_rows
from core.criteria.kernels.impurity import SQUARED, gain_of_two, squared_error
from core.growth.kernels.node.branch_sums import no_branches, put_branches, with_row
from core.growth.kernels.node.column_draw import draw_next, first_of_best, take_back
from core.growth.kernels.node.split_rows import copy_figures
from core.growth.kernels.node.state import Rules
from core.growth.kernels.node.sums import is_leaf, is_one_class
from core.growth.kernels.ranks.buckets import (
    DOUBT,
    bound_closely,
    bound_from_buckets,
    fill_keys,
    rank_of,
    score_of_classes,
)
from core.growth.kernels.ranks.local_ranks import place_rows
from core.growth.kernels.ranks.small_subtrees import fill_sizes, grow_small_subtree, put_node
from core.growth.kernels.ranks.state import (
    BEGIN,
    CHILD,
    COLUMN,
    DEPTH,
    HIGH,
    HIGH_ROW,
    KEY,
    LOW,
    LOW_ROW,
    MOST_SMALL,
    N_LINKS,
    N_ROWS,
    SLOT,
    Bag,
    Nodes,
)
from core.splits import candidates
from core.splits.kernels.numeric import NO_CUT
from core.splits.split import SplitKind
from core.tree.tree import LEAF, SPLIT_KINDS

DONE, STOP = 0, 1  # indices of `progress`
CUT = SPLIT_KINDS.index(SplitKind.THRESHOLD)
midpoint = compiled(candidates.midpoint)


@making_arrays
def grow_ranked(bag_fields, rules_fields, node_fields, progress):
    """Grow a tree into the arrays of nodes, which have two elements for each row; returns the number of nodes."""
    bag, rules, nodes = Bag(*bag_fields), Rules(*rules_fields), Nodes(*node_fields)
    links, figures, gains, n_links = grow_large(bag, rules, progress)
    place_rows(bag, links, n_links, rules.open_columns)
    waiting, n_waiting, n_nodes = np.zeros(64, np.int64), 1, int64(0)
    while n_waiting > 0 and progress[STOP] == 0.0:
        n_waiting -= 1
        node = waiting[n_waiting]
        if links[node, CHILD] < 0 and links[node, N_ROWS] > 0:
            n_nodes = grow_small_subtree(bag, rules, links[node], figures[node], nodes, n_nodes)
            progress[DONE] += figures[node, 0]
            continue
        put_node(nodes, n_nodes, rules, gains[node] if links[node, CHILD] >= 0 else np.nan, figures[node])
        nodes.splits[n_nodes, SLOT] = links[node, COLUMN]
        nodes.splits[n_nodes, LOW_ROW], nodes.splits[n_nodes, HIGH_ROW] = links[node, LOW], links[node, HIGH]
        n_nodes += 1
        if links[node, CHILD] >= 0:
            waiting = longer_list(waiting, n_waiting, n_waiting + 2)
            waiting[n_waiting], waiting[n_waiting + 1] = links[node, CHILD] + 1, links[node, CHILD]
            n_waiting += 2
    fill_sizes(nodes.splits, n_nodes)
    return n_nodes


@compiled
def fill_thresholds(splits, addresses, n_rows, thresholds, kinds):
    """Fill the threshold and kind of each split from the rows on both sides; thresholds may overwrite these rows."""
    for node in range(splits.shape[0]):
        threshold, kinds[node] = np.nan, LEAF
        if splits[node, SLOT] >= 0:
            values = numbers_at(addresses[splits[node, SLOT]], n_rows)
            threshold = midpoint(values[splits[node, LOW_ROW]], values[splits[node, HIGH_ROW]])
            kinds[node] = CUT
        thresholds[node] = threshold


@compiled
def error_of(numbers, rows, weights):
    """The squared error of some rows, as `best_split.objective_for` computes it."""
    weight, centre, moment, square = 0.0, 0.0, 0.0, 0.0
    for i in range(rows.shape[0]):
        weight += weights[i]
        centre += weights[i] * numbers[rows[i], 0]
    centre /= weight
    for i in range(rows.shape[0]):
        off = numbers[rows[i], 0] - centre
        moment += off * weights[i]
        square += off * off * weights[i]
    return squared_error(weight, moment, square)


@making_arrays
def grow_large(bag, rules, progress):
    """Grow all nodes of many rows; links, figures and gains of these and of their children, and how many nodes."""
    n_figures = 5 if rules.criterion == SQUARED else 1 + rules.n_classes
    links, figures, gains = np.empty((64, N_LINKS), np.int64), np.empty((64, n_figures)), np.empty(64)
    waiting, n_waiting, n_links, sums = np.zeros(64, np.int64), 0, int64(1), bag.child_sums
    n = bag.rows.shape[0]
    is_pure = root_figures(bag, rules, figures[0])
    n_waiting = note(links, waiting, n_waiting, int64(0), int64(0), n, int64(0), rules.root_key)
    n_waiting = close_if(is_leaf(figures[0], is_pure, int64(0), rules, 1), links, int64(0), n_waiting)
    while n_waiting > 0 and progress[STOP] == 0.0:
        n_waiting -= 1
        node = waiting[n_waiting]
        begin, n, depth, key = links[node, BEGIN], links[node, N_ROWS], links[node, DEPTH], uint64(links[node, KEY])
        c = best_of_drawn(bag, rules, key, begin, n, figures[node])
        if c < 0 or bag.gains[c] < max(rules.min_gain, rules.min_score) - rules.tolerance:
            links[node, N_ROWS] = 0
            continue
        n_left, low, high = split_rows(bag, rules, c, begin, n, figures[node], sums)
        links[node, CHILD], links[node, COLUMN], links[node, LOW], links[node, HIGH] = n_links, bag.drawn[c], low, high
        gains = longer_list(gains, n_links, n_links + 2)
        links, figures = longer_rows(links, n_links, n_links + 2), longer_rows(figures, n_links, n_links + 2)
        waiting = longer_list(waiting, n_waiting, n_waiting + 2)
        gains[node] = gain_of_two(sums, rules.criterion, rules.n_classes, 0.0)
        for b in range(2):
            first, size = (begin + n_left, n - n_left) if b else (begin, n_left)
            child = figures[n_links]
            if rules.criterion == SQUARED:
                is_pure = figures_of(bag, first, size, sums[b], bag.centres[b], child)
            else:
                copy_figures(sums, int64(0), int64(2), b, rules.n_classes, child)
                is_pure = is_one_class(child, rules.n_classes)
            n_waiting = note(links, waiting, n_waiting, n_links, first, size, depth + 1, key_of(key, b))
            n_waiting = close_if(is_leaf(child, is_pure, depth + 1, rules, 1), links, n_links, n_waiting)
            n_links += 1
    return links, figures, gains, n_links


@compiled
def note(links, waiting, n_waiting, node, begin, n, depth, key):
    """Fill the link of a new node, which waits unless it has few rows; returns how many wait then."""
    link = links[node]
    link[CHILD], link[COLUMN], link[LOW], link[HIGH] = -1, -1, 0, 0
    link[BEGIN], link[N_ROWS], link[DEPTH], link[KEY] = begin, n, depth, int64(key)
    waiting[n_waiting] = node
    return n_waiting + int64(n > MOST_SMALL)


@compiled
def close_if(is_closed, links, node, n_waiting):
    """Make the node noted last a leaf if `is_closed`; returns how many wait then."""
    if not is_closed:
        return n_waiting
    is_waiting = links[node, N_ROWS] > MOST_SMALL
    links[node, N_ROWS] = 0
    return n_waiting - int64(is_waiting)


@compiled
def best_of_drawn(bag, rules, key, begin, n, figure):
    """The best cut of the columns that a node draws, as its index in `bag.cuts`; -1 if there is none.

    Scores are gains where a number is predicted; otherwise `undivided`, the score without a cut, plus the gain times
    the weight.
    """
    n_columns, for_columns, n_found, turn = rules.open_columns.shape[0], key_of(key, FOR_COLUMNS), 0, 0
    drawn, gains, cuts, share, least = bag.drawn, bag.gains, bag.cuts, 0.0, max(rules.min_leaf - TIE, 1.0)
    weight, unit, undivided, bar, most = figure[0], 1.0, 0.0, NO_CUT, NO_CUT
    if rules.criterion == SQUARED:
        share = figure[2] / weight
        for i in range(n):
            bag.parts[i] = bag.weights[begin + i] * (bag.numbers[begin + i] - figure[1])
    else:
        for k in range(rules.n_classes):
            bag.totals[k] = figure[1 + k]
        unit, undivided = weight, score_of_classes(bag.totals, bag.totals, weight, 0.0, rules.n_classes)
    tie = rules.tolerance * unit
    while turn < n_columns and n_found == 0:
        n_keyed, n_drawn = 0, rules.n_drawn if turn == 0 else 1
        while turn < n_columns and n_keyed < n_drawn:
            bag.keyed[n_keyed] = draw_next(rules, bag.order, bag.taken, for_columns, turn)
            n_keyed += 1
            turn += 1
        fill_keys(bag, n_keyed, begin, n)
        top, first = NO_CUT, 0
        for c in range(n_keyed):
            score = bound_from_buckets(bag, rules, c, begin, n, weight, share, least)
            if score > top:
                top, first = score, c
        bar = max(bar, below(top, tie))
        for turn_of in range(n_keyed):  # first the column with the highest bound: the others must exceed its cut
            c = (first + turn_of) % n_keyed
            score, cut = bound_closely(bag, rules, c, begin, n, weight, share, least, tie, bar)
            if cut:
                drawn[n_found], gains[n_found], cuts[n_found] = bag.keyed[c], (score - undivided) / unit, cut
                bag.keys_of[n_found] = c
                bar, most = max(bar, below(score, tie)), max(most, gains[n_found])
                n_found += 1
    take_back(bag.order, bag.taken, turn)
    return first_of_best(drawn, gains, n_found, most, rules.tolerance)


@compiled
def below(score, tie):
    """A score that is surely lower than `score` by more than a tie."""
    return score - 2.0 * tie - abs(score) * DOUBT if score > NO_CUT else NO_CUT


@compiled
def split_rows(bag, rules, c, begin, n, figure, sums):
    """Move the rows whose rank is below the c-th cut to the front; how many, and a row on either side of the cut.

    `sums` gets the weights of both branches, then their sums, as in `growth.kernels.node.split_rows.branch_figures`.
    """
    is_squared, n_classes, first = rules.criterion == SQUARED, rules.n_classes, uint64(begin)
    rows, weights, numbers, classes = bag.rows, bag.weights, bag.numbers, bag.classes
    spare_rows, spare_weights, spare_numbers, spare_classes = (
        bag.spare_rows,
        bag.spare_weights,
        bag.spare_numbers,
        bag.spare_classes,
    )
    for j in range(sums.shape[0]):
        sums[j] = 0.0
    centre, both, here, there = figure[1], no_branches(), uint64(begin), uint64(0)
    keys, column, cut = bag.keys[bag.keys_of[c]], bag.drawn[c], uint64(bag.cuts[c])
    border, low, high = cut >> uint64(bag.fine_bits[column]), uint64(0), ~uint64(0)  # a rank with its row per side
    below, above = nearest_keys(keys, n, border)
    for i in range(uint64(begin), uint64(begin + n)):
        row, weight = rows[i], weights[i]
        key = uint64(keys[i - first])
        to = uint64(key > border)
        if key - below <= above - below:  # only few rows need their whole rank to decide where they go
            rank = uint64(rank_of(bag, column, key, row))
            to = uint64(rank >= cut)
            ranked, on_left = rank << uint64(32) | uint64(row), to - uint64(1)  # all ones or none
            low, high = max(low, ranked & on_left), min(high, ranked | on_left)
        rows[here], spare_rows[there] = row, row
        weights[here], spare_weights[there] = weight, weight
        if is_squared:
            number = numbers[i]
            numbers[here], spare_numbers[there] = number, number
            both = with_row(both, int64(to), weight, number, centre)
        else:
            k = classes[i]
            classes[here], spare_classes[there] = k, k
            sums[to] += weight
            sums[uint64(2) + uint64(n_classes) * to + uint64(k)] += weight
        here += uint64(1) - to
        there += to
    for i in range(there):
        rows[here + i], weights[here + i] = spare_rows[i], spare_weights[i]
        if is_squared:
            numbers[here + i] = spare_numbers[i]
        else:
            classes[here + i] = spare_classes[i]
    if is_squared:
        put_branches(both, sums, bag.centres)
    mask = uint64(0xFFFFFFFF)
    return int64(here) - begin, int64(low & mask), int64(high & mask)


@compiled
def nearest_keys(keys, n, border):
    """The largest key below `border` and the smallest above it; 0 and 0xFFFF if there is none."""
    below, above, middle = uint16(0), uint16(0xFFFF), uint16(border)
    for i in range(uint64(n)):
        key = keys[i]
        below = max(below, key if key < middle else uint16(0))
        above = min(above, key if key > middle else uint16(0xFFFF))
    return uint64(below), uint64(above)


@compiled
def root_figures(bag, rules, figures):
    """`growth.kernels.node.sums.node_figures` of all rows; returns whether all targets are equal."""
    weights, weight, centre, n = bag.weights, 0.0, 0.0, bag.rows.shape[0]
    if rules.criterion != SQUARED:
        for k in range(rules.n_classes):
            figures[1 + k] = 0.0
        for i in range(n):
            figures[1 + bag.classes[i]] += weights[i]
            weight += weights[i]
        figures[0] = weight
        return is_one_class(figures, rules.n_classes)
    for i in range(n):
        weight += weights[i]
        centre += weights[i] * bag.numbers[i]
    return figures_of(bag, int64(0), n, weight, centre, figures)


@compiled
def figures_of(bag, begin, n, weight, centre, figures):
    """`growth.kernels.node.sums.node_figures` of a node, given its weight and, as `centre`, its sum of numbers."""
    weights, numbers, is_pure = bag.weights, bag.numbers, True
    centre, moment, square, around, one = centre / weight, 0.0, 0.0, 0.0, numbers[begin]
    for i in range(begin, begin + n):
        off = numbers[i] - centre
        moment += off * weights[i]
        square += off * off * weights[i]
        is_pure &= numbers[i] == one
    mean = centre + moment / weight
    for i in range(begin, begin + n):
        off = numbers[i] - mean
        around += weights[i] * (off * off)
    figures[0], figures[1], figures[2], figures[3], figures[4] = weight, centre, moment, square, around
    return is_pure
