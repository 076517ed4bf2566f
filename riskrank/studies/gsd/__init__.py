"""The study behind ``gsd``: generalized stochastic dominance over criteria of mixed scales."""
