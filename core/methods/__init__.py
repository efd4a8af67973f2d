"""Methods that choose splits in a way of their own: CHAID, QUEST, and tests on weighted sums."""
