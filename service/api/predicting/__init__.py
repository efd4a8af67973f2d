"""Predictions over HTTP: bodies are read, answers are written, in every format."""
