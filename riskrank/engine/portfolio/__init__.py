"""Columns of scores: copulas that fold metrics, quantiles, summaries, mean-risk models, judges' verdicts."""
