"""The compiled twin of `dialects.best_split`: the best cut of every list, and the winner among all candidates."""

from math import log2

import numpy as np
from numba import int64, uint32, uint64

from core.compiled_kernels import compiled
from core.growth.growth_state import ABOVE_AVERAGE, BETTER_HALF, NO_FILTER, NUNEZ, TAN_SCHLIMMER
from core.growth.node_kernels import impurity_of
from core.growth.pair_kernels import fill_pairs, scan_pairs
from core.growth.place_kernels import best_place, count_allowed
from core.growth.release8_kernels import choose_in_sequence, figures_of_threshold, ratios_of_categories
from core.growth.table_kernels import ORDERED
from core.splits.block_kernels import (
    MOST_ENTRIES,
    ROUNDED,
    SHORT,
    best_between_blocks,
    best_in_blocks,
    by_row,
    fill_lefts,
    fill_lefts_of_few,
    fill_units,
    fill_units_of_few,
    mark_high,
    n_blocks_of,
    scan_high_counts,
    scan_high_weights,
    score_undivided,
    sum_to_high,
)
from core.splits.candidate_kernels import DISTANT_VALUES, EVERY_GAP
from core.splits.mark_kernels import by_marks, by_marks_and_class, fill_kinds, has_kinds
from core.splits.numeric_kernels import (
    ERROR,
    GINI,
    LITTLE,
    NO_CUT,
    SQUARED,
    gain_of_sides,
    information,
    last_place,
    scan_counts_entropy,
    scan_counts_gini,
    scan_numbers,
    scan_outputs,
    scan_weights,
    score_of_whole,
    sum_blocks,
)
from core.ties import TIE

SHORTEST_COUNTED, SHORTEST_WEIGHED = 48, 16  # entries of a list that gets a first look
MOST_AT_ONCE = 4096  # rows of a node whose lists are all looked at before any is searched
SOME = 0.5  # units: more than nothing, since weights are whole units
MOST = 1e300  # no gain is larger
SURELY = 1e-3  # of a tie: what rounding takes of the largest gain there can be


@compiled
def scan_list(problem, rules, work, entries, start, n, figures, totals, bar_gain):
    """The best cut of one list by the criterion: its gain times the node's weight, and its place; 0 for none."""
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
            score, place = scan_pairs(
                entries, start, n, problem.shift, totals[0], totals[1], work.pairs, least, tolerance, bar
            )
        elif n_outputs == 1:
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
            work.blocks,
        )
    return (score - whole, place) if place else (NO_CUT, place)


@compiled
def has_look(rules, work, n):
    """Whether a list of n entries gets a first look: there is room for it only where that is of use."""
    shortest = SHORTEST_COUNTED if rules.is_counted else SHORTEST_WEIGHED
    return n >= shortest and n < MOST_ENTRIES and work.highs.shape[0] > 0


@compiled
def look_at(problem, rules, work, entries, start, n, lefts, has_few, is_told):
    """Add up a list's blocks in `lefts`; what its best cut surely gains, times the node's weight."""
    if has_few:
        n_blocks = fill_lefts_of_few(entries, start, n, problem.shift, work.units, work.block_words, lefts)
    else:
        by, units = units_of_entries(problem, work, is_told)
        n_blocks = fill_lefts(entries, start, n, problem.shift, by, units, lefts)
    undivided, known = score_undivided(lefts, n_blocks)
    unit, doubt = unit_and_doubt(rules, work, known)
    return (best_between_blocks(lefts, n_blocks, rules.min_leaf * unit + doubt) - undivided - doubt) / unit


@compiled
def units_of_entries(problem, work, is_told):
    """By what of an entry its units are found, and where: by marks and class if these tell them, else by its row."""
    if is_told:
        return by_marks_and_class(problem.shift), work.kind_units
    return by_row(problem.shift), work.units


@compiled
def weights_of_entries(problem, work, is_told):
    """The same for its weight."""
    if is_told:
        return by_marks(problem.shift), work.kind_weights
    return by_row(problem.shift), problem.weights


@compiled
def has_few_weighed(rules, n_rows):
    """Whether a node has weights, and so few rows that all of them fit into one word in small units."""
    return not rules.is_counted and n_rows <= SHORT


@compiled
def unit_and_doubt(rules, work, known):
    """How many units a weight of 1 has, and how many a gain may be wrong by where so many are known.

    That is more than what makes a tie.
    """
    return (1.0, ROUNDED * known) if rules.is_counted else (work.scale[0], 2.0 * work.scale[1] + ROUNDED * known)


@compiled
def look_closer(problem, rules, work, entries, start, n, lefts, bar, is_told):
    """After `look_at`: what the best cut of a list surely gains and what it gains at the most, times the node's weight.

    Only what exceeds the bar is looked for.
    """
    n_blocks = n_blocks_of(n)
    undivided, known = score_undivided(lefts, n_blocks)
    unit, doubt = unit_and_doubt(rules, work, known)
    least = rules.min_leaf * unit
    n_high = mark_high(lefts, n_blocks, bar * unit - doubt, least - doubt, work.highs)
    if n_high == 0:
        return NO_CUT, NO_CUT
    by, units = units_of_entries(problem, work, is_told)
    surely, possibly = best_in_blocks(
        entries,
        start,
        n,
        problem.shift,
        by,
        units,
        lefts,
        n_blocks,
        work.highs,
        n_high,
        least + doubt,
        max(least - doubt, SOME),
        work.words,
    )
    if possibly == 0.0 and least - doubt > SOME:
        return NO_CUT, NO_CUT
    # What weighs less than half a unit gains less than the doubt.
    return (surely - undivided - doubt) / unit, (max(possibly, undivided) - undivided + doubt) / unit


@compiled
def look_at_lists(problem, rules, work, lists, starts, lengths, at, is_told):
    """Look at all lists of a node, then closer at those that may have its best cut; what that surely gains.

    `work.surely[i]` is what the best cut of list i surely gains, `work.possibly[i]` what it gains at the most, if that
    counts.
    """
    most, first, n_lists = NO_CUT, 0, problem.lengths.shape[0]
    has_few = has_few_weighed(rules, lengths[at, n_lists])
    for i in range(n_lists):
        start, n = starts[at, i], lengths[at, i]
        if work.is_drawn[problem.list_slots[i]] and has_look(rules, work, n):
            work.surely[i] = look_at(problem, rules, work, lists[i], start, n, work.lefts[i], has_few, is_told)
            if work.surely[i] > most:
                first, most = i, work.surely[i]
    for step in range(n_lists):
        i = first if step == 0 else step - int64(step <= first)
        if work.is_drawn[problem.list_slots[i]] and has_look(rules, work, lengths[at, i]):
            bar = work.surely[i] if rules.needs_all else most
            surely, work.possibly[i] = look_closer(
                problem, rules, work, lists[i], starts[at, i], lengths[at, i], work.lefts[i], bar, is_told
            )
            work.surely[i] = max(work.surely[i], surely)
            most = max(most, surely)
    return most


@compiled
def scan_in_blocks(problem, rules, work, entries, start, n, lefts, totals, bar, is_told):
    """`scan_list` for Gini and few classes, after `look_at`: only blocks are searched that a first look leaves."""
    n_blocks, highs, least = n_blocks_of(n), work.highs, rules.min_leaf - TIE
    unit, doubt = unit_and_doubt(rules, work, score_undivided(lefts, n_blocks)[1])
    n_high = mark_high(lefts, n_blocks, bar * unit - doubt, least * unit - doubt, highs)
    if n_high == 0:
        return NO_CUT, uint64(0)
    shift = problem.shift
    by, weights = weights_of_entries(problem, work, is_told)
    if not rules.is_counted:
        sum_to_high(entries, start, n, shift, by, weights, highs, n_high, work.blocks, totals)
    whole, known = score_of_whole(totals, rules.criterion, rules.n_classes, int64(0))
    if rules.is_counted:
        score, place = scan_high_counts(
            entries,
            start,
            n,
            problem.shift,
            work.counts,
            work.left_counts,
            lefts,
            highs,
            n_high,
            rules.reciprocal,
            uint64(max(1.0, np.ceil(least))),
            rules.tolerance * known,
            whole + bar,
        )
    else:
        last = last_place(entries, start, n, by_row(shift)[1], problem.weights, least)
        score, place = scan_high_weights(
            entries,
            start,
            n,
            shift,
            by,
            totals,
            work.blocks,
            highs,
            n_high,
            weights,
            least,
            last,
            rules.tolerance * known,
            whole + bar,
        )
    return (score - whole, place) if place else (NO_CUT, place)


@compiled
def search_lists(problem, rules, work, lists, rows, starts, lengths, at, figures, key, path, n_path):
    """Every list's best cut, as a candidate in its slot; the largest gain found. The key names the node's draws.

    The path to the node tells what entries with marks weigh; see `mark_kernels`.

    Where only the best counts, a list is left as soon as it cannot have more than the best so far. So the list that was
    best in the node before, often the parent, comes first, and where lists get a first look, all are looked at before.
    """
    best, weight, first_pure, n_lists = NO_CUT, figures[0], work.gains.shape[0], problem.lengths.shape[0]
    strongest = strongest_list(problem, work.gains)
    surely, is_small = NO_CUT, lengths[at, n_lists] <= MOST_AT_ONCE
    is_told = has_kinds(n_path, lengths[at, n_lists])
    if is_told:
        fill_kinds(path, n_path, lengths[at, n_lists], weight, work.kind_weights, work.kind_units, work.scale)
    elif work.units.shape[0] > 0:
        row_start, n_rows = starts[at, n_lists], lengths[at, n_lists]
        fill = problem.weights, problem.classes, rows, row_start, n_rows, weight, work.units, work.scale
        if has_few_weighed(rules, n_rows):
            fill_units_of_few(*fill)
        else:
            fill_units(*fill)
    if work.pairs.shape[0] > 0:
        fill_pairs(problem, rows, starts[at, n_lists], lengths[at, n_lists], figures[1], work.pairs)
    if is_small:
        surely = look_at_lists(problem, rules, work, lists, starts, lengths, at, is_told)
    most = impurity_of(figures, rules, problem.numbers.shape[1]) - SURELY * rules.tolerance  # when children are pure
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
            if has_look(rules, work, n):
                lefts = work.lefts[i] if is_small else work.long_lefts
                if not is_small:
                    work.surely[i] = look_at(problem, rules, work, entries, start, n, lefts, is_small, is_told)
                    work.possibly[i] = MOST
                    surely = max(surely, work.surely[i])
                bar = work.surely[i] if rules.needs_all else max(bar, surely)
                if work.possibly[i] <= bar:
                    continue
                gain, place = scan_in_blocks(
                    problem, rules, work, entries, start, n, lefts, work.totals[i], bar, is_told
                )
            else:
                gain, place = scan_list(problem, rules, work, entries, start, n, figures, work.totals[i], bar)
        else:
            gain, place = best_place(problem, rules, work, i, entries, start, n, figures, key)
        if place:
            work.gains[slot] = gain / weight
            work.scores[slot] = work.gains[slot]
            work.details[slot, 0], work.details[slot, 1], work.details[slot, 3] = i, place, 0
            best = max(best, work.gains[slot])
            if best >= most and not rules.needs_all:
                first_pure = min(first_pure, slot)
            if rules.is_ratio:
                left, right = float(place - uint64(start)), float(uint64(start + n) - place)
                if not rules.is_counted:
                    left, right = weigh_sides(problem, rules, entries, start, place, n, work.left)
                elif information(left, right) < LITTLE:
                    count_sides(problem, rules, work, entries, start, place, n)
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
    """A threshold's gain ratio, after `best_split.with_correction` if it is to pay for being chosen among many."""
    if rules.is_corrected:
        work.gains[slot] -= log2(work.n_allowed[slot]) / weight
        if work.gains[slot] <= TIE:
            work.gains[slot] = NO_CUT
            return
    work.scores[slot] = work.gains[slot] / information(left, right)


@compiled
def weigh_sides(problem, rules, entries, start, place, n, sums):
    """The weight on each side of a cut; its class weights go to `sums`, those of the left first."""
    row_mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    left, right, weights, classes, n_classes = 0.0, 0.0, problem.weights, problem.classes, rules.n_classes
    for k in range(2 * n_classes):
        sums[k] = 0.0
    for i in range(start, place):
        row = entries[i] & row_mask
        left += weights[row]
        sums[classes[row]] += weights[row]
    for i in range(place, start + n):
        row = entries[i] & row_mask
        right += weights[row]
        sums[n_classes + classes[row]] += weights[row]
    return left, right


@compiled
def count_sides(problem, rules, work, entries, start, place, n):
    """`weigh_sides` where rows count one: the entries of the shorter side, and what is left of the node's."""
    sums, n_classes, shift = work.left, rules.n_classes, uint32(problem.shift)
    mask = (uint32(1) << (uint32(31) - shift)) - uint32(1)
    is_left = 2 * int64(place - uint64(start)) <= n
    begin, end = (uint64(start), place) if is_left else (place, uint64(start + n))
    here, there = (0, n_classes) if is_left else (n_classes, 0)
    for k in range(n_classes):
        sums[here + k] = 0.0
    for i in range(begin, end):
        sums[here + int64((entries[i] >> shift) & mask)] += 1.0
    for k in range(n_classes):
        sums[there + k] = work.counts[k] - sums[here + k]


@compiled
def winner(problem, rules, work, figures):
    """The slot of the node's split, when every candidate stands in its own; -1 when there is none."""
    if rules.way == DISTANT_VALUES:
        ratios_of_categories(problem, rules, work, figures[0])
        return choose_in_sequence(work.gains, work.scores, rules.is_in_average)
    if rules.is_corrected:
        correct_coded(problem, rules, work, figures[0])
    weigh_costs(rules, work.gains, work.scores)
    return choose(work.gains, work.scores, rules, work.passes)


@compiled
def correct_coded(problem, rules, work, weight):
    """Let the thresholds between levels pay for being chosen among many."""
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
    """How many gaps between levels that the node holds leave enough weight on both sides when they are cut."""
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
