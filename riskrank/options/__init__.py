"""Declarations of all options and commands, shared by the command line and the Python API."""
