"""The compiled twins of `tree_loops`: the same lines."""

from core.compiled_kernels import compiled
from core.pruning import tree_loops

cutting_alphas = compiled(tree_loops.cutting_alphas)
groups_of = compiled(tree_loops.groups_of)
visible_until = compiled(tree_loops.visible_until)
depths_left = compiled(tree_loops.depths_left)
subtree_estimates = compiled(tree_loops.subtree_estimates)
