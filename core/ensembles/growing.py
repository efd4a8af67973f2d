"""The trees of a committee, each grown from its own random draws.

A tree's sample has every drawn row once, weighted by how often it was drawn: sums of integers are exact, so this is the
tree of a sample that repeats rows. In every node columns are drawn, and the best split of those is made. CHAID, QUEST
and multivariate trees also use only the drawn columns: QUEST shares its alpha among these, and a weighted sum has no
other terms.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.config.options import Committee, MissingStrategy
from core.engine.compilable import can_grow_by_gains
from core.engine.engine import Engine, grow_with, prefers_kernels
from core.ensembles.forest import Forest
from core.ensembles.growing_forest import GrowingForest, part_of_forest, part_of_nodes
from core.ensembles.sampling import column_draw, times_drawn, tree_samples, tree_seed
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.growth.tree_sample import TreeSample
from core.tables.progress import Watch, ignore_progress, part_of
from core.tree.finished_nodes import FinishedNodes
from core.tree.tree import Tree


def grow_committee(
    samples: Samples,
    committee: Committee,
    *,
    seed: int,
    costs: FloatArray | None = None,
    engine: Engine,
    threads: int = 1,
    watch: Watch = ignore_progress,
) -> Forest:
    """Grow all trees of a committee; they do not depend on the engine or the number of threads.

    `samples` are those of the first member, as `training_samples` makes them. `watch` is called with the progress, from
    0 to 1, and may raise to end it.
    """
    if prefers_kernels(engine, samples, committee.n_trees):
        engine = Engine.KERNELS
    n_kinds, cuts = len(committee.members), []
    kinds = [kind_of(committee, tree) for tree in range(committee.n_trees)]
    forest = GrowingForest(kinds, [each.criterion.kind for each in committee.members])
    for kind in range(n_kinds):
        of_kind = samples_of_kind(samples, committee, kind)
        trees = range(kind, committee.n_trees, n_kinds)
        cuts.append(of_kind.cuts)
        watch_kind = part_of(watch, kind / n_kinds, (kind + 1) / n_kinds)
        if trees:
            grow_kind(of_kind, committee, trees, forest, seed=seed, engine=engine, threads=threads, watch=watch_kind)
    return replace(forest.finished(cuts), costs=costs)


def kind_of(committee: Committee, tree: int) -> int:
    """The index of a tree's method among the members, which take turns."""
    return tree % len(committee.members)


def samples_of_kind(samples: Samples, committee: Committee, kind: int) -> Samples:
    """The samples of the first member as another one takes them: cut as its own method cuts them before growth."""
    if kind == 0:
        return samples
    algorithm = committee.members[kind]
    uncut = replace(samples, cuts=())
    return with_cuts(uncut, algorithm.numeric, numbers_only=algorithm.chaid is not None)


def grow_kind(
    samples: Samples,
    committee: Committee,
    trees: Sequence[int],
    forest: GrowingForest,
    *,
    seed: int,
    engine: Engine,
    threads: int,
    watch: Watch,
) -> None:
    """Add the trees of one kind, in parallel if the kernels can grow them; `samples` are those of that kind."""
    algorithm, n_columns = committee.members[kind_of(committee, trees[0])], len(samples.attributes.schema)

    def keep(tree: int, grown: Tree | FinishedNodes) -> None:
        if isinstance(grown, FinishedNodes):
            forest.add(tree, part_of_nodes(grown))
        else:
            forest.add(tree, part_of_forest(grown, algorithm.criterion.kind))

    def sample_of(tree: int) -> TreeSample:
        counts = times_drawn(committee, len(samples), seed=seed, tree=tree)
        rows = np.flatnonzero(counts > 0)
        draw = column_draw(committee, n_columns, seed=seed, tree=tree)
        return TreeSample(rows, samples.weights[rows] * counts[rows], tree_seed(seed, tree), draw)

    # A draw is named by its row's number, which here is that in the tree's sample.
    is_of_given_rows = committee.imbalance is None and algorithm.missing is not MissingStrategy.DISTRIBUTION
    if is_of_given_rows and engine is Engine.KERNELS and can_grow_by_gains(samples, algorithm):
        from core.growth.kernels.forest.many_trees import grow_many  # imports Numba

        grow_many(
            samples,
            algorithm,
            trees,
            sample_of,
            keep,
            has_repeats=committee.bootstrap,
            has_draws=column_draw(committee, n_columns, seed=seed, tree=trees[0]) is not None,
            threads=threads,
            watch=watch,
        )
        return
    for index, tree in enumerate(trees):
        grown, _ = grow_with(
            engine,
            tree_samples(samples, committee, seed=seed, tree=tree, kernels=prefers_kernels(engine, samples)),
            algorithm,
            validation=None,
            seed=tree_seed(seed, tree),
            draw=column_draw(committee, n_columns, seed=seed, tree=tree),
            threads=threads,
            watch=part_of(watch, index / len(trees), (index + 1) / len(trees)),
        )
        keep(tree, grown)
