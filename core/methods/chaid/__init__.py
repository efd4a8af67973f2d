"""CHAID: categories merged by tests, attributes chosen by adjusted p-values."""
