"""Pure functions on NumPy arrays that return frozen dataclasses: no files, no printing, no data frames."""
