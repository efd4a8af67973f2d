"""What is read of models, and their deletion."""
