"""Rows, queries and files; the store returns frozen values only."""
