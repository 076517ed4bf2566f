"""Suites of tasks: results by task, and their weighted combination (method §8)."""
