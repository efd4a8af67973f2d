"""Answers to records."""
