"""Runs every kernel once, so that all of them are compiled or loaded before they are needed."""
