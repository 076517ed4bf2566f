"""One renderer a format."""
