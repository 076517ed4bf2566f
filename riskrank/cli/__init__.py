"""Command line, with Typer commands that are imported when they are called."""
