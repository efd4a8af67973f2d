"""What else a node could have been split on: the candidates of a finished tree, computed anew from its samples."""

from core.config import Algorithm
from core.growth.best_split import Candidate, node_samples, objective_of
from core.growth.dialects import all_candidates
from core.growth.routing import Way, divided
from core.growth.samples import Samples
from core.randomness import path_key, root_key
from core.tree import Tree, TreeView


def candidates_by_node(
    view: TreeView, samples: Samples, algorithm: Algorithm, *, seed: int = 0
) -> dict[int, list[Candidate]]:
    """Every attribute with a valid split, for each inner node left, in column order."""
    tree, objective = view.tree, objective_of(algorithm, samples)
    considered = {}
    waiting = [(0, samples.rows, samples.weights, root_key(seed))]
    while waiting:
        node, rows, weights, key = waiting.pop()
        if view.is_leaf[node]:
            continue
        here = node_samples(samples, rows, weights, key=key)
        considered[node] = all_candidates(samples, here, algorithm, objective, spent_above(tree, node))
        children = tree.children(node)
        way = Way(tree.split(node), tree.share[children], tree.surrogates_of(node), key)
        received = divided(samples, algorithm, rows, weights, way)
        waiting.extend(
            (child, *received[branch], path_key(key, branch)) for branch, child in reversed(list(enumerate(children)))
        )
    return considered


def spent_above(tree: Tree, node: int) -> set[int]:
    """The attributes that the way to a node leaves nothing to ask of."""
    spent = set()
    while node > 0:
        node = int(tree.parent[node])
        split = tree.split(node)
        if split.kind.spends:
            spent.add(split.column)
    return spent
