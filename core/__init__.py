"""Decision trees as definitions and data: no HTTP, no SQL, no files, no clock, no environment."""
