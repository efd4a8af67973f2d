"""Bounds on the best cuts of a node's lists, and the search of what they leave; see `growth.kernels.bounds.bound`."""

import numpy as np
from numba import int64, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled
from core.criteria.kernels.impurity import ENTROPY, GINI
from core.growth.kernels.bounds.block_sums import (
    LONGEST_OF_WORDS,
    MOST_ENTRIES,
    SHORT,
    by_row,
    fill_lefts,
    fill_lefts_of_few,
    fill_units,
    fill_units_of_few,
    fill_words,
    n_blocks_of,
)
from core.growth.kernels.bounds.bound import (
    best_between_blocks,
    best_in_blocks,
    best_of_all,
    doubt_of_floats,
    doubt_of_units,
    flag_high,
    score_undivided,
)
from core.growth.kernels.bounds.rescan import (
    scan_high_counts,
    scan_high_counts_by_entropy,
    scan_high_weights,
    scan_high_weights_by_entropy,
    sum_to_high,
)
from core.growth.kernels.bounds.weight_flags import by_flags, by_flags_and_class, fill_kinds, has_kinds
from core.splits.kernels.numeric import NO_CUT, last_position, ratio, score_of_whole

SHORTEST_COUNTED, SHORTEST_WEIGHED = 48, 16  # entries of the shortest lists that are bounded
MOST_AT_ONCE = 4096  # rows of a node whose lists are all bounded before any is searched
MOST = 1e300  # no gain is larger
SOME = 0.5  # units: more than nothing, since weights are whole units


@compiled
def weigh_entries(problem, rules, work, rows, row_start, n_rows, figures, path, n_path):
    """Compute the weights of entries in units, unless rows count one; whether they are looked up by flags."""
    has_flags, most = has_kinds(n_path, n_rows), figures[0]
    if work.units.shape[0] > 0:
        most = heaviest_class(figures, rules.n_classes)
    if has_flags:
        fill_kinds(path, n_path, n_rows, most, work.kind_weights, work.kind_units, work.scale)
    elif work.units.shape[0] > 0:
        fill = problem.weights, problem.classes, rows, row_start, n_rows, most, work.units, work.scale
        if has_few_weighed(rules, n_rows):
            fill_units_of_few(*fill)
        else:
            fill_units(*fill)
    if work.units.shape[0] > 0:
        work.scale[1] = doubt_of_units(work.scale[1], figures[0] * work.scale[0], rules.criterion)
    return has_flags


@compiled
def heaviest_class(figures, n_classes):
    """The weight of a node's heaviest class."""
    most = 0.0
    for k in range(n_classes):
        most = max(most, figures[1 + k])
    return most


@compiled
def is_bounded(rules, work, n):
    """Whether a list of n entries is bounded before it is searched: buffers exist only where that is of use."""
    shortest = SHORTEST_COUNTED if rules.is_counted else SHORTEST_WEIGHED
    return n >= shortest and n < MOST_ENTRIES and work.highs.shape[0] > 0


@compiled
def has_words(rules, n_rows, n):
    """Whether all cuts of a list of n entries are scored, without blocks: few blocks would save less than they cost."""
    return has_few_weighed(rules, n_rows) and n <= LONGEST_OF_WORDS and rules.criterion == GINI and not rules.needs_all


@compiled
def bound_from_blocks(problem, rules, work, entries, start, n, lefts, has_few, has_flags):
    """Add up a list's blocks in `lefts`; returns a lower bound on its best cut's gain, times the node's weight."""
    if has_few:
        n_blocks = fill_lefts_of_few(entries, start, n, problem.shift, work.units, work.block_words, lefts)
    else:
        by, units = units_of_entries(problem, work, has_flags)
        n_blocks = fill_lefts(entries, start, n, problem.shift, by, units, lefts)
    undivided, known = score_undivided(lefts, n_blocks, rules.criterion)
    unit, doubt = unit_and_doubt(rules, work, known)
    best = best_between_blocks(lefts, n_blocks, rules.min_leaf * unit + doubt, rules.criterion)
    return (best - undivided - doubt) / unit


@compiled
def units_of_entries(problem, work, has_flags):
    """How `position_in` finds an entry's units, and their table: by flags and class if these are used, else by row."""
    if has_flags:
        return by_flags_and_class(problem.shift), work.kind_units
    return by_row(problem.shift), work.units


@compiled
def weights_of_entries(problem, work, has_flags):
    """How `position_in` finds an entry's weight, and the table of weights: by flags if these are used, else by row."""
    if has_flags:
        return by_flags(problem.shift), work.kind_weights
    return by_row(problem.shift), problem.weights


@compiled
def has_few_weighed(rules, n_rows):
    """Whether a node's rows have weights and are so few that the sums of all of them fit into one word."""
    return not rules.is_counted and n_rows <= SHORT


@compiled
def unit_and_doubt(rules, work, known):
    """The units in a weight of 1, and by how many a gain may be wrong where `known` units are known."""
    by_floats = doubt_of_floats(known, rules.criterion)
    return (1.0, by_floats) if rules.is_counted else (work.scale[0], work.scale[1] + by_floats)


@compiled
def bound_closely(problem, rules, work, entries, start, n, lefts, bar, has_flags):
    """After `bound_from_blocks`: closer lower and upper bounds on the best cut's gain, times the node's weight.

    Only blocks where a gain may exceed the bar are scored; NO_CUT twice if there are none.
    """
    n_blocks = n_blocks_of(n)
    undivided, known = score_undivided(lefts, n_blocks, rules.criterion)
    unit, doubt = unit_and_doubt(rules, work, known)
    least = rules.min_leaf * unit
    n_high = flag_high(lefts, n_blocks, bar * unit - doubt, least - doubt, rules.criterion, work.highs)
    if n_high == 0:
        return NO_CUT, NO_CUT
    by, units = units_of_entries(problem, work, has_flags)
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
        rules.criterion,
        work.words,
    )
    return bounds_of_gain(surely, possibly, undivided, least, unit, doubt)


@compiled
def bounds_of_gain(surely, possibly, undivided, least, unit, doubt):
    """The lower and upper bound on the gain of a list's best cut, from its highest scores."""
    if possibly == 0.0 and least - doubt > SOME:
        return NO_CUT, NO_CUT
    # A side that weighs less than half a unit gains less than the doubt.
    return (surely - undivided - doubt) / unit, (max(possibly, undivided) - undivided + doubt) / unit


@compiled
def bound_all_cuts(problem, rules, work, entries, start, n):
    """`bound_from_blocks` and `bound_closely` in one, for lists that need no blocks; see `has_words`."""
    t0, t1, t2 = fill_words(entries, start, n, problem.shift, work.units, work.block_words)
    known = t0 + t1 + t2
    undivided = ratio(t0 * t0 + t1 * t1 + t2 * t2, known)
    unit, doubt = unit_and_doubt(rules, work, known)
    least = rules.min_leaf * unit
    surely, possibly = best_of_all(work.block_words, n, t0, t1, t2, least + doubt, max(least - doubt, SOME))
    return bounds_of_gain(surely, possibly, undivided, least, unit, doubt)


@compiled
def bound_lists(problem, rules, work, lists, starts, lengths, at, has_flags):
    """Bound all drawn lists of a node; returns the largest lower bound on a gain, and its list, -1 if there is none.

    `work.surely[i]` is a lower bound on the gain of list i's best cut, `work.possibly[i]` an upper one if that cut may
    be the node's best. Lists that may have the best cut are bounded more closely, except where every list's best cut is
    needed, since then all are searched anyway. All gains are times the node's weight.
    """
    most, first, n_lists = NO_CUT, -1, problem.lengths.shape[0]
    n_rows = lengths[at, n_lists]
    has_few = has_few_weighed(rules, n_rows)
    for i in range(n_lists):
        start, n = starts[at, i], lengths[at, i]
        if work.is_drawn[problem.list_slots[i]] and is_bounded(rules, work, n):
            if has_words(rules, n_rows, n):
                work.surely[i], work.possibly[i] = bound_all_cuts(problem, rules, work, lists[i], start, n)
            else:
                work.surely[i] = bound_from_blocks(
                    problem, rules, work, lists[i], start, n, work.lefts[i], has_few, has_flags
                )
            if work.surely[i] > most:
                first, most = i, work.surely[i]
    if rules.needs_all:
        work.possibly[:] = MOST
        return most, first
    strongest = first
    for step in range(n_lists if first >= 0 else 0):
        i = first if step == 0 else step - int64(step <= first)
        start, n = starts[at, i], lengths[at, i]
        if not work.is_drawn[problem.list_slots[i]] or not is_bounded(rules, work, n):
            continue
        if has_words(rules, n_rows, n):
            if work.possibly[i] > most:  # it will be searched
                fill_lefts_of_few(lists[i], start, n, problem.shift, work.units, work.block_words, work.lefts[i])
        else:
            surely, work.possibly[i] = bound_closely(
                problem, rules, work, lists[i], start, n, work.lefts[i], most, has_flags
            )
            work.surely[i] = max(work.surely[i], surely)
            if surely > most:
                strongest, most = i, surely
    return most, strongest


@compiled
def scan_in_blocks(problem, rules, work, entries, start, n, lefts, totals, bar, has_flags):
    """The best cut of a bounded list above the bar: its gain times the node's weight, and its position; 0 for none.

    `growth.kernels.lists.best_split.scan_list` after `bound_from_blocks`: only high blocks are searched.
    """
    n_blocks, least = n_blocks_of(n), rules.min_leaf - TIE
    unit, doubt = unit_and_doubt(rules, work, score_undivided(lefts, n_blocks, rules.criterion)[1])
    n_high = flag_high(lefts, n_blocks, bar * unit - doubt, least * unit - doubt, rules.criterion, work.highs)
    if n_high == 0:
        return NO_CUT, uint64(0)
    if rules.is_counted:
        return scan_counts(problem, rules, work, entries, start, n, lefts, totals, n_high, bar)
    return scan_weighed(problem, rules, work, entries, start, n, totals, n_high, bar, has_flags)


@compiled
def scan_counts(problem, rules, work, entries, start, n, lefts, totals, n_high, bar):
    """`scan_in_blocks` where every row counts one, given the high blocks."""
    whole, known = score_of_whole(totals, rules.criterion, rules.n_classes, int64(0))
    least, tolerance = uint64(max(1.0, np.ceil(rules.min_leaf - TIE))), rules.tolerance * known
    given = entries, start, n, problem.shift, work.counts, work.left_counts, lefts, work.highs, n_high
    if rules.criterion == ENTROPY:
        is_small = n < rules.small_logs.shape[0]
        logs, unit = (
            rules.small_logs if is_small else rules.large_logs,
            rules.small_unit if is_small else rules.large_unit,
        )
        score, position = scan_high_counts_by_entropy(*given, logs, unit, least, tolerance, whole + bar)
    else:
        score, position = scan_high_counts(*given, rules.reciprocal, least, tolerance, whole + bar)
    return (score - whole, position) if position else (NO_CUT, position)


@compiled
def scan_weighed(problem, rules, work, entries, start, n, totals, n_high, bar, has_flags):
    """`scan_in_blocks` where rows have weights, given the high blocks."""
    shift, least = problem.shift, rules.min_leaf - TIE
    by, weights = weights_of_entries(problem, work, has_flags)
    sum_to_high(entries, start, n, shift, by, weights, work.highs, n_high, work.blocks, totals)
    whole, known = score_of_whole(totals, rules.criterion, rules.n_classes, int64(0))
    last, tolerance = (
        last_position(entries, start, n, by_row(shift)[1], problem.weights, least),
        rules.tolerance * known,
    )
    given = entries, start, n, shift, by, totals, work.blocks, work.highs, n_high, weights
    if rules.criterion == ENTROPY:
        score, position = scan_high_weights_by_entropy(
            *given, work.left, work.before, least, last, tolerance, whole + bar
        )
    else:
        score, position = scan_high_weights(*given, least, last, tolerance, whole + bar)
    return (score - whole, position) if position else (NO_CUT, position)
