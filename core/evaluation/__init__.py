"""How good a model is: measures, the curve along its pruning, and what attributes are worth."""
