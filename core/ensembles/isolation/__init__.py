"""Isolation forests: rows unlike the others."""
