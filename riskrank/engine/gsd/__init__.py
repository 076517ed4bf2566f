"""Generalized stochastic dominance on criteria with mixed scales."""
