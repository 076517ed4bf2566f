"""States of runs and lines in a trend."""

WORSE, BETTER, UNDECIDED, SCORING_CHANGED = "worse", "better", "open", "ruler-moved"
WAS_WORSE = "was-worse"
"""State of a line with an earlier run that was significantly worse, and no significant recovery."""
