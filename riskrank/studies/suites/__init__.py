"""Suites of tasks: results that several studies share."""
