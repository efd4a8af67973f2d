"""Records in, answers out: JSON, columns and Arrow memory read into tables, texts joined."""
