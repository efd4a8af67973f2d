"""Kernel of `grow.Grower.grow_depth_first`: grows a whole subtree in one call.

A column with an order is a sorted list (see `splits.kernels.numeric`), and every node owns a segment of it. A column of
categories, or of few values, is a code for each row, from which a node fills a table of sums by code (see
`growth.kernels.lists.coded_columns`). A node's list of rows is in row order. The smaller child of a binary split is
grown first and the bigger one waits, so that few nodes wait at any time:

    lists      [ … | bigger child | smaller child | free ]

Both children fit into the parent's segment, unless rows go both ways. Everything behind the node being grown is free.

`weights[row]` is a row's weight in the node being grown. If rows go down several branches, their weights in each child
are saved until it is that child's turn. A child that is a leaf is recognised before the lists are split, and gets no
segment of them.
"""

import numpy as np
from numba import int64, uint32, uint64

from core.arithmetic.kernels.randomness import key_of
from core.compiler.compile import compiled, making_arrays
from core.compiler.growing_arrays import longer_list, longer_lists, longer_rows
from core.criteria.kernels.impurity import SQUARED
from core.growth.kernels.bounds.weight_flags import MOST_FLAGS, flag_at, has_kinds
from core.growth.kernels.lists.best_split import search_lists, winner
from core.growth.kernels.lists.bits import count_bits, search_bits
from core.growth.kernels.lists.coded_columns import (
    MULTIWAY,
    ORDERED,
    branches_of_levels,
    coded_column,
    count_children,
    count_left,
    count_levels,
    counted_levels,
    fill_table,
    has_codes_below,
    n_sent_left,
    search_tables,
    take_branches,
)
from core.growth.kernels.lists.release8 import missing_weight
from core.growth.kernels.lists.renumber import LIST_ROWS, is_of_lists, is_worth_renumbering, renumbered
from core.growth.kernels.lists.routing import COPIED, DRAWN, FOLLOWING, draw_branches, follow_surrogates, settle_copies
from core.growth.kernels.lists.surrogates import find_surrogates, note_surrogates
from core.growth.kernels.node.column_draw import draw_another, draw_columns, take_back
from core.growth.kernels.node.split_rows import (
    branch_figures,
    counted_branches,
    split_by_branch,
    split_in_two,
    store_copies,
    take_sides,
)
from core.growth.kernels.node.state import (
    ASIDE,
    BRANCH,
    DEPTH,
    HAS_COUNTS,
    HIGH,
    IS_CODED,
    IS_COMPLETE,
    IS_SMALL,
    KEY,
    LEVELS,
    LOW,
    MISSING,
    N_ALLOWED,
    N_ASIDE,
    N_BRANCHES,
    N_INFOS,
    N_LINKS,
    N_MORE,
    N_OF_SURROGATE,
    N_PATH,
    NODE,
    PARENT,
    SLOT,
    SUMS,
    THRESHOLD,
    Problem,
    Rules,
    Work,
    original_row,
)
from core.growth.kernels.node.sums import is_leaf, known_totals, node_figures
from core.growth.kernels.small.grow import grow_small
from core.growth.kernels.small.scratch import MOST_SMALL
from core.splits.kernels.candidates import AT_RANDOM, DISTANT_VALUES
from core.splits.kernels.numeric import NO_CUT

DONE, STOP = 0, 1  # indices in `progress`
# A piece describes a node to be grown: its number, depth, random key and number of rows, and whether it may be split;
# then where its segment of each list and of the rows starts, how long each is, and which coded columns are spent.
AT_NODE, AT_DEPTH, AT_KEY, AT_SIZE, IS_OPEN, POSITIONS = range(6)


@making_arrays
def grow_subtree(
    problem, rules, work, piece, root_figures, first_counts, has_counts, few_rows, progress, splits, results, n_small
):
    """Grow the subtree of the node that `piece` describes, parents before children.

    `work.level_counts[first_counts + i]` are the counts by code of the i-th node on the stack, if it has any.

    Returns for each node its links (`PARENT` … `LEVELS`; for a cut in a list, the original rows on both sides instead
    of the threshold) and its figures; then the branch figures and the branches by code that the links point to; then
    the pieces left for later because they have at most `few_rows` rows; then the nodes of small subtrees, appended to
    the `n_small` given, and how many these are now. `progress[DONE]` grows by the weight of every leaf; growth ends
    when `progress[STOP]` is not 0.
    """
    n_lists, n_coded, m = problem.lengths.shape[0], problem.codes.shape[1], problem.numbers.shape[1]
    n_figures = 1 + 4 * m if rules.criterion == SQUARED else 1 + rules.n_classes
    width = 1 + 2 * m if rules.criterion == SQUARED else rules.n_classes
    lists, rows = problem.lists, problem.rows
    starts, lengths = np.zeros((64, n_lists + 1), np.int64), np.zeros((64, n_lists + 1), np.int64)  # rows come last
    infos, spent = np.zeros((64, N_INFOS), np.int64), np.zeros((64, rules.coded_slots.shape[0]), np.bool_)
    paths = np.zeros((64, 1 + MOST_FLAGS), np.float64)
    for j in range(problem.path.shape[0]):
        paths[0, j] = problem.path[j]
    infos[0, N_PATH] = problem.path.shape[0]
    take_piece(piece, starts[0], lengths[0], spent[0])
    infos[0, DEPTH], infos[0, HAS_COUNTS] = piece[AT_DEPTH], has_counts
    aside_rows, aside_weights = np.empty(64, np.uint32), np.empty(64, np.float64)
    links, figures = np.zeros((64, N_LINKS), np.int64), np.empty((64, n_figures), np.float64)
    sums, levels = np.empty(64 * (2 + 2 * width), np.float64), np.empty(64, np.uint16)
    n_sums, n_levels = 0, 0
    side, branch, shares, last_counts = work.side, work.branch, work.shares, work.level_counts.shape[0] - 1
    for j in range(n_figures):
        figures[0, j] = root_figures[j]
    links[0, PARENT], links[0, SLOT], links[0, KEY] = -1, -1, piece[AT_KEY]
    pieces, n_pieces = np.empty((1, piece.shape[0]), np.int64), 0
    n_nodes, waiting = 1, piece[IS_OPEN]
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    while waiting > 0 and progress[STOP] == 0.0:
        waiting -= 1
        here = waiting  # its children reuse this index: read what is needed before they are made
        node, node_depth = infos[here, NODE], infos[here, DEPTH]
        aside = infos[here, ASIDE]
        for i in range(aside, aside + infos[here, N_ASIDE]):
            problem.weights[aside_rows[i]] = aside_weights[i]
        row_start, n_rows = starts[here, n_lists], lengths[here, n_lists]
        figure, key = figures[node], uint64(links[node, KEY])
        if n_rows <= few_rows:
            pieces = longer_rows(pieces, n_pieces, n_pieces + 1)
            note_piece(pieces[n_pieces], node, node_depth, key, starts[here], lengths[here], spent[here])
            n_pieces += 1
            continue
        # Only if no pieces are left for later: those need the row numbers of this problem.
        if few_rows == 0 and rules.has_small and n_rows <= MOST_SMALL and is_of_lists(problem):
            links[node, IS_CODED], links[node, LOW] = IS_SMALL, n_small
            splits, results, n_small = grow_small(
                problem,
                rules,
                work,
                lists,
                rows,
                starts,
                lengths,
                here,
                node_depth,
                key,
                figure,
                splits,
                results,
                n_small,
            )
            links[node, HIGH] = n_small - links[node, LOW]
            progress[DONE] += figure[0]
            continue
        if few_rows == 0 and is_worth_renumbering(n_rows, problem, rules):
            path = paths[here, : infos[here, N_PATH]]
            local = renumbered(problem, rules, lists, rows, starts, lengths, here, work.spare, path)
            whole, counts_here = whole_piece(local, node_depth, key, spent[here]), first_counts + here
            below, figures_below, sums_below, levels_below, _, splits, results, n_small = grow_subtree(
                local,
                rules,
                work,
                whole,
                figure,
                counts_here,
                infos[here, HAS_COUNTS],
                few_rows,
                progress,
                splits,
                results,
                n_small,
            )
            n_below = below.shape[0]
            links, figures = (
                longer_rows(links, n_nodes, n_nodes + n_below),
                longer_rows(figures, n_nodes, n_nodes + n_below),
            )
            sums = longer_list(sums, n_sums, n_sums + sums_below.shape[0])
            levels = longer_list(levels, n_levels, n_levels + levels_below.shape[0])
            graft(
                (links, figures, sums, levels),
                (n_nodes, n_sums, n_levels),
                node,
                (below, figures_below, sums_below, levels_below),
            )
            n_nodes += n_below - 1
            n_sums += sums_below.shape[0]
            n_levels += levels_below.shape[0]
            continue
        if rules.criterion != SQUARED:
            for k in range(rules.n_classes):
                work.counts[k] = int64(figure[1 + k])
        known_totals(problem, rules, rows, row_start, n_rows, figure, work.totals)
        if n_coded > 0:
            counts = work.level_counts[min(first_counts + here, last_counts)]
            if rules.is_counted and not infos[here, HAS_COUNTS]:
                count_levels(problem, rows, row_start, n_rows, counts)
            fill_table(problem, rules, work, counts, rows, row_start, n_rows, figure)
        if problem.bit_columns.shape[0] > 0:
            count_bits(problem, rows, row_start, n_rows, work.bit_counts)
        n_turns, slot, is_drawn = draw_columns(rules, work, spent[here], key), int64(-1), 1
        while is_drawn:
            best_gain = NO_CUT
            if n_lists > 0:
                best_gain = search_lists(
                    problem,
                    rules,
                    work,
                    lists,
                    rows,
                    starts,
                    lengths,
                    here,
                    figure,
                    key,
                    paths[here],
                    infos[here, N_PATH],
                )
            if n_coded > 0:
                best_gain = search_tables(problem, rules, work, spent, here, figure, best_gain)
            if problem.bit_columns.shape[0] > 0:
                search_bits(problem, rules, work, figure, best_gain)
            slot = winner(problem, rules, work, figure)
            if slot >= 0 or n_turns >= rules.open_columns.shape[0]:
                break
            n_turns, is_drawn = draw_another(rules, work, spent[here], key, n_turns)
        if rules.n_drawn > 0:
            take_back(work.order, work.taken, n_turns)
        if (
            slot < 0
            or work.gains[slot] < rules.min_gain - rules.tolerance
            or work.scores[slot] < rules.min_score - rules.tolerance
        ):
            progress[DONE] += figure[0]
            continue
        link = links[node]
        link[SLOT], link[IS_CODED], link[LEVELS] = slot, work.details[slot, 3], n_levels
        n_branches = 2
        if link[IS_CODED]:
            j = work.details[slot, 0]
            a = coded_column(problem, j)
            n_branches = branches_of_levels(problem, rules, work, slot)
            take_branches(problem, rules, work, j, n_branches, rows, row_start, n_rows)
            if rules.is_counted:
                n_left = count_left(problem, rules, work, j)
            else:
                n_left = n_sent_left(rows, row_start, n_rows, side)
            keeper = 0 if 2 * n_left >= n_rows else 1
            if rules.coded_kinds[a] == ORDERED:
                link[LOW], link[HIGH] = work.details[slot, 1], work.details[slot, 2]
            elif rules.coded_kinds[a] != MULTIWAY:
                levels = longer_list(levels, n_levels, n_levels + rules.coded_levels[a])
                for v in range(rules.coded_levels[a]):
                    levels[n_levels + v] = work.branch_of[v]
                n_levels += rules.coded_levels[a]
        else:
            i, position = work.details[slot, 0], work.details[slot, 1]
            entries = lists[i]
            keeper = 0 if 2 * (position - starts[here, i]) >= lengths[here, i] else 1
            link[LOW] = original_row(problem, entries[position - 1] & mask)
            link[HIGH] = original_row(problem, entries[position] & mask)
            take_sides(
                problem,
                entries,
                starts[here, i],
                position,
                lengths[here, i],
                rows,
                row_start,
                n_rows,
                side,
                work.left_counts,
                rules.is_counted,
            )
        link[N_BRANCHES], link[SUMS] = n_branches, n_sums
        n_more = n_sums + n_branches * (1 + width)
        sums = longer_list(sums, n_sums, n_more + N_MORE)
        sums[n_more + THRESHOLD], sums[n_more + N_ALLOWED] = work.thresholds[slot], work.n_allowed[slot]
        sums[n_more + MISSING] = 0.0
        n_copied = 0
        if rules.is_counted and n_branches == 2:
            counted_branches(work.counts, work.left_counts, sums, n_sums)
        elif rules.is_counted:
            counted_levels(problem, rules, work, j, n_branches, sums, n_sums)
        else:
            n_copied = branch_figures(problem, rules, work, rows, row_start, n_rows, n_branches, figure, sums, n_sums)
        link[IS_COMPLETE] = n_copied == 0
        if rules.way == DISTANT_VALUES and not link[IS_COMPLETE]:
            sums[n_more + MISSING] = missing_weight(problem.weights, rows, row_start, n_rows, side)
        known = 0.0
        for b in range(n_branches):
            known += sums[n_sums + b]
        for b in range(n_branches):
            shares[b] = sums[n_sums + b] / known
        if rules.strategy == DRAWN:
            draw_branches(problem, work.unknown, n_copied, side, branch, shares, n_branches, key)
        n_noted = 0
        if rules.strategy == FOLLOWING:
            n_ranked = find_surrogates(
                problem, rules, work, lists, rows, starts, lengths, here, rules.slot_columns[slot]
            )
            follow_surrogates(problem, rules, work, n_ranked, n_copied)
            n_noted, n_more_levels = 1 + n_ranked * N_OF_SURROGATE, work.surrogate_branches.shape[0]
            sums = longer_list(sums, n_more + N_MORE, n_more + N_MORE + n_noted)
            levels = longer_list(levels, n_levels, n_levels + n_more_levels)
            n_levels = note_surrogates(
                problem, rules, work, n_ranked, sums, n_more + N_MORE, levels, link[LEVELS], n_levels
            )
        if rules.strategy != COPIED:
            n_copied = 0
        n_path, n_unknown, flag = infos[here, N_PATH], n_copied, uint32(0)
        if n_copied > 0:
            n_copied = settle_copies(problem, rules, work.unknown, n_copied, side, branch, shares, n_branches)
            if n_branches == 2 and n_copied == n_unknown and has_kinds(n_path, n_rows):
                flag = flag_at(problem.shift, n_path)
        links, figures = (
            longer_rows(links, n_nodes, n_nodes + n_branches),
            longer_rows(figures, n_nodes, n_nodes + n_branches),
        )
        needed = here + n_branches + 1
        if needed > infos.shape[0]:
            starts, lengths = longer_rows(starts, here + 1, needed), longer_rows(lengths, here + 1, needed)
            infos, spent = longer_rows(infos, here + 1, needed), longer_rows(spent, here + 1, needed)
            paths = longer_rows(paths, here + 1, needed)
        if problem.has_missing:
            n_above = n_copied if n_branches == 2 else n_rows + n_copied * n_branches
            rows = longer_list(rows, row_start + n_rows, row_start + n_rows + n_above)
            lists = longer_lists(lists, starts[here], lengths[here], n_above)
        for b in range(n_branches):
            links[n_nodes + b, PARENT], links[n_nodes + b, BRANCH] = node, b
            links[n_nodes + b, SLOT], links[n_nodes + b, SUMS], links[n_nodes + b, LEVELS] = -1, 0, 0
            links[n_nodes + b, IS_CODED] = 0
            if rules.way == AT_RANDOM or rules.n_drawn > 0 or rules.strategy == DRAWN:
                links[n_nodes + b, KEY] = int64(key_of(key, b))
        is_known = bool(links[node, IS_COMPLETE])
        stack = (starts, lengths, infos, spent)
        if links[node, IS_CODED] and rules.coded_kinds[a] == MULTIWAY:
            spent[here, a] = True
        if n_branches == 2:
            waiting = split_in_two(
                problem,
                rules,
                work,
                stack,
                lists,
                rows,
                here,
                node_depth + 1,
                n_nodes,
                figures,
                sums,
                n_sums,
                is_known,
                keeper,
                flag,
            )
        else:
            waiting = split_by_branch(
                problem,
                rules,
                work,
                stack,
                lists,
                rows,
                here,
                node_depth + 1,
                n_nodes,
                n_branches,
                figures,
                sums,
                n_sums,
                is_known,
            )
        for b in range(n_branches):
            progress[DONE] += figures[n_nodes + b, 0]
        for at in range(here, waiting):
            progress[DONE] -= figures[infos[at, NODE], 0]
        is_waiting = waiting > here
        for at in range(waiting - 1, here - 1, -1):
            infos[at, N_PATH] = go_on(
                paths[here], n_path, n_unknown, flag, waiting - here, shares[links[infos[at, NODE], BRANCH]], paths[at]
            )
        is_counted_below = 0
        if n_branches == 2 and is_waiting and starts[here, n_lists] == row_start:  # the bigger child waits
            n_kept = lengths[here, n_lists]
            if n_kept > few_rows and has_codes_below(problem, rules, n_kept, LIST_ROWS):
                is_counted_below = count_children(
                    problem, rules, work, rows, row_start, n_rows, n_kept, first_counts + here
                )
        for at in range(here, waiting):
            infos[at, HAS_COUNTS] = is_counted_below
        if n_copied > 0 and is_waiting:
            needed = aside + n_copied * (waiting - here)
            aside_rows, aside_weights = (
                longer_list(aside_rows, aside, needed),
                longer_list(aside_weights, aside, needed),
            )
            for at in range(here, waiting):
                infos[at, ASIDE] = aside
                share = shares[links[infos[at, NODE], BRANCH]]
                infos[at, N_ASIDE] = store_copies(
                    problem, work.unknown, n_copied, share, aside_rows, aside_weights, aside
                )
                aside += infos[at, N_ASIDE]
        else:
            for at in range(here, waiting):
                infos[at, ASIDE], infos[at, N_ASIDE] = aside, 0
        n_sums = n_more + N_MORE + n_noted
        n_nodes += n_branches
    tree = links[:n_nodes], figures[:n_nodes], sums[:n_sums], levels[:n_levels]
    return *tree, pieces[:n_pieces], splits, results, n_small


@compiled
def go_on(path, n_path, n_unknown, flag, n_children, share, below):
    """Write the path to a child to `below`, ending with `share` if rows lack the value; returns its length.

    Paths are those of `growth.kernels.bounds.weight_flags`. A path is empty if these rows got no flag: `split_in_two`
    sets none where only one child gets lists.
    """
    if n_unknown > 0 and (flag == uint32(0) or n_children < 2):
        return int64(0)
    for j in range(n_path):
        below[j] = path[j]
    if n_unknown > 0:
        below[n_path] = share
    return n_path + int64(n_unknown > 0)


@compiled
def note_piece(piece, node, depth, key, starts, lengths, spent):
    """Fill `piece` with what describes a node to be grown."""
    n = starts.shape[0]
    piece[AT_NODE], piece[AT_DEPTH], piece[AT_KEY], piece[AT_SIZE] = node, depth, int64(key), lengths[n - 1]
    piece[IS_OPEN] = 1
    for c in range(n):
        piece[POSITIONS + c], piece[POSITIONS + n + c] = starts[c], lengths[c]
    for a in range(spent.shape[0]):
        piece[POSITIONS + 2 * n + a] = spent[a]


@compiled
def take_piece(piece, starts, lengths, spent):
    """Read from `piece` the node's segments and which columns are spent."""
    n = starts.shape[0]
    for c in range(n):
        starts[c], lengths[c] = piece[POSITIONS + c], piece[POSITIONS + n + c]
    for a in range(spent.shape[0]):
        spent[a] = piece[POSITIONS + 2 * n + a] != 0


@making_arrays
def whole_piece(problem, depth, key, spent):
    """The piece of a node that has all rows of the problem."""
    n_lists, node = problem.lengths.shape[0], int64(0)  # a literal would have callees compiled again
    starts, lengths = np.zeros(n_lists + 1, np.int64), np.empty(n_lists + 1, np.int64)
    for c in range(n_lists):
        lengths[c] = problem.lengths[c]
    lengths[n_lists] = problem.n_rows
    piece = np.empty(POSITIONS + 2 * (n_lists + 1) + spent.shape[0], np.int64)
    note_piece(piece, node, depth, key, starts, lengths, spent)
    return piece


@compiled
def graft(tree, sizes, node, below):
    """Copy a subtree into a tree: its root replaces the leaf `node`, its other nodes follow those of the tree.

    The arrays of the tree are long enough; `sizes` are its numbers of nodes, sums and levels.
    """
    links, figures, sums, levels = tree
    n_nodes, n_sums, n_levels = sizes
    links_below, figures_below, sums_below, levels_below = below
    for i in range(links_below.shape[0]):
        to = node if i == 0 else n_nodes + i - 1
        for j in range(2 if i == 0 else 0, N_LINKS):  # the root keeps the leaf's parent and branch
            links[to, j] = links_below[i, j]
        if i > 0:
            parent = links_below[i, PARENT]
            links[to, PARENT] = node if parent == 0 else n_nodes + parent - 1
        links[to, SUMS] += n_sums
        links[to, LEVELS] += n_levels
        for j in range(figures.shape[1]):
            figures[to, j] = figures_below[i, j]
    for i in range(sums_below.shape[0]):
        sums[n_sums + i] = sums_below[i]
    for i in range(levels_below.shape[0]):
        levels[n_levels + i] = levels_below[i]


@making_arrays
def root_piece(problem_fields, rules_fields, work_fields):
    """The piece of the root, and its figures.

    The structs are built in the kernel: building them in Python would need the compiler.
    """
    problem, rules, work = Problem(*problem_fields), Rules(*rules_fields), Work(*work_fields)
    m, first, depth = problem.numbers.shape[1], int64(0), int64(0)  # no literals, as in `whole_piece`
    figures = np.zeros(1 + 4 * m if rules.criterion == SQUARED else 1 + rules.n_classes)
    is_pure = node_figures(
        problem, rules, problem.rows, first, problem.n_rows, work.side, 1.0, work.left_counts, figures
    )
    piece = whole_piece(problem, depth, rules.root_key, np.zeros(rules.coded_slots.shape[0], np.bool_))
    piece[IS_OPEN] = not is_leaf(figures, is_pure, depth, rules, m)
    return piece, figures


@making_arrays
def grow_piece(problem_fields, rules_fields, work_fields, piece, figures, few_rows, progress, splits, results):
    """`grow_subtree` for callers in Python; several threads may grow pieces at the same time if these share no rows."""
    problem, rules, work = Problem(*problem_fields), Rules(*rules_fields), Work(*work_fields)
    nothing = int64(0)  # a literal would have callees compiled again
    return grow_subtree(
        problem, rules, work, piece, figures, nothing, nothing, few_rows, progress, splits, results, nothing
    )


@making_arrays
def depth_first(links):
    """Order the nodes depth first, children by branch; returns subtree sizes and old node numbers in that order."""
    n_nodes = links.shape[0]
    sizes, before = np.ones(n_nodes, np.int32), np.zeros(n_nodes, np.int64)
    for node in range(n_nodes - 1, 0, -1):  # children follow their parent, adjacent and in branch order
        sizes[links[node, PARENT]] += sizes[node]
    for node in range(1, n_nodes):
        if links[node, BRANCH] > 0:
            before[node] = before[node - 1] + sizes[node - 1]
    numbers = np.zeros(n_nodes, np.int64)
    for node in range(1, n_nodes):
        numbers[node] = numbers[links[node, PARENT]] + 1 + before[node]
    ordered_sizes, order = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int64)
    for node in range(n_nodes):
        order[numbers[node]] = node
        ordered_sizes[numbers[node]] = sizes[node]
    return ordered_sizes, order
