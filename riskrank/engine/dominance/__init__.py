"""Stochastic dominance of first and second order: ratios, their errors, tests and rankings."""
