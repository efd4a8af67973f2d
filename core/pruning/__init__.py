"""Making a tree smaller, with a record of every decision."""
