"""Readers for the export formats of evaluation harnesses, and the helpers they share."""
