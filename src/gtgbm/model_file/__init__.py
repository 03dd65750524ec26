"""Model files: readable JSON, exact floats, checked in full when read."""
