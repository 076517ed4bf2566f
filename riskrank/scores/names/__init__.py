"""Inference of roles, bookkeeping columns and directions from the names of columns and metrics."""
