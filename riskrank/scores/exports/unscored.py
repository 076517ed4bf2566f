"""Why a row has no score: the column that tells it, and the reasons that readers of exports tell."""

COLUMN = "unscored"
"""Column of a table that says why a row has no score, as readers of exports write it."""

# Reasons readers tell; a table may tell others.
ERROR, REFUSAL, LIMIT, EMPTY = "error", "refusal", "limit", "empty response"
ABSENT = "absent"
"""A sample on which another model has a row, and this one none."""
