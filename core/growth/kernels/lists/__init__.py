"""One tree from sorted lists of rows."""
