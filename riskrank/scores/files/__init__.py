"""Containers: one file a format that holds columns, and how files are found and opened."""
