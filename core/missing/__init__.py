"""What becomes of samples whose attribute is not known."""
