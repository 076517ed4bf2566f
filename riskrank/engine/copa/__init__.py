"""COPA: incomparable objectives compared by ranks, and the Pareto front walked by preference."""
