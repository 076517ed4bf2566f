"""Conversion of a source's columns to a checked score table, step by step."""
