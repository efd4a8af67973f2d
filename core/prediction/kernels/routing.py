"""The compiled twin of `prediction.visits`, for blocks of rows.

Values are float64, codes as numbers, NaN where a value is missing; one more column is all 0, for leaves to read. Rows
go down level by level, many at a time, so that the processor has many independent walks to work on. A row that lacks a
value becomes two copies. What is rarer than thresholds and weighted copies, the walk of whole nodes does: rows travel
down together as lists of (row, weight), divided node by node, and their values come as `block[column, row]`.
"""

from numba import int32, int64, uint32, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import ask_for, compiled, numbers_at
from core.tree.layout import IN_FLIGHT, LANES, LOOKUP, LOOKUP_OF_INTERVALS, THRESHOLD

WEIGHTED, LAST_NODE, MAJORITY_BRANCH, SURROGATE = 0, 1, 2, 3
ANSWERS, ENDS, VISITS = 0, 1, 2  # what a walk leaves behind: answers, the leaves reached, or every node reached

LEVELS = 16  # down which rows go before it is asked whether all are in leaves: asking at every level costs a tenth

# While rows go down, values of rows further on are asked for, a line of memory at a time: so they are near when they
# are read. All at once they would have to wait for each other, and rows for them.
LINE, VALUE_BYTES = 8, 8  # the values in a line, and the bytes of a value
LINES = IN_FLIGHT // LINE  # of a column in a tile
ROWS_PER_LINE = 4  # that go down a level for each line asked for
LINES_PER_LEVEL = 2 * LINES  # asked for before rows that lack values go down a level, which takes them longer

# A copy's key is the place where it is, and which row of the tile it is of.
SLOT_BITS, SLOT = uint32(6), uint32(IN_FLIGHT - 1)

# A frame is a node that waits for its rows: its place, where its list begins and how many rows there are, where the
# rows whose value is missing begin and how many, and where free memory begins while it is dealt with.
PLACE, START, N, HOLES_START, N_HOLES, FREE = 0, 1, 2, 3, 4, 5
FIELDS = 6


@compiled
def read_tiles(columns, n_rows, start, n, tiles, size, totals):
    """Bring n rows near: tile after tile of `size` values, `[column * IN_FLIGHT + row]`, and the totals of rows.

    A total is NaN once there is a value that is missing. Numbers alone may reach infinity there, never NaN.
    """
    width, n_whole = uint64(IN_FLIGHT), n // uint64(IN_FLIGHT)
    for row in range(uint64(totals.shape[0])):
        totals[row] = 0.0
    for column in range(uint64(columns.shape[0])):
        cells, begin = numbers_at(columns[column], n_rows), column * width
        for tile in range(n_whole):  # a number of turns that is known beforehand makes quicker code
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
    """Where one of the lines begins that hold the values of the tile that begins with `row`."""
    first = row + line % uint64(LINES) * uint64(LINE)
    return columns[line // uint64(LINES)] + first * uint64(VALUE_BYTES)


@compiled
def branch_of(kind, threshold, lookup, lookup_start, cuts, cuts_start, cuts_end, missing, value):
    """`Split.branches` of one value: -1 when its category goes nowhere; `missing` is the branch of a missing one."""
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
    """Send the rows of the tile at `at`, all complete, to their leaves, level by level; all tests are thresholds.

    `reached` gets the places, from `start` on. Meanwhile the tile that begins with row `ahead` is asked for.
    """
    root, line, n_lines = tests[0], uint64(0), uint64(columns.shape[0]) * uint64(LINES)
    for i in range(uint64(IN_FLIGHT)):
        reached[start + i] = root.first + uint32(tiles[at + root.offset + i] > root.threshold)
    for level in range(1, depth):
        if level % LEVELS == LEVELS - 1 and are_in_leaves(tests, reached, start):
            break
        for first in range(uint64(0), uint64(IN_FLIGHT), uint64(ROWS_PER_LINE)):
            if line < n_lines:
                ask_for(line_address(columns, ahead, line))
                line += uint64(1)
            for i in range(first, first + uint64(ROWS_PER_LINE)):
                test = tests[reached[start + i]]
                reached[start + i] = test.first + uint32(tiles[at + test.offset + i] > test.threshold)


@compiled
def are_in_leaves(tests, reached, start):
    """Whether all rows of a tile have come to leaves, which lead to themselves."""
    n = uint64(0)
    for i in range(uint64(IN_FLIGHT)):
        n += uint64(tests[reached[start + i]].first == reached[start + i])
    return n == uint64(IN_FLIGHT)


@compiled
def take_branches(nodes, depth, tiles, at, reached, start):
    """`take_thresholds`, whatever the kinds of tests."""
    for i in range(uint64(IN_FLIGHT)):
        reached[start + i] = uint32(0)
    for level in range(depth):
        if level % LEVELS == LEVELS - 1 and are_in_leaves(nodes.tests, reached, start):
            break
        for i in range(uint64(IN_FLIGHT)):
            place = reached[start + i]
            column = uint64(nodes.column[place])
            branch = branch_of(
                nodes.kind[place],
                nodes.threshold[place],
                nodes.lookup,
                nodes.lookup_start[place],
                nodes.cuts,
                nodes.cuts_start[column],
                nodes.cuts_start[column + uint64(1)],
                nodes.missing[place],
                tiles[at + column * uint64(IN_FLIGHT) + i],
            )
            reached[start + i] = nodes.first[place] + uint32(max(branch, int32(0)))


@compiled
def take_choices(choices, tests, lookup, depth, tiles, at, reached, start):
    """`take_thresholds` where some tests read a table of codes: rows do both, which costs less than to choose."""
    for i in range(uint64(IN_FLIGHT)):
        reached[start + i] = uint32(0)
    for level in range(depth):
        if level % LEVELS == LEVELS - 1 and are_in_leaves(tests, reached, start):
            break
        for i in range(uint64(IN_FLIGHT)):
            choice = choices[reached[start + i]]
            value = tiles[at + choice.offset + i]
            code = int64(value if value >= choice.least else 0.0)  # a missing value, which goes for nothing, reads 0
            above = uint32(value > choice.threshold)
            reached[start + i] = choice.first + above + uint32(lookup[choice.lookup_start + code])


@compiled
def step_down(tests, tiles, at, copies, n, holes):
    """Every copy takes the branch of its value, the first one if it is missing: `holes` lists those; how many."""
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
    """Whether all copies have come to leaves."""
    for i in range(n):
        place = copies[i].key >> SLOT_BITS
        if tests[place].first != place:
            return False
    return True


@compiled
def copy_at_holes(share, copies, n, holes, n_holes):
    """Each copy that lacked a value shares its weight with a new one, which takes the other branch; how many there are.

    `after` leads from a copy to the next one of its row, left to right.
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
    """A row's answer is the sum over its copies; a copy that came to weigh nothing adds nothing."""
    for slot in range(n_slots):
        row = start + uint64(slots[slot])
        for lane in range(uint64(0), uint64(answers.shape[1]), uint64(LANES)):
            a = b = c = d = 0.0
            copy = uint32(slot)
            while True:
                weight, place = copies[copy].weight, copies[copy].key >> SLOT_BITS
                a += weight * answers[place, lane]
                b += weight * answers[place, lane + uint64(1)]
                c += weight * answers[place, lane + uint64(2)]
                d += weight * answers[place, lane + uint64(3)]
                copy = copies[copy].after
                if copy == uint32(0):
                    break
            for k, total in enumerate((a, b, c, d)):
                if lane + uint64(k) < uint64(out.shape[1]):
                    out[row, lane + uint64(k)] = total


@compiled
def weighted_answers(nodes, depth, tiles, at, slots, n_slots, copies, holes, start, out, columns, ahead):
    """Write the answers of rows that lack values, by thresholds and weighted copies; False if there is no room for all.

    They are the `slots` of the tile at `at`, which begins with row `start`. Meanwhile the tile that begins with row
    `ahead` is asked for.
    """
    for i in range(n_slots):
        copy = copies[i]
        copy.key, copy.weight, copy.after = slots[i], 1.0, uint32(0)
    n, n_lines = n_slots, uint64(columns.shape[0]) * uint64(LINES)
    for level in range(depth):
        if level % LEVELS == LEVELS - 1 and copies_are_in_leaves(nodes.tests, copies, n):
            break
        asked = min(uint64(level * LINES_PER_LEVEL), n_lines)
        for line in range(asked, min(asked + uint64(LINES_PER_LEVEL), n_lines)):
            ask_for(line_address(columns, ahead, line))
        n_holes = step_down(nodes.tests, tiles, at, copies, n, holes)
        if n + n_holes > uint64(copies.shape[0]):
            return False
        n = copy_at_holes(nodes.share, copies, n, holes, n_holes)
    add_copies(nodes.answers, copies, slots, n_slots, start, out)
    return True


@compiled
def list_incomplete(totals, first, n, slots):
    """Which of the n rows of a tile lack a value; all of them where few do not. How many they are."""
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
def answer_rows(columns, nodes, depth, kinds, by_copies, room, reached, left, out):
    """Answer the rows of a block that go down quickly: `reached` gets the places of leaves, `out` the answers.

    Those are complete rows and, if asked for, rows with holes by weighted copies, which have no place. The others are
    listed in `left`; how many they are. Neighbours of complete rows go with them, for nothing; and so does what stands
    after the last row in the last tile, which is why `reached` has room for whole tiles. `kinds` is the largest kind of
    test there is.
    """
    tiles, totals, slots, copies, holes = room.tiles, room.totals, room.slots, room.copies, room.holes
    n_rows, begin, n_left = uint64(left.shape[0]), uint64(0), uint64(0)
    width, n_room, answers, n_outputs = uint64(IN_FLIGHT), uint64(totals.shape[0]), nodes.answers, uint64(out.shape[1])
    size = uint64(tiles.shape[0]) // (n_room // width)
    while begin < n_rows:
        n_read = min(n_room, n_rows - begin)
        read_tiles(columns, n_rows, begin, n_read, tiles, size, totals)
        for first in range(uint64(0), n_read, width):  # of a tile
            start, at, n = begin + first, first // width * size, min(width, n_read - first)
            n_slots, ahead = list_incomplete(totals, first, n, slots), start + n_room
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
def add_answers(answers, place, entries, weights, start, n, out):
    """Add a node's answer, times their weights, to the answers of the rows that end there."""
    for i in range(uint64(start), uint64(start + n)):
        row, weight = entries[i], weights[i]
        for k in range(uint64(out.shape[1])):
            out[row, k] += weight * answers[place, k]


@compiled
def add_answers_of_missing(answers, place, entries, weights, start, n, branches, out):
    """The same for those of a node's rows that have no branch."""
    for i in range(n):
        if branches[i] < 0:
            add_answers(answers, place, entries, weights, start + i, 1, out)


@compiled
def node_branches(nodes, place, block, entries, start, n, branches):
    """The branch of each entry of a node's list; how many have none."""
    at = nodes.column[place]
    n_missing = int64(0)
    if nodes.kind[place] == THRESHOLD:
        threshold = nodes.threshold[place]
        for i in range(uint64(n)):
            value = block[at, entries[uint64(start) + i]]
            is_hole = value != value
            branches[i] = int32(value > threshold) - int32(is_hole)
            n_missing += int64(is_hole)
        return n_missing
    kind, lookup_start, missing = nodes.kind[place], nodes.lookup_start[place], nodes.missing[place]
    cuts_start, cuts_end = nodes.cuts_start[at], nodes.cuts_start[at + 1]
    for i in range(uint64(n)):
        value = block[at, entries[uint64(start) + i]]
        branch = branch_of(kind, 0.0, nodes.lookup, lookup_start, nodes.cuts, cuts_start, cuts_end, missing, value)
        branches[i] = branch
        n_missing += int64(branch < 0)
    return n_missing


@compiled
def take_heaviest(share, child, n_branches, n, branches):
    """Entries without a branch get that of `ties.first_within_tie`."""
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
def follow_stand_ins(stand_ins, place, block, entries, start, n, branches):
    """`surrogates.followed` for the entries without a branch, as far as some surrogate knows one."""
    for i in range(uint64(n)):
        if branches[i] >= 0:
            continue
        row = entries[uint64(start) + i]
        for s in range(stand_ins.start[place], stand_ins.start[place + 1]):
            branch = branch_of(
                stand_ins.kind[s],
                stand_ins.threshold[s],
                stand_ins.lookup,
                stand_ins.lookup_start[s],
                stand_ins.threshold,  # no surrogate has cuts
                0,
                0,
                -1,
                block[stand_ins.column[s], row],
            )
            if branch >= 0:
                branches[i] = int32(1) - branch if stand_ins.is_reversed[s] else branch
                break


@compiled
def divide_in_two(entries, weights, start, n, branches, left_share, right_share, free):
    """`fractional_weights.send_down` to two branches: the first keeps this memory, the second gets free memory."""
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
    """Copy a list to free memory, branch by branch, the entries without one last; `ends[v]` is the end of branch v."""
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
    """The list of a child, in row order, in free memory: its own rows, and those that go everywhere with a share."""
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
def push(frames, waiting, place, start, n, holes_start, n_holes, free):
    """One more node that waits; how many then do."""
    frames[waiting, PLACE], frames[waiting, START], frames[waiting, N] = place, start, n
    frames[waiting, HOLES_START], frames[waiting, N_HOLES], frames[waiting, FREE] = holes_start, n_holes, free
    return waiting + 1


@compiled
def keep(entries, weights, start, n, branches, only_missing, kept_rows, kept_weights, n_kept):
    """Write down the rows and weights of a node's list, or of those in it that have no branch; how many are kept."""
    for i in range(n):
        if not only_missing or branches[i] < 0:
            kept_rows[n_kept], kept_weights[n_kept] = entries[start + i], weights[start + i]
            n_kept += int64(weights[start + i] > 0.0)
    return n_kept


@compiled
def walk(nodes, stand_ins, policy, keeps, block, out, memory):
    """`prediction.visits` of the rows in memory, depth first, left to right: `out` gets their answers added.

    False when some memory is too small: it goes on where it stopped once it is called with larger copies.
    """
    first, n_branches_of, share, answers = nodes.first, nodes.n_branches, nodes.share, nodes.answers
    entries, weights, branches, frames, ends = (
        memory.entries,
        memory.weights,
        memory.branches,
        memory.frames,
        memory.ends,
    )
    kept_rows, kept_weights, kept_places, kept_ends = (
        memory.kept_rows,
        memory.kept_weights,
        memory.kept_places,
        memory.kept_ends,
    )
    waiting, n_kept, n_visits = memory.counts[0], memory.counts[1], memory.counts[2]
    is_done = True
    while waiting > 0:
        frame = waiting - 1
        place, start, n, free = frames[frame, PLACE], frames[frame, START], frames[frame, N], frames[frame, FREE]
        n_holes, n_branches = frames[frame, N_HOLES], int64(n_branches_of[place])
        if (
            free + 2 * (n + n_holes) > entries.shape[0]
            or waiting + n_branches > frames.shape[0]
            or n_branches >= ends.shape[0]
            or n_kept + n + n_holes > kept_rows.shape[0]
            or n_visits == kept_places.shape[0]
        ):
            is_done = False
            break
        waiting -= 1
        if n_holes > 0:
            n = merge(entries, weights, start, n, frames[frame, HOLES_START], n_holes, share[place], free)
            start, free = free, free + n
        if n == 0:
            continue
        if n_branches == 0 and keeps == ANSWERS:
            add_answers(answers, place, entries, weights, start, n, out)
            continue
        if n_branches == 0:
            n_kept = keep(entries, weights, start, n, branches, False, kept_rows, kept_weights, n_kept)
            kept_places[n_visits], kept_ends[n_visits] = place, n_kept
            n_visits += 1
            continue
        child = int64(first[place])
        n_missing = node_branches(nodes, place, block, entries, start, n, branches)
        if keeps == VISITS or (keeps == ENDS and policy == LAST_NODE and n_missing > 0):
            n_kept = keep(entries, weights, start, n, branches, keeps == ENDS, kept_rows, kept_weights, n_kept)
            kept_places[n_visits], kept_ends[n_visits] = place, n_kept
            n_visits += 1
        factor = 1.0
        if n_missing > 0 and policy == LAST_NODE:
            factor = 0.0  # they go no further
            if keeps == ANSWERS:
                add_answers_of_missing(answers, place, entries, weights, start, n, branches, out)
        elif n_missing > 0 and policy != WEIGHTED:
            if policy == SURROGATE:
                follow_stand_ins(stand_ins, place, block, entries, start, n, branches)
            take_heaviest(share, child, n_branches, n, branches)
            n_missing = 0
        if n_branches == 2:
            left_share, right_share = factor * share[child], factor * share[child + 1]
            n_left, n_right = divide_in_two(entries, weights, start, n, branches, left_share, right_share, free)
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
