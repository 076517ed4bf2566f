"""riskrank: which model is better, and how sure are we."""

__version__ = "0.1.0"
