"""Drawings of trees: as text, as a graph for Graphviz, and as pictures and charts."""
