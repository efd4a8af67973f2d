"""How good a model is: measures, the curve along its pruning, and the importance of attributes."""
