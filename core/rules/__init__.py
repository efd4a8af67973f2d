"""If-then rules read off a tree."""
