"""Read score files into one validated table of arrays for the engine."""
