"""Metrics folded into one score: the room of ``portfolio``."""
