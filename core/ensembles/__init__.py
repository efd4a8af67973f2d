"""Many trees together: growing them, their answers, and insight into models, rows and attributes."""
