"""The compiled twin of `prediction.visits`, for blocks of rows.

Values come as `block[column, row]`, float64, codes as numbers, NaN where a value is missing; one more column is all 0,
for leaves to read. Rows go down level by level, many at a time, so that the processor has many independent walks to
work on. A row that lacks a value becomes two copies. What is rarer than thresholds and weighted copies, the walk of
whole nodes does: rows travel down together as lists of (row, weight), divided node by node.
"""

from numba import int32, int64, uint32, uint64

from core.compiled_kernels import compiled
from core.ties import TIE
from core.tree_layout import LOOKUP, THRESHOLD

WEIGHTED, LAST_NODE, MAJORITY_BRANCH, SURROGATE = 0, 1, 2, 3
ANSWERS, ENDS, VISITS = 0, 1, 2  # what a walk leaves behind: answers, the leaves reached, or every node reached
IN_FLIGHT = 64

# A frame is a node that waits for its rows: its place, where its list begins and how many rows there are, where the
# rows whose value is missing begin and how many, and where free memory begins while it is dealt with.
PLACE, START, N, HOLES_START, N_HOLES, FREE = 0, 1, 2, 3, 4, 5
FIELDS = 6


@compiled
def count_complete(block, n_columns, begin, end, total):
    """How many of the rows from `begin` to `end` know all of the first columns; NaN in `total` marks the others."""
    for i in range(end - begin):
        total[i] = 0.0
    for column in range(n_columns):
        for i in range(end - begin):
            total[i] += block[column, begin + i]  # NaN once there is one; numbers alone may reach infinity, never NaN
    n_complete = uint64(0)
    for i in range(end - begin):
        n_complete += uint64(total[i] == total[i])
    return n_complete


@compiled
def branch_of(kind, threshold, lookup, lookup_start, cuts, cuts_start, cuts_end, value):
    """`Split.branches` of one value: -1 when it is missing, or when its category goes nowhere."""
    if value != value:
        return int32(-1)
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
    return int32(low - cuts_start)


@compiled
def take_branches(nodes, block, begin, end, reached):
    """One step down for each of these rows, whatever the kind of test; whether any was not yet in a leaf."""
    moved = uint32(0)
    for row in range(begin, end):
        place = reached[row]
        at = nodes.column[place]
        branch = branch_of(
            nodes.kind[place],
            nodes.threshold[place],
            nodes.lookup,
            nodes.lookup_start[place],
            nodes.cuts,
            nodes.cuts_start[at],
            nodes.cuts_start[at + 1],
            block[at, row],
        )
        reached[row] = nodes.first[place] + uint32(max(branch, int32(0)))
        moved |= reached[row] ^ place
    return moved


@compiled
def send_complete(nodes, depth, only_thresholds, block, n_tested, total, reached, others, out):
    """Send the rows that know every value tested to their leaves: `reached` gets the places, `out` the answers.

    The rest goes to `others`; how many they are. A few rows at a time: looking for holes brings their values near, and
    then they are used. Neighbours of complete rows go with them, for nothing; where few are complete, all are others.
    """
    column, threshold, first, answers = nodes.column, nodes.threshold, nodes.first, nodes.answers
    n_rows, begin, n_others = uint64(reached.shape[0]), uint64(0), uint64(0)
    while begin < n_rows:
        end = min(begin + uint64(IN_FLIGHT), n_rows)
        n_complete = count_complete(block, uint64(n_tested), begin, end, total)
        are_few = n_complete + n_complete < end - begin
        if n_complete < end - begin:
            for row in range(begin, end):
                others[n_others] = uint32(row)
                n_others += uint64(are_few or total[row - begin] != total[row - begin])
        if not are_few:
            for row in range(begin, end):
                reached[row] = uint32(0)
            for _ in range(depth):
                moved = uint32(0)
                if only_thresholds:
                    for row in range(begin, end):
                        place = reached[row]
                        below = first[place] + uint32(block[column[place], row] > threshold[place])
                        moved |= below ^ place
                        reached[row] = below
                else:
                    moved = take_branches(nodes, block, begin, end, reached)
                if moved == uint32(0):
                    break
            for row in range(begin, end):
                for k in range(uint64(out.shape[1])):
                    out[row, k] = answers[reached[row], k]
        begin = end
    return int64(n_others)


@compiled
def step_down(column, threshold, first, block, row_of, place, value, n):
    """Every copy takes the branch of its value, the first one if it is missing; `value` keeps what was read.

    Whether any copy was not yet in a leaf.
    """
    moved = uint32(0)
    for i in range(n):
        here = place[i]
        value[i] = read = block[column[here], row_of[i]]
        below = first[here] + uint32(read > threshold[here])
        moved |= below ^ here
        place[i] = below
    return moved != uint32(0)


@compiled
def copy_at_holes(share, copies, n):
    """Each copy that lacked a value shares its weight with a new one, which takes the other branch; how many there are.

    `after` leads from a copy to the next one of its row, left to right. 0 when there is no room for so many.
    """
    row_of, place, weight, after = copies.row, copies.place, copies.weight, copies.after
    value, holes = copies.value, copies.holes
    n_holes = uint64(0)
    for i in range(n):  # found apart from the step, which is twice as slow when it also looks for holes
        holes[n_holes] = uint32(i)
        n_holes += uint64(value[i] != value[i])
    if n + n_holes > uint64(row_of.shape[0]):
        return uint64(0)
    for hole in range(n_holes):
        i = holes[hole]
        left, whole = place[i], weight[i]
        row_of[n], place[n], after[n] = row_of[i], left + uint32(1), after[i]
        weight[i], weight[n] = whole * share[left], whole * share[left + uint32(1)]
        after[i] = uint32(n)
        n += uint64(1)
    return n


@compiled
def add_copies(answers, copies, n, rows, base, out):
    """A row's answer is the sum over its copies; a copy that came to weigh nothing adds nothing."""
    place, weight, after = copies.place, copies.weight, copies.after
    for i in range(n):
        row = rows[base + i]
        for k in range(uint64(answers.shape[1])):
            out[row, k] = weight[i] * answers[place[i], k]
        copy = after[i]
        while copy != uint32(0):
            for k in range(uint64(answers.shape[1])):
                out[row, k] += weight[copy] * answers[place[copy], k]
            copy = after[copy]


@compiled
def weighted_answers(nodes, depth, block, rows, copies, out):
    """Write the answers of rows that may lack values, by thresholds and weighted copies; how many rows were answered.

    It stops early at rows that take more copies than there is room for.
    """
    column, threshold, first, share = nodes.column, nodes.threshold, nodes.first, nodes.share
    n_rows, base = uint64(rows.shape[0]), uint64(0)
    while base < n_rows:
        n_taken = min(uint64(IN_FLIGHT), n_rows - base)
        for i in range(n_taken):
            copies.row[i], copies.place[i], copies.weight[i] = rows[base + i], uint32(0), 1.0
            copies.after[i] = uint32(0)
        n = n_taken
        for _ in range(depth):
            if not step_down(column, threshold, first, block, copies.row, copies.place, copies.value, n):
                break
            n = copy_at_holes(share, copies, n)
            if n == uint64(0):
                return int64(base)
        add_copies(nodes.answers, copies, n_taken, rows, base, out)
        base += n_taken
    return int64(base)


@compiled
def add_answers(answers, place, entries, weights, start, n, out):
    """Add a node's answer, times their weights, to the answers of the rows that end there."""
    for i in range(uint64(start), uint64(start + n)):
        row, weight = entries[i], weights[i]
        for k in range(uint64(answers.shape[1])):
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
    kind, lookup_start = nodes.kind[place], nodes.lookup_start[place]
    cuts_start, cuts_end = nodes.cuts_start[at], nodes.cuts_start[at + 1]
    for i in range(uint64(n)):
        value = block[at, entries[uint64(start) + i]]
        branch = branch_of(kind, 0.0, nodes.lookup, lookup_start, nodes.cuts, cuts_start, cuts_end, value)
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
