"""`pruning.tree_loops`, compiled from the same source."""

from core.compiler.compile import compiled
from core.pruning import tree_loops

cutting_alphas = compiled(tree_loops.cutting_alphas)
groups_of = compiled(tree_loops.groups_of)
left_by_cuts = compiled(tree_loops.left_by_cuts)
leaves_lost = compiled(tree_loops.leaves_lost)
subtree_estimates = compiled(tree_loops.subtree_estimates)
