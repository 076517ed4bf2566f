"""States of runs and lines in a trend."""

WORSE, BETTER, UNDECIDED, SCORING_CHANGED = "worse", "better", "undecided", "scoring-changed"
WAS_WORSE = "worse-in-earlier-run"
"""State of a line with an earlier run that was significantly worse, and no significant recovery."""
