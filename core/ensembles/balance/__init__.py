"""Classes of very different size made more alike in the rows of one tree."""
