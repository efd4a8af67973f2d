"""What is done with datasets."""
