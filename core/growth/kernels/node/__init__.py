"""What all growers share: the sums of a node, whether it is a leaf, rows to children, drawn columns."""
