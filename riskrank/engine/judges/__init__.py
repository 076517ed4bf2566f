"""Scores of a judge model, corrected by those that people gave to a few samples (method §12)."""
