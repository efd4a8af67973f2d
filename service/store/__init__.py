"""Rows, queries and files: what leaves the store is a frozen value."""
