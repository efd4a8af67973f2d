"""Growing trees of a forest without missing values: rows are compared by rank."""
