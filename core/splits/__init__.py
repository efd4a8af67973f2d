"""Ways to divide the samples of a node on one attribute."""
