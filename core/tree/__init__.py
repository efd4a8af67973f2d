"""The finished tree as data: its arrays, its history of pruning, its layout for prediction, its conditions."""
