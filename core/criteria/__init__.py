"""Impurities, how much a split reduces them, and tests of significance."""
