"""The study behind ``convert``: exports of harnesses and verdicts of judges as score tables."""
