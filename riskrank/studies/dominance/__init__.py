"""The study behind ``dominance``: pairwise stochastic dominance."""
