"""Formats of records and answers besides JSON: one file for each, with its reader and its writer."""
