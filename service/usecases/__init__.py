"""The use cases: one file for each thing that clients can do."""
