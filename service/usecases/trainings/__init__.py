"""From an order to a stored model."""
