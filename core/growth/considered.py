"""What else a node could have been split on: the candidates of a finished tree, computed anew from its samples."""

from core.config import Algorithm
from core.growth.best_split import Candidate, all_candidates, node_samples, objective_of
from core.growth.samples import Samples
from core.prediction import visits
from core.splits.split import SplitKind
from core.tree import Tree, TreeView


def candidates_by_node(view: TreeView, samples: Samples, algorithm: Algorithm) -> dict[int, list[Candidate]]:
    """Every attribute with a valid split, for each inner node left, in column order."""
    objective = objective_of(algorithm, samples)
    considered = {}
    for visit in visits(view, samples.attributes, weights=samples.weights):
        if not view.is_leaf[visit.node]:
            here = node_samples(samples, visit.rows, visit.weights)
            spent = spent_above(view.tree, visit.node)
            considered[visit.node] = all_candidates(samples, here, algorithm, objective, spent)
    return considered


def spent_above(tree: Tree, node: int) -> set[int]:
    """The attributes used in multiway splits on the way to a node."""
    spent = set()
    while node > 0:
        node = int(tree.parent[node])
        split = tree.split(node)
        if split.kind is SplitKind.MULTIWAY:
            spent.add(split.column)
    return spent
