"""Insight into a forest: how good it is, why it answers as it does, and what it relies on."""
