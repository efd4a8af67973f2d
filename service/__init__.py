"""Niwaki's service: HTTP at the edge, use cases inside, SQL and files below, `core` at the bottom."""
