"""COPA: rank-based comparison of objectives without a common unit, and navigation of the Pareto front."""
