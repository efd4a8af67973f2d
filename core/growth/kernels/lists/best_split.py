"""Kernels of `growth.best_split`: the best cut of every list, and the winner among all candidates."""

import numpy as np
from numba import int64, uint32, uint64

from core.arithmetic.kernels.logarithms import log2
from core.arithmetic.kernels.powers import exp2, power
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled
from core.criteria.kernels.impurity import ERROR, GINI, SQUARED
from core.growth.kernels.bounds.search import (
    MOST,
    MOST_AT_ONCE,
    bound_from_blocks,
    bound_lists,
    is_bounded,
    scan_in_blocks,
    weigh_entries,
)
from core.growth.kernels.lists.coded_columns import ORDERED
from core.growth.kernels.lists.named_cuts import best_position, count_allowed
from core.growth.kernels.lists.pairs import fill_pairs, scan_pairs
from core.growth.kernels.lists.release8 import choose_in_sequence, figures_of_threshold, ratios_of_categories
from core.growth.kernels.node.state import ABOVE_AVERAGE, BETTER_HALF, NO_FILTER, NUNEZ, TAN_SCHLIMMER
from core.growth.kernels.node.sums import impurity_of
from core.splits.kernels.candidates import DISTANT_VALUES, EVERY_GAP
from core.splits.kernels.numeric import (
    LITTLE,
    NO_CUT,
    gain_of_sides,
    information,
    scan_counts_entropy,
    scan_counts_gini,
    scan_numbers,
    scan_outputs,
    scan_weights,
    score_of_whole,
    sum_blocks,
)

SURELY = 1e-3  # the part of a tie that rounding may take from the largest possible gain


@compiled
def scan_list(problem, rules, work, entries, start, n, figures, totals, bar_gain):
    """The best cut of a list, every gap a candidate: its gain times the node's weight, and its position; 0 for none.

    `numeric.best_cut` by the scan for the criterion. Only cuts that gain more than `bar_gain`, in the same unit, are
    searched for.
    """
    if n < 2:
        return NO_CUT, uint64(0)
    n_outputs = problem.numbers.shape[1]
    if rules.criterion == ERROR or not (rules.criterion == SQUARED or rules.is_counted):
        sum_blocks(entries, start, n, problem.shift, problem.weights, work.blocks, totals)
    whole, known = score_of_whole(totals, rules.criterion, rules.n_classes, n_outputs)
    tolerance, least = rules.tolerance * known, rules.min_leaf - TIE
    bar = whole + bar_gain if bar_gain > NO_CUT else NO_CUT
    if rules.criterion == SQUARED:
        if work.pairs.shape[0] > 0:
            score, position = scan_pairs(
                entries, start, n, problem.shift, totals[0], totals[1], work.pairs, least, tolerance, bar
            )
        elif n_outputs == 1:
            score, position = scan_numbers(
                entries,
                start,
                n,
                problem.shift,
                totals[0],
                totals[1],
                problem.weights,
                problem.numbers,
                figures[1],
                rules.is_unit,
                least,
                tolerance,
                bar,
            )
        else:
            score, position = scan_outputs(
                entries,
                start,
                n,
                problem.shift,
                totals,
                work.left,
                problem.weights,
                problem.numbers,
                figures[1:],
                least,
                tolerance,
                bar,
            )
    elif rules.is_counted and rules.criterion != ERROR:
        counted = uint64(max(1.0, np.ceil(least)))
        if rules.criterion == GINI:
            score, position = scan_counts_gini(
                entries,
                start,
                n,
                problem.shift,
                work.counts,
                work.left_counts,
                rules.reciprocal,
                counted,
                tolerance,
                bar,
            )
        else:
            is_small = n < rules.small_logs.shape[0]
            score, position = scan_counts_entropy(
                entries,
                start,
                n,
                problem.shift,
                work.counts,
                work.left_counts,
                rules.small_logs if is_small else rules.large_logs,
                rules.small_unit if is_small else rules.large_unit,
                counted,
                tolerance,
                bar,
            )
    else:
        score, position = scan_weights(
            entries,
            start,
            n,
            problem.shift,
            totals,
            work.left,
            problem.weights,
            rules.criterion,
            least,
            tolerance,
            bar,
            work.before,
            work.blocks,
        )
    return (score - whole, position) if position else (NO_CUT, position)


@compiled
def search_lists(problem, rules, work, lists, rows, starts, lengths, at, figures, key, path, n_path):
    """Find the best cut of every list, as a candidate in its slot; returns the largest gain.

    `key` names the node's random draws. `path` tells what entries with flags weigh; see
    `growth.kernels.bounds.weight_flags`.

    Where only the best candidate counts, a list is given up as soon as it cannot exceed the best so far. So in a node
    of at most `MOST_AT_ONCE` rows, all lists that can be bounded are bounded first, and then the most promising one is
    searched first; otherwise it is the one that was best in the node before, often the parent.
    """
    best, weight, first_pure, n_lists = NO_CUT, figures[0], work.gains.shape[0], problem.lengths.shape[0]
    strongest = strongest_list(problem, work.gains)
    surely, is_small = NO_CUT, lengths[at, n_lists] <= MOST_AT_ONCE
    has_flags = weigh_entries(
        problem, rules, work, rows, starts[at, n_lists], lengths[at, n_lists], figures, path, n_path
    )
    if work.pairs.shape[0] > 0:
        fill_pairs(problem, rows, starts[at, n_lists], lengths[at, n_lists], figures[1], work.pairs)
    if is_small:
        surely, first = bound_lists(problem, rules, work, lists, starts, lengths, at, has_flags)
        strongest = first if first >= 0 else strongest
    most = impurity_of(figures, rules, problem.numbers.shape[1]) - SURELY * rules.tolerance  # if children are pure
    for step in range(n_lists):
        i = strongest if step == 0 else step - int64(step <= strongest)
        slot = problem.list_slots[i]
        work.gains[slot], work.scores[slot] = NO_CUT, NO_CUT
        if slot > first_pure or not work.is_drawn[slot]:
            continue
        start, n = starts[at, i], lengths[at, i]
        entries = lists[i]
        if rules.way == EVERY_GAP:
            bar = NO_CUT if rules.needs_all or best == NO_CUT else (best - 2.0 * rules.tolerance) * weight
            if is_bounded(rules, work, n):
                lefts = work.lefts[i] if is_small else work.long_lefts
                if not is_small:
                    work.surely[i] = bound_from_blocks(
                        problem, rules, work, entries, start, n, lefts, is_small, has_flags
                    )
                    work.possibly[i] = MOST
                    surely = max(surely, work.surely[i])
                bar = work.surely[i] if rules.needs_all else max(bar, surely)
                if work.possibly[i] <= bar:
                    continue
                gain, position = scan_in_blocks(
                    problem, rules, work, entries, start, n, lefts, work.totals[i], bar, has_flags
                )
            else:
                gain, position = scan_list(problem, rules, work, entries, start, n, figures, work.totals[i], bar)
        else:
            gain, position = best_position(problem, rules, work, i, entries, start, n, figures, key)
        if position:
            work.gains[slot] = gain / weight
            work.scores[slot] = work.gains[slot]
            work.details[slot, 0], work.details[slot, 1], work.details[slot, 3] = i, position, 0
            best = max(best, work.gains[slot])
            if work.gains[slot] >= most and not rules.needs_all:
                first_pure = min(first_pure, slot)
            if rules.is_ratio:
                left, right = float(position - uint64(start)), float(uint64(start + n) - position)
                if not rules.is_counted:
                    left, right = weigh_sides(problem, rules, entries, start, position, n, work.left)
                elif information(left, right) < LITTLE:
                    count_sides(problem, rules, work, entries, start, position, n)
                if information(left, right) < LITTLE:
                    work.gains[slot] = gain_of_sides(work.left, rules.n_classes, left, right) * (left + right) / weight
                    work.scores[slot] = work.gains[slot]
                if rules.way == DISTANT_VALUES:
                    figures_of_threshold(rules, work, slot, left, right, weight)
                else:
                    if rules.is_corrected and rules.way == EVERY_GAP:
                        work.n_allowed[slot] = count_allowed(problem, rules, entries, start, n)
                    figure_ratio(rules, work, slot, left, right, weight)
    return best


@compiled
def strongest_list(problem, gains):
    """The list with the largest gain."""
    strongest = 0
    for i in range(1, problem.lengths.shape[0]):
        if gains[problem.list_slots[i]] > gains[problem.list_slots[strongest]]:
            strongest = i
    return int64(strongest)


@compiled
def figure_ratio(rules, work, slot, left, right, weight):
    """Set a threshold's gain ratio, with the correction of `best_split.with_correction` if the rules ask for it."""
    if rules.is_corrected:
        work.gains[slot] -= log2(work.n_allowed[slot]) / weight
        if work.gains[slot] <= TIE:
            work.gains[slot] = NO_CUT
            return
    work.scores[slot] = work.gains[slot] / information(left, right)


@compiled
def weigh_sides(problem, rules, entries, start, position, n, sums):
    """The weight on each side of a cut; fills `sums` with the class weights of the left side, then of the right."""
    row_mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    left, right, weights, classes, n_classes = 0.0, 0.0, problem.weights, problem.classes, rules.n_classes
    for k in range(2 * n_classes):
        sums[k] = 0.0
    for i in range(start, position):
        row = entries[i] & row_mask
        left += weights[row]
        sums[classes[row]] += weights[row]
    for i in range(position, start + n):
        row = entries[i] & row_mask
        right += weights[row]
        sums[n_classes + classes[row]] += weights[row]
    return left, right


@compiled
def count_sides(problem, rules, work, entries, start, position, n):
    """Fill `work.left` with the class counts of both sides of a cut; only the shorter side is counted.

    The other is what remains of the node's counts. It is `weigh_sides` where rows count one.
    """
    sums, n_classes, shift = work.left, rules.n_classes, uint32(problem.shift)
    mask = (uint32(1) << (uint32(31) - shift)) - uint32(1)
    is_left = 2 * int64(position - uint64(start)) <= n
    begin, end = (uint64(start), position) if is_left else (position, uint64(start + n))
    here, there = (0, n_classes) if is_left else (n_classes, 0)
    for k in range(n_classes):
        sums[here + k] = 0.0
    for i in range(begin, end):
        sums[here + int64((entries[i] >> shift) & mask)] += 1.0
    for k in range(n_classes):
        sums[there + k] = work.counts[k] - sums[here + k]


@compiled
def winner(problem, rules, work, figures):
    """The slot of the node's split, once every slot has its candidate; -1 if there is none."""
    if rules.way == DISTANT_VALUES:
        ratios_of_categories(problem, rules, work, figures[0])
        return choose_in_sequence(work.gains, work.scores, rules.is_in_average)
    if rules.is_corrected:
        correct_coded(problem, rules, work, figures[0])
    weigh_costs(rules, work.gains, work.scores)
    return choose(work.gains, work.scores, rules, work.passes)


@compiled
def correct_coded(problem, rules, work, weight):
    """Correct the gains of cuts in ordered coded columns for the number of cuts tried, and set their ratios."""
    for j in range(problem.codes.shape[1]):
        a = problem.coded[j]
        slot, first, n_levels = rules.coded_slots[a], rules.coded_starts[a], work.n_held[a]
        if rules.coded_kinds[a] == ORDERED and work.gains[slot] > NO_CUT:
            levels = work.level_weights[first : first + n_levels]
            work.n_allowed[slot] = count_allowed_levels(levels, rules.min_leaf - TIE)
            left, right = 0.0, 0.0
            for v in range(n_levels):
                if work.held[first + v] <= work.details[slot, 1]:
                    left += levels[v]
                else:
                    right += levels[v]
            figure_ratio(rules, work, slot, left, right, weight)


@compiled
def count_allowed_levels(weights, least):
    """How many gaps between the codes that the node holds leave enough weight on both sides."""
    last, behind = weights.shape[0], 0.0
    while last > 0 and behind < least:
        last -= 1
        behind += weights[last]
    n, passed = 0, 0.0
    for v in range(min(last + 1, weights.shape[0])):
        n += weights[v] > 0.0 and passed > 0.0 and passed >= least
        passed += weights[v]
    return n


@compiled
def weigh_costs(rules, gains, scores):
    """`cost_gain`: set the scores to the gains weighed against the costs of the attributes."""
    for slot in range(gains.shape[0]):
        if gains[slot] > NO_CUT and rules.cost_kind == TAN_SCHLIMMER:
            scores[slot] = max(gains[slot], 0.0) * max(gains[slot], 0.0) / rules.slot_costs[slot]
        elif gains[slot] > NO_CUT and rules.cost_kind == NUNEZ:
            scores[slot] = (exp2(max(gains[slot], 0.0)) - 1.0) / power(rules.slot_costs[slot] + 1.0, rules.cost_power)


@compiled
def choose(gains, scores, rules, passes):
    """The first slot within a tie of the largest score, among splits that pass the filter; -1 if there are none."""
    n, average = 0, 0.0
    for c in range(gains.shape[0]):
        if gains[c] > NO_CUT:
            n += 1
            average += gains[c]
    if n == 0:
        return -1
    average /= n
    for c in range(gains.shape[0]):
        passes[c] = gains[c] > NO_CUT and (
            not rules.is_ratio
            or rules.gain_filter == NO_FILTER
            or (rules.gain_filter == ABOVE_AVERAGE and gains[c] >= average - TIE)
        )
    if rules.is_ratio and rules.gain_filter == BETTER_HALF:
        for _ in range((n + 1) // 2):
            passes[first_best(gains, passes, False, TIE)] = True
    return first_best(scores, passes, True, rules.tolerance)


@compiled
def first_best(values, kinds, kind, tolerance):
    """The first index c with `kinds[c] == kind` whose value is within the tolerance of their largest; -1 if none."""
    largest = NO_CUT
    for c in range(values.shape[0]):
        if kinds[c] == kind and values[c] > largest:
            largest = values[c]
    for c in range(values.shape[0]):
        if kinds[c] == kind and values[c] > NO_CUT and values[c] >= largest - tolerance:
            return c
    return -1
