"""`held_out_tree.HeldOutTree._summed_if_cut`, compiled."""

from core.compiler.compile import compiled


@compiled
def change_if_cut(node, size, is_leaf, start, rows, weights, answers, leaves, index_of, change):
    """Write to `change` how the answers of a node's rows change when it answers instead of the leaves below it.

    The rows at node v, ascending, are at `start[v]` to `start[v + 1]`. Leaves are subtracted from right to left, as in
    the definition. `leaves` and `index_of` are scratch, by node and by row.
    """
    first, n_outputs = start[node], answers.shape[1]
    for i in range(first, start[node + 1]):
        index_of[rows[i]] = i - first
        for k in range(n_outputs):
            change[i - first, k] = weights[i] * answers[node, k]
    n_leaves, below, end = 0, node, node + size[node]
    while below < end:
        if is_leaf[below]:
            leaves[n_leaves] = below
            n_leaves += 1
            below += size[below]
        else:
            below += 1
    for leaf in leaves[:n_leaves][::-1]:
        for i in range(start[leaf], start[leaf + 1]):
            index = index_of[rows[i]]
            for k in range(n_outputs):
                change[index, k] -= weights[i] * answers[leaf, k]
