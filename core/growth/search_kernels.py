"""The compiled twin of `best_split.best_split`: the best cut of every list, and the winner among all candidates."""

import numpy as np
from numba import uint32, uint64

from core.compiled_kernels import compiled
from core.growth.growth_state import ABOVE_AVERAGE, BETTER_HALF, NO_FILTER, NUNEZ, TAN_SCHLIMMER
from core.splits.numeric_kernels import (
    ERROR,
    GINI,
    NO_CUT,
    SQUARED,
    information,
    scan_counts_entropy,
    scan_counts_gini,
    scan_numbers,
    scan_outputs,
    scan_weights,
    score_of_whole,
)
from core.ties import TIE


@compiled
def scan_list(problem, rules, work, entries, start, n, figures, totals, bar_gain):
    """The best cut of one list by the criterion: its gain times the node's weight, and its place; 0 for none."""
    if n < 2:
        return NO_CUT, uint64(0)
    n_outputs = problem.numbers.shape[1]
    whole, known = score_of_whole(totals, rules.criterion, rules.n_classes, n_outputs)
    tolerance, least = rules.tolerance * known, rules.min_leaf - TIE
    bar = whole + bar_gain if bar_gain > NO_CUT else NO_CUT
    if rules.criterion == SQUARED:
        if n_outputs == 1:
            score, place = scan_numbers(
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
            score, place = scan_outputs(
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
            score, place = scan_counts_gini(
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
            score, place = scan_counts_entropy(
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
        score, place = scan_weights(
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
        )
    return (score - whole, place) if place else (NO_CUT, place)


@compiled
def search_lists(problem, rules, work, lists, starts, lengths, at, figures):
    """Every list's best cut, as a candidate in its slot; the largest gain found.

    Where only the best counts, a list is left as soon as it cannot have more than the best so far.
    """
    best = NO_CUT
    weight = figures[0]
    for i in range(problem.lengths.shape[0]):
        slot = problem.list_slots[i]
        work.gains[slot], work.scores[slot] = NO_CUT, NO_CUT
        bar = NO_CUT if rules.needs_all or best == NO_CUT else (best - 2.0 * rules.tolerance) * weight
        start, n = starts[at, i], lengths[at, i]
        entries = lists[i]
        gain, place = scan_list(problem, rules, work, entries, start, n, figures, work.totals[i], bar)
        if place:
            work.gains[slot] = gain / weight
            work.scores[slot] = work.gains[slot]
            work.details[slot, 0], work.details[slot, 1], work.details[slot, 3] = i, place, 0
            best = max(best, work.gains[slot])
            if rules.is_ratio:
                left, right = known_weights(problem, entries, start, place, n)
                work.scores[slot] /= information(left, right)
    return best


@compiled
def known_weights(problem, entries, start, place, n):
    """The weight on each side of a cut."""
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    left, right, weights = 0.0, 0.0, problem.weights
    for i in range(start, place):
        left += weights[entries[i] & mask]
    for i in range(place, start + n):
        right += weights[entries[i] & mask]
    return left, right


@compiled
def weigh_costs(rules, gains, scores):
    """`cost_gain`: gains weighed against what the attributes cost."""
    for slot in range(gains.shape[0]):
        if gains[slot] > NO_CUT and rules.cost_kind == TAN_SCHLIMMER:
            scores[slot] = max(gains[slot], 0.0) ** 2 / rules.slot_costs[slot]
        elif gains[slot] > NO_CUT and rules.cost_kind == NUNEZ:
            scores[slot] = (2.0 ** max(gains[slot], 0.0) - 1.0) / (rules.slot_costs[slot] + 1.0) ** rules.cost_power


@compiled
def choose(gains, scores, rules, passes):
    """The winner among the slots with a split: the first within a tie of the largest score that passes the filter."""
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
def first_best(values, marks, mark, tolerance):
    """The first place with that mark within a tolerance of the largest value so marked; -1 when there is none."""
    largest = NO_CUT
    for c in range(values.shape[0]):
        if marks[c] == mark and values[c] > largest:
            largest = values[c]
    for c in range(values.shape[0]):
        if marks[c] == mark and values[c] > NO_CUT and values[c] >= largest - tolerance:
            return c
    return -1
