"""What the kernels of merging hand on to each other: the categories that a node has, and their groups.

Every pair of groups is tested once, until one of its groups changes, as in the definition:

    sums[v, :], weights[v]    what the rows of category v sum up to, and weigh
    label[v]                  the place of the group that it is in: the first category of that
    places[:n]                the places of the groups there are, ascending; `a` and `b` count these
    group_sums[i, :]          what the group in place i sums up to
    statistic[i, j]           the test of the groups in places i < j, where these may be merged
    degrees[i, j]             those of chi-squared; of F those within, since all have one between
    least[i]                  the smallest of the statistics with any j, so that not all need to be looked through
    pair, class_weights       room for a test
    missing                   the category that stands for missing; -1 where there is none
"""

from core.compiler.compile import Struct, StructType, define, structure


class Pairs(Struct):
    """Groups with the tests of all pairs."""


@structure
class PairsType(StructType):
    """What kernels know of `Pairs`."""


define(Pairs, PairsType, "sums weights label positions group_sums statistic degrees least pair class_weights missing")
