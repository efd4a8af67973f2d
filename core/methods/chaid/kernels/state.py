"""The state that CHAID's merging kernels share: the categories of a node and their groups.

A pair of groups is tested again only when one of its groups changes, as in the definition:

    sums[v, :], weights[v]    the sums and the weight of the rows of category v
    label[v]                  the position of the group that v is in, which is the group's first category
    positions[:n]             the positions of the current groups, ascending; `a` and `b` are indices into it
    group_sums[i, :]          the sums of the group at position i
    statistic[i, j]           the test of the groups at positions i < j, if they may be merged
    degrees[i, j]             degrees of freedom of chi-squared; for F those within the groups (between, it is 1)
    least[i]                  the smallest statistic[i, j] over all j, so that most rows need not be scanned
    pair, class_weights       scratch for a test
    missing                   the category for missing values; -1 if there is none
"""

from core.compiler.compile import Struct, StructType, define, structure


class Pairs(Struct):
    """Groups with the tests of all pairs."""


@structure
class PairsType(StructType):
    """The Numba type of `Pairs`."""


define(Pairs, PairsType, "sums weights label positions group_sums statistic degrees least pair class_weights missing")
