"""Data that the kernels of growth share: the samples of a subtree, the rules, and scratch buffers."""

from core.compiler.compile import Struct, StructType, compiled, define, structure

NODE, DEPTH, ASIDE, N_ASIDE, HAS_COUNTS, N_PATH = range(6)  # columns of the infos of waiting nodes
N_INFOS = 6
PARENT, BRANCH, SLOT, IS_CODED, LOW, HIGH, IS_COMPLETE, N_BRANCHES, SUMS, LEVELS, KEY = range(11)  # columns of links
N_LINKS = 11
IS_SMALL = -1  # a value of `IS_CODED`: the subtree's nodes are stored apart, LOW is the first, HIGH their number
# What follows the figures of a split's branches: its threshold where that is no midpoint, how many cuts it was the best
# of, and the weight of rows whose value is missing; each only if the rules use it. Then, if they use surrogates, the
# number of these, and of each its column, threshold and direction, its agreement, and where its branches are among the
# node's levels (-1 where it has a threshold).
THRESHOLD, N_ALLOWED, MISSING, N_MORE = 0, 1, 2, 3
SURROGATE, SURROGATE_THRESHOLD, IS_REVERSED, AGREEMENT, BRANCHES_AT, N_OF_SURROGATE = range(6)
ABOVE_AVERAGE, BETTER_HALF, NO_FILTER = 0, 1, 2
NO_COSTS, TAN_SCHLIMMER, NUNEZ = 0, 1, 2


class Problem(Struct):
    """The samples of a subtree, its rows numbered from 0 in row order.

    `origin` holds their numbers in the whole table, and is empty where these are the same. `lists[i, : lengths[i]]` is
    the sorted list of the column with candidate slot `list_slots[i]`; `distinct[i]` says that all its values differ.
    Where numbers are predicted, `missing[row]` has a bit for each list that lacks the row. `codes[row, j]` is the
    row's code in the coded column `coded[j]`, numbered through all of these; bit b of `bits[row]` belongs to
    `bit_columns[b]`. `values[i, row]` is the value in list i, present only if the rules use it. `path` is the path to
    the subtree's root, see `growth.kernels.bounds.weight_flags`. Growth overwrites lists and rows, and weights where
    values are missing.
    """


class Rules(Struct):
    """How to grow: the criterion, limits, and tables that replace divisions and logarithms of whole numbers.

    A slot is the index of a candidate in the order of the columns. Each coded column has its slot, its kind of split,
    its number of levels (codes), and where these start in the table of sums: `coded_slots`, `coded_kinds`,
    `coded_levels` and `coded_starts`. `way` says which cuts of a list are candidates, `n_parts` how many bins or random
    cuts there are, `is_corrected` whether a threshold's gain is reduced for being chosen among many. A node draws
    `n_drawn` of the `open_columns`; 0 means all. If `is_whole`, weights are whole numbers. `strategy` says what becomes
    of rows whose value for a split is missing, see `growth.kernels.lists.routing`.
    """


class Work(Struct):
    """Scratch buffers that nodes use one after the other; only the counts of waiting nodes outlive a node.

    In a subtree of few rows, numbered from 0, `position[list, row]` is the position of a row in a list, `value` the
    number of distinct values before it, and `by_position` the row at a position; `list_of` is the list of a column.
    `small_rows` are the rows of waiting nodes, and `small_weights` their weights there.
    """


@structure
class ProblemType(StructType):
    """The compiler's type of a `Problem`."""


@structure
class RulesType(StructType):
    """The compiler's type of `Rules`."""


@structure
class WorkType(StructType):
    """The compiler's type of `Work`."""


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
    "groups level_sides agreements surrogate_thresholds is_reversed surrogate_branches ranked ranked_agreements",
)


@compiled
def original_row(problem, row):
    """A row's number in the whole table."""
    return problem.origin[row] if problem.origin.shape[0] > 0 else row
