"""Generalized stochastic dominance over criteria of mixed scales."""
