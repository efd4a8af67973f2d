"""Models in memory, ready to answer."""
