"""Growing small subtrees whose rows have weights."""
