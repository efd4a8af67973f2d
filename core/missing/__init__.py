"""What happens to samples whose value of an attribute is missing."""
