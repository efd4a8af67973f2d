"""The trees of a committee, each grown from what chance gives it.

A tree's sample has every drawn row once, and it weighs as much as it was drawn: sums of whole numbers are exact, so
this is the tree of a sample in which rows stand several times. In every node columns are drawn, and the best split of
those is made. What CHAID, QUEST and multivariate trees do with it: their tests look at the drawn columns only, QUEST
shares its alpha among these, and a weighted sum has no other terms.
"""

from dataclasses import replace

from core.config import Algorithm, Committee
from core.ensembles.forest import Forest, forest_of
from core.ensembles.sampling import column_draw, tree_samples, tree_seed
from core.growth.engine import Engine, for_trees, grow_with
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.progress import Watch, nobody, part_of
from core.table import FloatArray
from core.tree import Tree


def grow_committee(
    samples: Samples,
    committee: Committee,
    *,
    seed: int,
    costs: FloatArray | None = None,
    engine: Engine,
    threads: int = 1,
    watch: Watch = nobody,
) -> Forest:
    """All trees of a committee: the same ones whatever the engine and the number of threads.

    `samples` are those of the first member, as `training_samples` makes them. `watch` hears the part of the work done,
    from 0 to 1, and may raise to end it.
    """
    engine = for_trees(engine, samples, committee.n_trees)
    of_kinds = [samples_of_kind(samples, committee, kind) for kind in range(len(committee.members))]
    kinds = [kind_of(committee, tree) for tree in range(committee.n_trees)]
    trees = [
        grow_member(
            of_kinds[kind],
            committee,
            tree,
            seed=seed,
            engine=engine,
            threads=threads,
            watch=part_of(watch, tree / len(kinds), (tree + 1) / len(kinds)),
        )
        for tree, kind in enumerate(kinds)
    ]
    forest = forest_of(trees, kinds, [each.criterion.kind for each in committee.members], [s.cuts for s in of_kinds])
    return replace(forest, costs=costs)


def kind_of(committee: Committee, tree: int) -> int:
    """The place of a tree's method among the members, which take turns."""
    return tree % len(committee.members)


def samples_of_kind(samples: Samples, committee: Committee, kind: int) -> Samples:
    """The samples of the first member as another one takes them: cut as its own method cuts them before growth."""
    if kind == 0:
        return samples
    algorithm = committee.members[kind]
    uncut = replace(samples, cuts=())
    return with_cuts(uncut, algorithm.numeric, numbers_only=algorithm.chaid is not None)


def grow_member(
    samples: Samples,
    committee: Committee,
    tree: int,
    *,
    seed: int,
    engine: Engine,
    threads: int,
    watch: Watch,
) -> Tree:
    """One tree of a committee; `samples` are those of its kind."""
    algorithm: Algorithm = committee.members[kind_of(committee, tree)]
    grown, _ = grow_with(
        engine,
        tree_samples(samples, committee, seed=seed, tree=tree),
        algorithm,
        validation=None,
        seed=tree_seed(seed, tree),
        draw=column_draw(committee, len(samples.attributes.schema), seed=seed, tree=tree),
        threads=threads,
        watch=watch,
    )
    return grown
