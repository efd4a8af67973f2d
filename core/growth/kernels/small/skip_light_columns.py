"""Nodes of little weight: their heavy rows alone show for most columns that no cut leaves enough on both sides.

Nearly half of all searches of small nodes of a forest were for a cut that cannot exist. Where a branch needs a weight
of 1, a node that weighs 2.0 to 2.2 has 34 rows, ten of which weigh 95 % of it.

    heavy rows in the order of a column     .9   .3   .7        and .2 in other rows, at any positions
    left of the cut after each              .9  1.2  1.9        at most 1.1, 1.4, 2.1
    right of it                            1.0   .7   0         at most 1.2,  .9,  .2: only the first is possible
"""

from numba import types, uint64

from core.compiler.compile import compiled
from core.compiler.eight_lanes import WIDTH, in_lanes
from core.growth.kernels.small.scratch import UNKNOWN

LIGHT = 4.0  # times the least weight of a branch: below it, a node is light
HEAVY = 0.03  # of the node's weight: above it, a row is heavy
MARGIN = 2.0**-18  # of the node's weight: more than the rounding error of any sum here


@in_lanes(types.uint64)
def rows_with_enough(positions, weights, unknown, enough):
    """After which of eight rows a cut has `enough` on both sides, as bits; rows of unknown position are on neither."""
    position = positions(0)
    weight = weights(0).where(unknown > position)
    left, both = weight, weight
    for step in range(1, WIDTH):
        other = weight.moved(step, weight)
        left = left + other.where(position >= position.moved(step, position))
        both = both + other
    return ((left >= enough) & (both - left >= enough)).as_bits()


@compiled
def take_heavy_rows(work, begin, n, weight):
    """Store up to eight heavy rows of a node and their weights; returns the weight of all others together."""
    rows, weights, heavy_rows, heavy_weights = work.small_rows, work.small_weights, work.heavy_rows, work.heavy_weights
    n_heavy, enough, rest = uint64(0), HEAVY * weight, weight
    for j in range(uint64(begin), uint64(begin + n)):
        heavy_rows[n_heavy], heavy_weights[n_heavy] = rows[j], weights[j]
        n_heavy += uint64(weights[j] > enough) & uint64(n_heavy < uint64(WIDTH))
    for lane in range(n_heavy, uint64(WIDTH)):
        heavy_weights[lane] = 0.0
    for lane in range(WIDTH):
        rest -= heavy_weights[lane]
    return rest


@compiled
def may_have_cut(work, i, weight, rest, least):
    """False only where no cut of list i leaves `least` on both sides, whatever the positions of the other rows."""
    position, heavy_rows, positions = work.position[i], work.heavy_rows, work.heavy_positions
    for lane in range(WIDTH):
        positions[lane] = position[heavy_rows[lane]]
    limits = work.rough_limits
    limits[0], limits[1] = UNKNOWN, least - rest - MARGIN * weight
    return rows_with_enough(0, positions, work.heavy_weights, limits[0], limits[1]) != uint64(0)
