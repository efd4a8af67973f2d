"""Ways to split the samples of a node on one attribute."""
