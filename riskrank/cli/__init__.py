"""The front door: one Typer command a file, imported only when it is called."""
