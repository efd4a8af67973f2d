"""Predictions over HTTP: reading bodies and writing answers, in every format."""
