"""The compiled twin of `column_draw`: which columns a node searches."""

from numba import int64, uint64

from core.compiled_kernels import compiled
from core.randomness import FOR_COLUMNS
from core.randomness_kernels import key_of, splitmix64


@compiled
def draw_columns(rules, work, spent, key):
    """Mark in `work.is_drawn` what the node searches first; how many columns have had their turn in `work.order`."""
    if rules.n_drawn == 0:
        return rules.open_columns.shape[0]
    order, n_columns, n_drawn = work.order, rules.open_columns.shape[0], 0
    for place in range(n_columns):
        order[place] = place
    for slot in range(work.is_drawn.shape[0]):
        work.is_drawn[slot] = False
    place = 0
    while place < n_columns and n_drawn < rules.n_drawn:
        n_drawn += mark_next(rules, work, spent, key, place)
        place += 1
    return place


@compiled
def draw_another(rules, work, spent, key, place):
    """Mark the next column that is not spent, and no other; how many have had their turn then."""
    for slot in range(work.is_drawn.shape[0]):
        work.is_drawn[slot] = False
    is_marked = 0
    while place < rules.open_columns.shape[0] and not is_marked:
        is_marked = mark_next(rules, work, spent, key, place)
        place += 1
    return place, is_marked


@compiled
def mark_next(rules, work, spent, key, place):
    """`column_draw.column_order`, one step: draw the column in that place and mark its slots, unless it is spent."""
    order, n_left = work.order, rules.open_columns.shape[0] - place
    if n_left > 1:
        drawn = splitmix64(key_of(key_of(key, FOR_COLUMNS), place)) >> uint64(32)
        other = place + int64((drawn * uint64(n_left)) >> uint64(32))
        order[place], order[other] = order[other], order[place]
    column = rules.open_columns[order[place]]
    coded = rules.coded_of_column[column]
    if coded >= 0 and spent[coded]:
        return 0
    first, after = rules.first_slots[column], rules.first_slots[column + 1]
    for slot in range(first, after):
        work.is_drawn[slot] = True
    return 1
