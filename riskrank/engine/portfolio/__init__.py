"""Score columns: copula portfolios, quantiles, summaries, mean–risk models, and scores from judges' votes."""
