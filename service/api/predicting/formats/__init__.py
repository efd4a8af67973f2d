"""Predictions as NDJSON, CSV and Arrow streams, in and out."""
