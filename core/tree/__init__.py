"""Finished trees as data: their arrays, pruning history, layout for prediction, and conditions."""
