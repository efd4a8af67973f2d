"""The compiled twin of `growth.column_draw`: which columns a node searches.

`work.order` holds the indices of `open_columns` in ascending order, except during a draw, which is undone afterwards.
"""

from numba import int64, uint64

from core.arithmetic.kernels.randomness import key_of, splitmix64
from core.arithmetic.randomness import FOR_COLUMNS
from core.compiler.compile import compiled


@compiled
def draw_columns(rules, work, spent, key):
    """Flag in `work.is_drawn` the slots that the node searches first; returns how many columns had their turn."""
    n_columns, n_drawn, turn = rules.open_columns.shape[0], 0, 0
    if rules.n_drawn == 0:
        return n_columns
    for slot in range(work.is_drawn.shape[0]):
        work.is_drawn[slot] = False
    for_columns = key_of(key, FOR_COLUMNS)
    while turn < n_columns and n_drawn < rules.n_drawn:
        n_drawn += flag_next(rules, work, spent, for_columns, turn)
        turn += 1
    return turn


@compiled
def draw_another(rules, work, spent, key, turn):
    """Flag only the next column that is not spent; returns how many had their turn, and whether there was one."""
    for slot in range(work.is_drawn.shape[0]):
        work.is_drawn[slot] = False
    is_flagged, for_columns = 0, key_of(key, FOR_COLUMNS)
    while turn < rules.open_columns.shape[0] and not is_flagged:
        is_flagged = flag_next(rules, work, spent, for_columns, turn)
        turn += 1
    return turn, is_flagged


@compiled
def flag_next(rules, work, spent, for_columns, turn):
    """Draw the column whose turn it is and flag its slots unless it is spent; returns 1 if flagged, else 0."""
    column = draw_next(rules, work.order, work.taken, for_columns, turn)
    coded = rules.coded_of_column[column]
    if coded >= 0 and spent[coded]:
        return 0
    for slot in range(rules.first_slots[column], rules.first_slots[column + 1]):
        work.is_drawn[slot] = True
    return 1


@compiled
def draw_next(rules, order, taken, for_columns, turn):
    """The column whose turn it is: one step of `column_draw.column_order`."""
    n_left = rules.open_columns.shape[0] - turn
    taken[turn] = turn
    if n_left > 1:
        drawn = splitmix64(key_of(for_columns, turn)) >> uint64(32)
        taken[turn] = turn + int64((drawn * uint64(n_left)) >> uint64(32))
    other = taken[turn]
    order[turn], order[other] = order[other], order[turn]
    return rules.open_columns[order[turn]]


@compiled
def take_back(order, taken, n_turns):
    """Undo the swaps of the first `n_turns` draws in `order`."""
    for turn in range(n_turns - 1, -1, -1):
        other = taken[turn]
        order[turn], order[other] = order[other], order[turn]


@compiled
def first_of_best(drawn, gains, n_found, most, tolerance):
    """The index of the cut within a tie of the best whose column comes first; -1 if there is none."""
    winner = -1
    for c in range(n_found):
        if gains[c] >= most - tolerance and (winner < 0 or drawn[c] < drawn[winner]):
            winner = c
    return winner
