"""Reading records from JSON, columns and Arrow memory into tables, and joining texts for answers."""
