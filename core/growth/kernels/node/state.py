"""What the kernels of growth hand on to each other: the samples of a subtree, the rules, and room to work in."""

from core.compiler.compile import Struct, StructType, compiled, define, structure

NODE, DEPTH, ASIDE, N_ASIDE, HAS_COUNTS, N_PATH = range(6)  # columns of what is known of a waiting node
N_INFOS = 6
PARENT, BRANCH, SLOT, IS_CODED, LOW, HIGH, IS_COMPLETE, N_BRANCHES, SUMS, LEVELS, KEY = range(11)  # columns of links
N_LINKS = 11
IS_SMALL = -1  # in the place of `IS_CODED`: the nodes from here on are kept apart, LOW is the first, HIGH how many
# What stands after the figures of a split's branches: its threshold where that is no midpoint, how many cuts it was the
# best of, and the weight of rows without the value; each only if the rules look at it. Then, if they look for them, how
# many surrogates there are, and of each its column, threshold and direction, its agreement, and where its branches are
# among the node's levels (-1 where it has a threshold).
THRESHOLD, N_ALLOWED, MISSING, N_MORE = 0, 1, 2, 3
STAND_IN, STAND_IN_THRESHOLD, IS_REVERSED, AGREEMENT, BRANCHES_AT, N_OF_SURROGATE = range(6)
ABOVE_AVERAGE, BETTER_HALF, NO_FILTER = 0, 1, 2
NO_COSTS, TAN_SCHLIMMER, NUNEZ = 0, 1, 2


class Problem(Struct):
    """The samples of a subtree, its rows numbered from 0 in row order.

    `origin` are their numbers in the whole table, left out where these are the same. `lists[i, : lengths[i]]` is the
    sorted list of the column with candidate slot `list_slots[i]`; `distinct[i]` says that all its values differ. Where
    numbers are predicted, `missing[row]` has a bit for each list the row is not in. `codes[row, j]` is a level of the
    coded column `coded[j]`, counted through all of them; bit b of `bits[row]` belongs to `bit_columns[b]`. `values[i,
    row]` is the value in list i, only there if the rules look at it. `path` is the path to the subtree's root, see
    `growth.kernels.bounds.weight_flags`. Lists and rows are used up, and weights where values are missing.
    """


class Rules(Struct):
    """How to grow: the criterion, limits, and tables that replace divisions and logarithms of whole numbers.

    A slot is the place of a candidate in the order of the columns. Coded column j has its slot, what its split is like,
    how many levels it has, and where they start in the table of sums. `way` says which cuts of a list are candidates,
    `n_parts` how many bins or draws, `is_corrected` whether a threshold's gain pays for the choice. A node draws
    `n_drawn` of the `open_columns`; 0 for all. Weights are whole numbers where `is_whole`. `strategy` says what
    becomes of rows without the value of a split, see `growth.kernels.lists.routing`.
    """


class Work(Struct):
    """Room that nodes use one after the other; nothing in it outlives a node but the counts of those that wait.

    In a subtree of few rows, numbered from 0, `place[list, row]` is where a row stands in a list, `value` how many
    distinct values come before, and `by_place` the row in a place; `list_of` is the list of a column. `small_rows` are
    those of waiting nodes, with their weights there.
    """


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
    "lists lengths distinct list_slots rows n_rows classes numbers weights missing has_missing codes coded bits "
    "bit_columns origin shift values path",
)
define(
    Rules,
    RulesType,
    "criterion is_ratio needs_all gain_filter n_classes is_counted is_unit max_depth min_split min_leaf min_gain "
    "min_score min_impurity min_copy min_category tolerance cost_kind cost_power slot_costs coded_slots coded_kinds "
    "coded_levels coded_starts reciprocal small_logs large_logs small_unit large_unit way "
    "n_parts is_corrected slot_columns is_in_average root_key open_columns n_drawn coded_of_column first_slots "
    "is_whole has_small strategy",
)
define(
    Work,
    WorkType,
    "counts left_counts left before blocks lefts long_lefts highs block_words kind_weights kind_units words units "
    "scale surely possibly totals gains scores details passes shares side branch flags unknown parts known_ways ways "
    "spare bit_counts level_counts table level_weights held n_held bounds is_tight is_in_first branch_of side_of "
    "positions level_gains open_rows open_sizes open_branches parent_starts parent_lengths space thresholds "
    "n_allowed gaps gap_thresholds gap_scores is_drawn order taken pairs "
    "position value by_position list_of n_positions small_rows small_weights weight_words row_classes "
    "row_numbers row_origin row_weights ordered bit_words small_waiting waiting_figures child_sums drawn drawn_gains "
    "cuts tagged tagged_words ordered_tagged row_at class_lefts is_new cut_scores small_sides side_parts "
    "limits rough_tagged rough_words rough_ordered rough_lefts rough_is_new rough_scores rough_limits "
    "drawn_slacks is_clear heavy_rows heavy_weights heavy_positions "
    "groups level_sides agreements stand_in_thresholds is_reversed stand_in_branches ranked ranked_agreements",
)


@compiled
def original_row(problem, row):
    """The row's number in the whole table."""
    return problem.origin[row] if problem.origin.shape[0] > 0 else row
