"""Records down a tree: routing with weights, answers, bounds."""
