"""Words for how runs and lines of a trend stand."""

WORSE, BETTER, OPEN, MOVED = "worse", "better", "open", "ruler-moved"
WAS_WORSE = "was-worse"
"""Of a line: an earlier run was shown to be worse, and no recovery is in sight."""
