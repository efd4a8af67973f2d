"""Impurities and what a split takes away from them."""
