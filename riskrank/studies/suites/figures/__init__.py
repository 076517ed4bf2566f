"""Figures of suites of tasks."""
