"""`prediction.routing.visits`, compiled for blocks of rows.

Values are float64: codes as numbers, NaN for missing; one more column is all 0, for leaves to read. Many rows descend
together, one depth at a time, so the processor always has independent work. A row with a missing value becomes two
weighted copies. Everything rarer goes through `walk`, which visits node by node: rows travel as lists of
(row, weight), partitioned at each node, and values come as `block[column, row]`.
"""

from numba import int32, int64, uint32, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, numbers_at, prefetch
from core.tree.layout import IN_FLIGHT, LANES, LOOKUP, LOOKUP_OF_INTERVALS, THRESHOLD

WEIGHTED, LAST_NODE, MAJORITY_BRANCH, SURROGATE = 0, 1, 2, 3
ANSWERS, ENDS, VISITS = 0, 1, 2  # what `walk` records: answers, the leaves reached, or every node reached

STEPS_BETWEEN = 16  # between checks whether all rows are in leaves; checking at every depth costs a tenth

# While rows descend, the values of later rows are prefetched one cache line at a time. Prefetching all at once would
# stall: loads would queue behind each other, and rows behind the loads.
LINE, VALUE_BYTES = 8, 8  # the values in a line, and the bytes of a value
LINES = IN_FLIGHT // LINE  # of a column in a tile
ROWS_PER_LINE = 4  # that descend one depth per line prefetched
LINES_PER_STEP = 2 * LINES  # prefetched per depth by rows with missing values, which descend more slowly

# A copy's key holds its position in the tree and its row in the tile.
SLOT_BITS, SLOT = uint32(6), uint32(IN_FLIGHT - 1)

# A frame is a node still to be visited: its position, the start and length of its list, the start and length of the
# list of rows with a missing value, and where free memory starts while it is processed.
POSITION, START, N, HOLES_START, N_HOLES, FREE = 0, 1, 2, 3, 4, 5
FIELDS = 6


@compiled
def read_tiles(columns, n_rows, start, n, tiles, size, totals):
    """Copy n rows into tiles of `size` values, `[column * IN_FLIGHT + row]`, and add up each row into `totals`.

    A total is NaN exactly if a value is missing: known numbers can overflow to infinity, but not to NaN.
    """
    width, n_whole = uint64(IN_FLIGHT), n // uint64(IN_FLIGHT)
    for row in range(uint64(totals.shape[0])):
        totals[row] = 0.0
    for column in range(uint64(columns.shape[0])):
        cells, begin = numbers_at(columns[column], n_rows), column * width
        for tile in range(n_whole):  # a constant number of turns compiles to faster code
            at, first = tile * size + begin, tile * width
            for i in range(width):
                value = cells[start + first + i]
                tiles[at + i] = value
                totals[first + i] += value
        for row in range(n_whole * width, n):
            value = cells[start + row]
            tiles[n_whole * size + begin + row % width] = value
            totals[row] += value


@compiled
def line_address(columns, row, line):
    """The address of one of the cache lines that hold the tile starting at `row`."""
    first = row + line % uint64(LINES) * uint64(LINE)
    return columns[line // uint64(LINES)] + first * uint64(VALUE_BYTES)


@compiled
def branch_of(kind, threshold, lookup, lookup_start, cuts, cuts_start, cuts_end, missing, value):
    """`Split.branches` of one value: -1 if its category has no branch; `missing` is the branch of a missing value."""
    if value != value:
        return int32(missing)
    if kind == THRESHOLD:
        return int32(value > threshold)
    if kind == LOOKUP:
        return int32(lookup[lookup_start + int64(value)])
    low, high = cuts_start, cuts_end
    while low < high:
        middle = (low + high) >> 1
        if cuts[middle] < value:
            low = middle + 1
        else:
            high = middle
    if kind == LOOKUP_OF_INTERVALS:
        return int32(lookup[lookup_start + low - cuts_start])
    return int32(low - cuts_start)


@compiled
def take_thresholds(tests, depth, tiles, at, reached, start, columns, ahead):
    """Send the complete rows of the tile at `at` to their leaves, where all tests are thresholds.

    Writes leaf positions to `reached` from `start` on. Meanwhile prefetches the tile that starts with row `ahead`.
    """
    root, line, n_lines = tests[0], uint64(0), uint64(columns.shape[0]) * uint64(LINES)
    for i in range(uint64(IN_FLIGHT)):
        reached[start + i] = root.first + uint32(tiles[at + root.offset + i] > root.threshold)
    for step in range(1, depth):
        if step % STEPS_BETWEEN == STEPS_BETWEEN - 1 and are_in_leaves(tests, reached, start):
            break
        for first in range(uint64(0), uint64(IN_FLIGHT), uint64(ROWS_PER_LINE)):
            if line < n_lines:
                prefetch(line_address(columns, ahead, line))
                line += uint64(1)
            for i in range(first, first + uint64(ROWS_PER_LINE)):
                test = tests[reached[start + i]]
                reached[start + i] = test.first + uint32(tiles[at + test.offset + i] > test.threshold)


@compiled
def are_in_leaves(tests, reached, start):
    """Whether all rows of a tile are in leaves, which lead to themselves."""
    n = uint64(0)
    for i in range(uint64(IN_FLIGHT)):
        n += uint64(tests[reached[start + i]].first == reached[start + i])
    return n == uint64(IN_FLIGHT)


@compiled
def take_branches(nodes, depth, tiles, at, reached, start):
    """`take_thresholds` for tests of any kind."""
    for i in range(uint64(IN_FLIGHT)):
        reached[start + i] = uint32(0)
    for step in range(depth):
        if step % STEPS_BETWEEN == STEPS_BETWEEN - 1 and are_in_leaves(nodes.tests, reached, start):
            break
        for i in range(uint64(IN_FLIGHT)):
            position = reached[start + i]
            column = uint64(nodes.column[position])
            branch = branch_of(
                nodes.kind[position],
                nodes.threshold[position],
                nodes.lookup,
                nodes.lookup_start[position],
                nodes.cuts,
                nodes.cuts_start[column],
                nodes.cuts_start[column + uint64(1)],
                nodes.missing[position],
                tiles[at + column * uint64(IN_FLIGHT) + i],
            )
            reached[start + i] = nodes.first[position] + uint32(max(branch, int32(0)))


@compiled
def take_choices(choices, tests, lookup, depth, tiles, at, reached, start):
    """`take_thresholds` where some tests look up codes: every row does both, which is cheaper than branching."""
    for i in range(uint64(IN_FLIGHT)):
        reached[start + i] = uint32(0)
    for step in range(depth):
        if step % STEPS_BETWEEN == STEPS_BETWEEN - 1 and are_in_leaves(tests, reached, start):
            break
        for i in range(uint64(IN_FLIGHT)):
            choice = choices[reached[start + i]]
            value = tiles[at + choice.offset + i]
            code = int64(value if value >= choice.least else 0.0)  # a missing value reads entry 0, unused
            above = uint32(value > choice.threshold)
            reached[start + i] = choice.first + above + uint32(lookup[choice.lookup_start + code])


@compiled
def step_down(tests, tiles, at, copies, n, holes):
    """Move every copy down by its value, to the first branch if it is missing; list and count the latter in `holes`."""
    n_holes = uint64(0)
    for i in range(n):
        key = copies[i].key
        row, test = key & SLOT, tests[key >> SLOT_BITS]
        value = tiles[at + test.offset + row]
        copies[i].key = ((test.first + uint32(value > test.threshold)) << SLOT_BITS) | row
        holes[n_holes] = uint32(i)
        n_holes += uint64(value != value)
    return n_holes


@compiled
def copies_are_in_leaves(tests, copies, n):
    """Whether all copies are in leaves."""
    for i in range(n):
        position = copies[i].key >> SLOT_BITS
        if tests[position].first != position:
            return False
    return True


@compiled
def copy_at_holes(share, copies, n, holes, n_holes):
    """Split each copy without a value: a new one takes the other branch with its share. Returns the number of copies.

    `after` links the copies of a row from left to right.
    """
    for hole in range(n_holes):
        one, other = copies[holes[hole]], copies[n]
        left, whole = one.key >> SLOT_BITS, one.weight
        other.key, other.after = one.key + (uint32(1) << SLOT_BITS), one.after
        one.weight, other.weight = whole * share[left], whole * share[left + uint32(1)]
        one.after = uint32(n)
        n += uint64(1)
    return n


@compiled
def add_copies(answers, copies, slots, n_slots, start, out):
    """Write each row's answer, the sum over its copies; a copy of weight 0 adds nothing."""
    for slot in range(n_slots):
        row = start + uint64(slots[slot])
        for lane in range(uint64(0), uint64(answers.shape[1]), uint64(LANES)):
            a = b = c = d = 0.0
            copy = uint32(slot)
            while True:
                weight, position = copies[copy].weight, copies[copy].key >> SLOT_BITS
                a += weight * answers[position, lane]
                b += weight * answers[position, lane + uint64(1)]
                c += weight * answers[position, lane + uint64(2)]
                d += weight * answers[position, lane + uint64(3)]
                copy = copies[copy].after
                if copy == uint32(0):
                    break
            for k, total in enumerate((a, b, c, d)):
                if lane + uint64(k) < uint64(out.shape[1]):
                    out[row, lane + uint64(k)] = total


@compiled
def weighted_answers(nodes, depth, tiles, at, slots, n_slots, copies, holes, start, out, columns, ahead):
    """Answer rows with missing values by thresholds and weighted copies; False if `copies` is too small.

    The rows are the `slots` of the tile at `at`, which starts with row `start`. Meanwhile prefetches the tile that
    starts with row `ahead`.
    """
    for i in range(n_slots):
        copy = copies[i]
        copy.key, copy.weight, copy.after = slots[i], 1.0, uint32(0)
    n, n_lines = n_slots, uint64(columns.shape[0]) * uint64(LINES)
    for step in range(depth):
        if step % STEPS_BETWEEN == STEPS_BETWEEN - 1 and copies_are_in_leaves(nodes.tests, copies, n):
            break
        asked = min(uint64(step * LINES_PER_STEP), n_lines)
        for line in range(asked, min(asked + uint64(LINES_PER_STEP), n_lines)):
            prefetch(line_address(columns, ahead, line))
        n_holes = step_down(nodes.tests, tiles, at, copies, n, holes)
        if n + n_holes > uint64(copies.shape[0]):
            return False
        n = copy_at_holes(nodes.share, copies, n, holes, n_holes)
    add_copies(nodes.answers, copies, slots, n_slots, start, out)
    return True


@compiled
def list_incomplete(totals, first, n, slots):
    """List and count the rows of a tile that have a missing value; list all where few are complete."""
    n_missing, n_slots = uint64(0), uint64(0)
    for i in range(uint64(IN_FLIGHT)):
        n_missing += uint64(totals[first + i] != totals[first + i])
    if n_missing == uint64(0):
        return uint64(0)
    are_all = n_missing + n_missing > n
    for i in range(n):
        slots[n_slots] = uint32(i)
        n_slots += uint64(are_all | (totals[first + i] != totals[first + i]))
    return n_slots


@compiled
def answer_rows(columns, nodes, depth, kinds, by_copies, buffers, reached, left, out):
    """Answer the rows of a block that need no `walk`: `reached` gets the positions of leaves, `out` the answers.

    These are complete rows and, with `by_copies`, rows with missing values, which have no single position. The other
    rows are listed in `left`; returns their number. All rows of a tile descend together, incomplete ones and those
    after the last included, so `reached` holds whole tiles. `kinds` is the largest kind of test in the tree.
    """
    tiles, totals, slots, copies, holes = buffers.tiles, buffers.totals, buffers.slots, buffers.copies, buffers.holes
    n_rows, begin, n_left = uint64(left.shape[0]), uint64(0), uint64(0)
    width, n_fit, answers, n_outputs = (
        uint64(IN_FLIGHT),
        uint64(totals.shape[0]),
        nodes.answers,
        uint64(out.shape[1]),
    )
    size = uint64(tiles.shape[0]) // (n_fit // width)
    while begin < n_rows:
        n_read = min(n_fit, n_rows - begin)
        read_tiles(columns, n_rows, begin, n_read, tiles, size, totals)
        for first in range(uint64(0), n_read, width):  # of a tile
            start, at, n = begin + first, first // width * size, min(width, n_read - first)
            n_slots, ahead = list_incomplete(totals, first, n, slots), start + n_fit
            if n_slots < n:
                if kinds == THRESHOLD:
                    take_thresholds(nodes.tests, depth, tiles, at, reached, start, columns, ahead)
                elif kinds == LOOKUP:
                    take_choices(nodes.choices, nodes.tests, nodes.lookup, depth, tiles, at, reached, start)
                else:
                    take_branches(nodes, depth, tiles, at, reached, start)
                for row in range(start, start + n):
                    for k in range(n_outputs):
                        out[row, k] = answers[reached[row], k]
            is_done = n_slots == uint64(0)
            if by_copies and not is_done:
                is_done = weighted_answers(
                    nodes, depth, tiles, at, slots, n_slots, copies, holes, start, out, columns, ahead
                )
            if not is_done:
                for i in range(n_slots):
                    left[n_left] = uint32(start + uint64(slots[i]))
                    n_left += uint64(1)
        begin += n_read
    return int64(n_left)


@compiled
def add_answers(answers, position, entries, weights, start, n, out):
    """Add a node's answer, times each row's weight, to the answers of the rows that end there."""
    for i in range(uint64(start), uint64(start + n)):
        row, weight = entries[i], weights[i]
        for k in range(uint64(out.shape[1])):
            out[row, k] += weight * answers[position, k]


@compiled
def add_answers_of_missing(answers, position, entries, weights, start, n, branches, out):
    """`add_answers` for only those rows of a node that have no branch."""
    for i in range(n):
        if branches[i] < 0:
            add_answers(answers, position, entries, weights, start + i, 1, out)


@compiled
def node_branches(nodes, position, block, entries, start, n, branches):
    """Write the branch of each entry of a node's list to `branches`; returns how many have none."""
    at = nodes.column[position]
    n_missing = int64(0)
    if nodes.kind[position] == THRESHOLD:
        threshold = nodes.threshold[position]
        for i in range(uint64(n)):
            value = block[at, entries[uint64(start) + i]]
            is_hole = value != value
            branches[i] = int32(value > threshold) - int32(is_hole)
            n_missing += int64(is_hole)
        return n_missing
    kind, lookup_start, missing = nodes.kind[position], nodes.lookup_start[position], nodes.missing[position]
    cuts_start, cuts_end = nodes.cuts_start[at], nodes.cuts_start[at + 1]
    for i in range(uint64(n)):
        value = block[at, entries[uint64(start) + i]]
        branch = branch_of(kind, 0.0, nodes.lookup, lookup_start, nodes.cuts, cuts_start, cuts_end, missing, value)
        branches[i] = branch
        n_missing += int64(branch < 0)
    return n_missing


@compiled
def take_heaviest(share, child, n_branches, n, branches):
    """Send entries without a branch down the one of largest share, by `ties.first_within_tie`."""
    largest = share[child]
    for branch in range(1, n_branches):
        largest = max(largest, share[child + branch])
    heaviest = 0
    while share[child + heaviest] < largest - TIE:
        heaviest += 1
    for i in range(n):
        if branches[i] < 0:
            branches[i] = heaviest


@compiled
def follow_surrogates(surrogates, position, block, entries, start, n, branches):
    """`surrogates.followed` for entries without a branch; those for which no surrogate has a value keep none."""
    for i in range(uint64(n)):
        if branches[i] >= 0:
            continue
        row = entries[uint64(start) + i]
        for s in range(surrogates.start[position], surrogates.start[position + 1]):
            branch = branch_of(
                surrogates.kind[s],
                surrogates.threshold[s],
                surrogates.lookup,
                surrogates.lookup_start[s],
                surrogates.threshold,  # no surrogate has cuts
                0,
                0,
                -1,
                block[surrogates.column[s], row],
            )
            if branch >= 0:
                branches[i] = int32(1) - branch if surrogates.is_reversed[s] else branch
                break


@compiled
def split_in_two(entries, weights, start, n, branches, left_share, right_share, free):
    """`fractional_weights.send_down` to two branches: the first stays in place, the second goes to free memory."""
    left, right = uint64(start), uint64(free)
    for i in range(uint64(n)):
        row, weight, branch = entries[uint64(start) + i], weights[uint64(start) + i], branches[i]
        goes_left = weight * left_share if branch < 0 else weight
        goes_right = weight * right_share if branch < 0 else weight
        entries[left], weights[left] = row, goes_left
        entries[right], weights[right] = row, goes_right
        left += uint64((branch != 1) & (goes_left > 0.0))
        right += uint64((branch != 0) & (goes_right > 0.0))
    return int64(left) - start, int64(right) - free


@compiled
def sort_by_branch(entries, weights, start, n, branches, n_branches, ends, free):
    """Copy a list to free memory sorted by branch, entries without one last; `ends[v]` is the end of branch v."""
    for branch in range(n_branches + 1):
        ends[branch] = 0
    for i in range(n):
        ends[branches[i] if branches[i] >= 0 else n_branches] += 1
    at = free
    for branch in range(n_branches + 1):
        at += ends[branch]
        ends[branch] = at - ends[branch]
    for i in range(n):
        branch = branches[i] if branches[i] >= 0 else n_branches
        entries[ends[branch]], weights[ends[branch]] = entries[start + i], weights[start + i]
        ends[branch] += 1


@compiled
def merge(entries, weights, start, n, holes_start, n_holes, share, free):
    """Write a child's list to free memory in row order: its own rows, and a share of those that go to every branch."""
    own, own_end, hole, holes_end, at = start, start + n, holes_start, holes_start + n_holes, free
    while own < own_end or hole < holes_end:
        if hole == holes_end or (own < own_end and entries[own] < entries[hole]):
            entries[at], weights[at] = entries[own], weights[own]
            own += 1
            at += 1
        else:
            entries[at], weights[at] = entries[hole], weights[hole] * share
            at += int64(weights[at] > 0.0)
            hole += 1
    return at - free


@compiled
def push(frames, waiting, position, start, n, holes_start, n_holes, free):
    """Push a frame; returns the number of frames."""
    frames[waiting, POSITION], frames[waiting, START], frames[waiting, N] = position, start, n
    frames[waiting, HOLES_START], frames[waiting, N_HOLES], frames[waiting, FREE] = holes_start, n_holes, free
    return waiting + 1


@compiled
def keep(entries, weights, start, n, branches, only_missing, kept_rows, kept_weights, n_kept):
    """Record the rows and weights of a node's list, or only of those without a branch; returns how many are kept."""
    for i in range(n):
        if not only_missing or branches[i] < 0:
            kept_rows[n_kept], kept_weights[n_kept] = entries[start + i], weights[start + i]
            n_kept += int64(weights[start + i] > 0.0)
    return n_kept


@compiled
def walk(nodes, surrogates, policy, keeps, block, out, memory):
    """`prediction.routing.visits` of the rows in `memory`, depth first, left to right; adds their answers to `out`.

    Returns False if an array is too small, and resumes where it stopped when called with larger copies.
    """
    first, n_branches_of, share, answers = nodes.first, nodes.n_branches, nodes.share, nodes.answers
    entries, weights, branches, frames, ends = (
        memory.entries,
        memory.weights,
        memory.branches,
        memory.frames,
        memory.ends,
    )
    kept_rows, kept_weights, kept_positions, kept_ends = (
        memory.kept_rows,
        memory.kept_weights,
        memory.kept_positions,
        memory.kept_ends,
    )
    waiting, n_kept, n_visits = memory.counts[0], memory.counts[1], memory.counts[2]
    is_done = True
    while waiting > 0:
        frame = waiting - 1
        position, start, n, free = frames[frame, POSITION], frames[frame, START], frames[frame, N], frames[frame, FREE]
        n_holes, n_branches = frames[frame, N_HOLES], int64(n_branches_of[position])
        if (
            free + 2 * (n + n_holes) > entries.shape[0]
            or waiting + n_branches > frames.shape[0]
            or n_branches >= ends.shape[0]
            or n_kept + n + n_holes > kept_rows.shape[0]
            or n_visits == kept_positions.shape[0]
        ):
            is_done = False
            break
        waiting -= 1
        if n_holes > 0:
            n = merge(entries, weights, start, n, frames[frame, HOLES_START], n_holes, share[position], free)
            start, free = free, free + n
        if n == 0:
            continue
        if n_branches == 0 and keeps == ANSWERS:
            add_answers(answers, position, entries, weights, start, n, out)
            continue
        if n_branches == 0:
            n_kept = keep(entries, weights, start, n, branches, False, kept_rows, kept_weights, n_kept)
            kept_positions[n_visits], kept_ends[n_visits] = position, n_kept
            n_visits += 1
            continue
        child = int64(first[position])
        n_missing = node_branches(nodes, position, block, entries, start, n, branches)
        if keeps == VISITS or (keeps == ENDS and policy == LAST_NODE and n_missing > 0):
            n_kept = keep(entries, weights, start, n, branches, keeps == ENDS, kept_rows, kept_weights, n_kept)
            kept_positions[n_visits], kept_ends[n_visits] = position, n_kept
            n_visits += 1
        factor = 1.0
        if n_missing > 0 and policy == LAST_NODE:
            factor = 0.0  # they go no further
            if keeps == ANSWERS:
                add_answers_of_missing(answers, position, entries, weights, start, n, branches, out)
        elif n_missing > 0 and policy != WEIGHTED:
            if policy == SURROGATE:
                follow_surrogates(surrogates, position, block, entries, start, n, branches)
            take_heaviest(share, child, n_branches, n, branches)
            n_missing = 0
        if n_branches == 2:
            left_share, right_share = factor * share[child], factor * share[child + 1]
            n_left, n_right = split_in_two(entries, weights, start, n, branches, left_share, right_share, free)
            waiting = push(frames, waiting, child + 1, free, n_right, 0, 0, free + n_right)
            waiting = push(frames, waiting, child, start, n_left, 0, 0, free + n_right)
            continue
        sort_by_branch(entries, weights, start, n, branches, n_branches, ends, free)
        holes_start, end = ends[n_branches - 1], free + n
        for branch in range(n_branches - 1, -1, -1):
            begin = ends[branch - 1] if branch > 0 else free
            n_known, n_copies = ends[branch] - begin, n_missing if factor * share[child + branch] > 0.0 else 0
            if n_known + n_copies > 0:
                waiting = push(frames, waiting, child + branch, begin, n_known, holes_start, n_copies, end)
    memory.counts[0], memory.counts[1], memory.counts[2] = waiting, n_kept, n_visits
    return is_done
