"""What many trees answer, for one record or many."""
