"""Bounds on the gains of a sorted list's cuts: those that cannot be the best need not be scored exactly."""
