"""TreeGenerate: from samples to a full tree."""
