"""Explanations of answers: why a record got its answer, and what could change it, as data and as text."""
