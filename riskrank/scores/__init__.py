"""Score files become one validated table, and arrays for the engine."""
