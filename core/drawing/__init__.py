"""Trees for people: as text, as a graph for Graphviz, and as a picture."""
