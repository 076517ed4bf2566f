"""COPA's ranking, sweeps, explanations and comparisons as rows and in words."""
