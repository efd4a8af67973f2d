"""Use cases of trainings: from an order to a stored model."""
