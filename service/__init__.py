"""Niwaki's service, from top to bottom: HTTP, use cases, SQL and files; `core` is below it."""
