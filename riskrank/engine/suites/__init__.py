"""Suites of tasks: what is said of every task, and of all of them weighed (method §8)."""
