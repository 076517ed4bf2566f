"""The study behind ``convert``: score tables from evaluation-harness exports and from judge verdicts."""
