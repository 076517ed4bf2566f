"""A suite of tasks as tables and lines."""
