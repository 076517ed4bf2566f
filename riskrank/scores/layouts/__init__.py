"""Layouts of score tables: infer how to read a file from its column names and contents."""
