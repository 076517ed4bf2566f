"""Renderers of the output formats, one module per format."""
