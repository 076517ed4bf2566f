"""Generalized stochastic dominance as rows and in words."""
