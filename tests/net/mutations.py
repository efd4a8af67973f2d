"""One changed constant in each folder of kernels, which the net has to notice."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """A line of a file under `core`, what takes its place, and the orders and questions that are asked first."""

    file: str
    old: str
    new: str
    orders: tuple[str, ...]
    asks: bool = False  # whether an answer shows it, and not only a model

    @property
    def folder(self) -> str:
        return self.file.rpartition("/")[0]


MUTATIONS = (
    Mutation(
        "arithmetic/kernels/randomness.py",
        "(mixed ^ (mixed >> uint64(30)))",
        "(mixed ^ (mixed >> uint64(29)))",
        ("mixed: random cuts, gini",),
    ),
    Mutation(
        "criteria/kernels/impurity.py",
        "return 1.0 - squares",
        "return 1.0 - 0.5 * squares",
        ("mixed: random_forest, classes",),
    ),
    Mutation(
        "splits/kernels/candidates.py",
        "while j < bins and so_far >= j * whole / bins",
        "while j < bins and so_far >= (j + 0.5) * whole / bins",
        ("ties: quantile cuts, gini",),
    ),
    Mutation(
        "growth/kernels/inputs/coding.py",
        "np.where(values < 0, np.nan, values)",
        "np.where(values < 1, np.nan, values)",
        ("mixed: gini, two_groups",),
    ),
    Mutation(
        "growth/kernels/bounds/rescan.py",
        "squares_left += 2 * before + 1",
        "squares_left += 2 * before + 2",
        ("complete: gini",),
    ),
    Mutation(
        "growth/kernels/node/split_rows.py",
        "parts[0, to], parts[1, to] = 1.0 * (to == LEFT), 1.0 * (to == RIGHT)",
        "parts[0, to], parts[1, to] = 2.0 * (to == LEFT), 1.0 * (to == RIGHT)",
        ("large: gini",),
    ),
    Mutation(
        "growth/kernels/small/search.py",
        "if n == 2 and n_found > 0 and column > drawn[0]:",
        "if n < 5 and n_found > 0 and column > drawn[0]:",
        ("mixed: random_forest, classes", "mixed: random_forest, a number"),
    ),
    Mutation(
        "growth/kernels/lists/best_split.py",
        "max(gains[slot], 0.0) * max(gains[slot], 0.0) / rules.slot_costs[slot]",
        "max(gains[slot], 0.0) / rules.slot_costs[slot]",
        ("mixed: tan schlimmer",),
    ),
    Mutation(
        "growth/kernels/ranks/buckets.py",
        "off = moved - share * passed",
        "off = moved - 0.5 * share * passed",
        ("complete: random_forest, a number",),
    ),
    Mutation(
        "growth/kernels/forest/sample.py",
        "is_new &= is_taken - uint32(1)",
        "is_new &= is_taken - uint32(2)",
        ("ties: random_forest, classes", "mixed: random_forest, classes"),
    ),
    Mutation(
        "methods/chaid/kernels/merging.py",
        "if log <= rules.log10_alpha_merge:",
        "if log <= rules.log10_alpha_merge + 0.5:",
        ("mixed: chaid",),
    ),
    Mutation(
        "methods/quest/kernels/discriminant.py",
        "between = centre + middle(mean_a, mean_b)",
        "between = centre + 1.5 * middle(mean_a, mean_b)",
        ("mixed: quest", "slanted: quest"),
    ),
    Mutation(
        "methods/oblique/kernels/linear.py",
        "along[j] = 2.0 * uniform(key_of(draws, j)) - 1.0",
        "along[j] = 2.0 * uniform(key_of(draws, j)) - 0.5",
        ("slanted: oc1, three classes", "slanted: oc1, two classes"),
    ),
    Mutation(
        "pruning/kernels/held_out_tree.py",
        "change[i - first, k] = weights[i] * answers[node, k]",
        "change[i - first, k] = 2.0 * weights[i] * answers[node, k]",
        ("mixed: reduced error",),
    ),
    Mutation(
        "prediction/kernels/routing.py",
        "return int32(value > threshold)",
        "return int32(value > threshold + 5.0)",
        ("mixed: confidence",),
        asks=True,
    ),
    Mutation(
        "records/kernels/decimals.py",
        "word = (word * uint64(10) + (word >> uint64(8)))",
        "word = (word * uint64(11) + (word >> uint64(8)))",
        ("mixed: confidence",),
        asks=True,
    ),
    Mutation(
        "ensembles/balance/kernels/neighbours.py",
        "apart += penalty",
        "apart += 2.0 * penalty",
        ("rare: forest, smote",),
    ),
    Mutation(
        "ensembles/isolation/kernels/scores.py",
        "sums[at] += lengths[a]",
        "sums[at] += 2.0 * lengths[a]",
        ("mixed: isolation of 64",),
        asks=True,
    ),
    Mutation(
        "ensembles/prediction/kernels/ranks.py",
        "rank = (positions[i] + uint32(1))",
        "rank = (positions[i] + uint32(2))",
        ("complete: random_forest, classes",),
        asks=True,
    ),
    Mutation(
        "ensembles/insight/kernels/permutation.py",
        "sums[row, k] += answers[after, k] - answers[before, k]",
        "sums[row, k] += 2.0 * (answers[after, k] - answers[before, k])",
        ("complete: random_forest, classes",),
        asks=True,
    ),
)
