"""Splitting a node of few rows: where each row goes, with which weight, and the sums of both branches."""

from numba import int64, uint16, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled
from core.compiler.eight_lanes import no_sums, plus_products
from core.criteria.kernels.impurity import SQUARED
from core.growth.kernels.node.split_list import BOTH, LEFT, RIGHT
from core.growth.kernels.node.split_rows import take_sums, way_of
from core.growth.kernels.node.sums import is_one_class
from core.growth.kernels.small.scratch import UNKNOWN

SMALLEST = 1e-290  # smaller copies might be rounded to nothing


@compiled
def sum_branches(rules, work, i, border, begin, n, centre, out):
    """`growth.kernels.node.split_rows.branch_figures` of a cut of list i before `border`; how many rows it lacks."""
    rows, weights, position, is_squared = (
        work.small_rows,
        work.small_weights,
        work.position[i],
        rules.criterion == SQUARED,
    )
    width, n_unknown = 3 if is_squared else rules.n_classes, 0
    for j in range(2 + 2 * width):
        out[j] = 0.0
    for j in range(begin, begin + n):
        row, weight = rows[j], weights[j]
        p = int64(position[row])
        if p == UNKNOWN:
            n_unknown += 1
            continue
        to = int64(p >= border)
        here = 2 + to * width
        out[to] += weight
        if is_squared:
            off = work.row_numbers[row] - centre
            out[here] += weight
            out[here + 1] += off * weight
            out[here + 2] += off * off * weight
        else:
            out[here + work.row_classes[row]] += weight
    return n_unknown


@compiled
def split_small(rules, work, i, border, begin, n, first_share, second_share):
    """Store the second child's rows from `begin` on and the first child's behind the node's; how many each has.

    The weights are stored with the rows. Rows that are not in the list are copied as in
    `growth.kernels.lists.routing.settle_copies`.
    """
    rows, weights, position = work.small_rows, work.small_weights, work.position[i]
    heavier, here, there = 0 if first_share >= max(first_share, second_share) - TIE else 1, begin, begin + n
    for j in range(begin, begin + n):
        row, weight = rows[j], weights[j]
        p = int64(position[row])
        to, left, right = int64(p >= border), weight, weight
        if p == UNKNOWN:
            to, left, right = 2, weight * first_share, weight * second_share
            if rules.min_copy > 0.0 and min(left, right) < rules.min_copy - TIE:
                to, left, right = heavier, weight, weight
            elif min(left, right) <= 0.0:
                to = 0 if first_share > second_share else 1
        rows[here], weights[here] = row, right
        rows[there], weights[there] = row, left
        here += to != 0
        there += to != 1
    return here - begin, there - (begin + n)


@compiled
def sum_rows(rules, work, begin, n, figures):
    """`growth.kernels.node.sums.node_figures` of rows of a small subtree; whether all targets are equal."""
    rows, weights, weight, is_pure = work.small_rows, work.small_weights, 0.0, True
    if rules.criterion != SQUARED:
        for k in range(rules.n_classes):
            figures[1 + k] = 0.0
        for j in range(begin, begin + n):
            figures[1 + work.row_classes[rows[j]]] += weights[j]
            weight += weights[j]
        figures[0] = weight
        return is_one_class(figures, rules.n_classes)
    numbers, centre, moment, square, around = work.row_numbers, 0.0, 0.0, 0.0, 0.0
    first = numbers[rows[begin]]
    for j in range(begin, begin + n):
        weight += weights[j]
        centre += weights[j] * numbers[rows[j]]
        is_pure &= numbers[rows[j]] == first
    centre /= weight
    for j in range(begin, begin + n):
        off = numbers[rows[j]] - centre
        moment += off * weights[j]
        square += off * off * weights[j]
    mean = centre + moment / weight
    for j in range(begin, begin + n):
        off = numbers[rows[j]] - mean
        around += weights[j] * (off * off)
    figures[0], figures[1], figures[2], figures[3], figures[4] = weight, centre, moment, square, around
    return is_pure


@compiled
def sum_sides(rules, work, i, border, begin, n, out):
    """`sum_branches` for up to three classes, whose sums in both branches fit into eight lanes.

    Fills `work.small_sides` with the way of each row; returns how many are not in the list, and the smallest weight.
    """
    rows, weights, position, sides = work.small_rows, work.small_weights, work.position[i], work.small_sides
    classes, ways, sums, n_unknown, least = work.row_classes, work.known_ways, no_sums(), uint64(0), weights[begin]
    for j in range(uint64(n)):
        row, weight = rows[uint64(begin) + j], weights[uint64(begin) + j]
        p = uint64(position[row])
        side = uint64(LEFT) + uint64(p >= uint64(border)) + uint64(p == uint64(UNKNOWN))  # 3 for both
        sides[j] = uint16(side)
        n_unknown += side == uint64(BOTH)
        least = min(least, weight)
        sums = plus_products(sums, ways, way_of(side, classes[row]), weight)
    take_sums(sums, out, 0, 2, rules.n_classes, 0)
    take_sums(sums, out, 1, 2 + rules.n_classes, rules.n_classes, 1)
    return int64(n_unknown), least


@compiled
def has_plain_copies(rules, least, first_share, second_share):
    """Whether both copies of every row that goes both ways are kept, and surely weigh more than nothing."""
    return rules.min_copy <= 0.0 and least * min(first_share, second_share) > SMALLEST


@compiled
def split_by_sides(rules, work, begin, n, first_share, second_share, first, second):
    """`split_small` after `sum_sides` where copies are plain, with `sum_rows` of both children in the same pass."""
    rows, weights, sides, classes = work.small_rows, work.small_weights, work.small_sides, work.row_classes
    ways, sums, parts = work.ways, no_sums(), work.side_parts
    for k in range(rules.n_classes):
        at = way_of(BOTH, k)
        ways[at], ways[at + uint64(1 + k)] = first_share, first_share
        ways[at + uint64(4)], ways[at + uint64(5 + k)] = second_share, second_share
    parts[0, LEFT], parts[0, RIGHT], parts[0, BOTH] = 1.0, 0.0, first_share
    parts[1, LEFT], parts[1, RIGHT], parts[1, BOTH] = 0.0, 1.0, second_share
    here, there = uint64(begin), uint64(begin + n)
    for j in range(uint64(n)):
        row, weight, side = rows[uint64(begin) + j], weights[uint64(begin) + j], uint64(sides[j])
        rows[here], weights[here] = row, weight * parts[1, side]
        rows[there], weights[there] = row, weight * parts[0, side]
        here += side >> uint64(1)
        there += side & uint64(1)
        sums = plus_products(sums, ways, way_of(side, classes[row]), weight)
    take_sums(sums, first, 0, 1, rules.n_classes, 0)
    take_sums(sums, second, 0, 1, rules.n_classes, 1)
    return int64(here) - begin, int64(there) - (begin + n)
