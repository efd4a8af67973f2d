"""Models as bytes."""
