"""The answers of many trees together, to one record or to many."""
