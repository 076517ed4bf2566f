"""File formats: one module per format, and modules that find and open files."""
