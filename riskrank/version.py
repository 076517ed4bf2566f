"""The version of riskrank, in a file that imports nothing."""

__version__ = "0.1.0"
