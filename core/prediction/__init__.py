"""Prediction with a tree: routing records with weights, answers, and bounds."""
