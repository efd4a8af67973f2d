"""Small subtrees whose rows carry weights."""
