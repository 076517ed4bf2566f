"""Changes of single cases between two models, or over a series of runs."""
