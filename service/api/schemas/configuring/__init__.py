"""The shapes of a training configuration."""
