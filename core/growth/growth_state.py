"""What the kernels of growth hand on to each other: the samples of a subtree, the rules, and room to work in."""

from core.compiled_kernels import Struct, StructType, define, structure

NODE, DEPTH, ASIDE, N_ASIDE = range(4)  # columns of what is known of a waiting node
ABOVE_AVERAGE, BETTER_HALF, NO_FILTER = 0, 1, 2
NO_COSTS, TAN_SCHLIMMER, NUNEZ = 0, 1, 2


class Problem(Struct):
    """The samples of a subtree, its rows numbered from 0 in row order; `origin` are their numbers in the whole table.

    `lists[i, : lengths[i]]` is the sorted list of the column with candidate slot `list_slots[i]`, `missing[row]` has a
    bit for each list the row is not in. `codes[row, j]` belongs to the coded column `coded[j]`. Lists, rows and weights
    are used up.
    """


class Rules(Struct):
    """How to grow: the criterion, limits, and tables that replace divisions and logarithms of whole numbers.

    A slot is the place of a candidate in the order of the columns. Coded column j has its slot, what its split is like,
    how many levels it has, and where they start in the table of sums.
    """


class Work(Struct):
    """Room that nodes use one after the other; nothing in it outlives a node."""


@structure
class ProblemType(StructType):
    """What kernels know of a `Problem`."""


@structure
class RulesType(StructType):
    """What kernels know of `Rules`."""


@structure
class WorkType(StructType):
    """What kernels know of `Work`."""


define(
    Problem,
    ProblemType,
    "lists lengths list_slots rows n_rows classes numbers weights missing has_missing codes coded origin shift",
)
define(
    Rules,
    RulesType,
    "criterion is_ratio needs_all gain_filter n_classes is_counted is_unit max_depth min_split min_leaf min_gain "
    "min_score min_impurity min_copy min_category tolerance cost_kind cost_power slot_costs coded_slots coded_kinds "
    "coded_levels coded_starts reciprocal small_logs large_logs small_unit large_unit",
)
define(
    Work,
    WorkType,
    "counts left_counts left before totals gains scores details passes shares side branch spare numbering table "
    "level_weights is_in_first branch_of places level_gains open_rows open_sizes open_branches parent_starts "
    "parent_lengths parent_tops space",
)
