"""The study behind ``trend``: changes over many runs of one evaluation."""
