"""Changes in single test cases between two models, or over a series of runs."""
