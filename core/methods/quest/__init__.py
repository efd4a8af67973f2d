"""QUEST: attributes chosen by tests, splits by discriminant analysis."""
