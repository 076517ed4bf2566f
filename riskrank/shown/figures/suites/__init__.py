"""Pictures of a suite: its tasks by model, and how its scores are spread."""
