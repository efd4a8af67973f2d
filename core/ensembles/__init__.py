"""Many trees together: how they are grown, what they answer, and what they tell of rows and attributes."""
