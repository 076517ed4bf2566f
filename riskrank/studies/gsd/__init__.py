"""Generalized stochastic dominance over criteria of mixed scales: the room of ``gsd``."""
