"""The splits that the nodes of a finished tree could have had: its candidates, recomputed from its samples."""

from dataclasses import replace

from core.arithmetic.randomness import path_key, root_key
from core.config.options import Algorithm
from core.engine.definition import all_candidates
from core.growth.best_split import Candidate, node_samples, objective_of
from core.growth.column_draw import ColumnDraw, searches
from core.growth.routing import Route, routed
from core.growth.samples import Samples
from core.tree.tree import Tree, TreeView


def candidates_by_node(
    view: TreeView, samples: Samples, algorithm: Algorithm, *, seed: int = 0, draw: ColumnDraw | None = None
) -> dict[int, list[Candidate]]:
    """For each inner node of the view, the candidates among the attributes that were searched, in column order."""
    tree, objective = view.tree, objective_of(algorithm, samples)
    considered = {}
    waiting = [(0, samples.rows, samples.weights, root_key(seed))]
    while waiting:
        node, rows, weights, key = waiting.pop()
        if view.is_leaf[node]:
            continue
        here = node_samples(samples, rows, weights, key=key)
        spent = spent_above(tree, node)
        for undrawn in searches(draw, key, len(samples.attributes.schema), spent):
            considered[node] = all_candidates(samples, replace(here, undrawn=undrawn), algorithm, objective, spent)
            if tree.column[node] not in undrawn:
                break
        children = tree.children(node)
        route = Route(tree.split(node), tree.share[children], tree.surrogates_of(node), key)
        received = routed(samples, algorithm, rows, weights, route)
        waiting.extend(
            (child, *received[branch], path_key(key, branch)) for branch, child in reversed(list(enumerate(children)))
        )
    return considered


def spent_above(tree: Tree, node: int) -> set[int]:
    """The attributes that are spent on the path from the root to a node."""
    spent = set()
    while node > 0:
        node = int(tree.parent[node])
        split = tree.split(node)
        if split.kind.spends:
            spent.add(split.column)
    return spent
