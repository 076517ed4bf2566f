"""Scores by a judge model, calibrated on human labels for a subset of the samples (method §12)."""
