"""The ``riskrank`` command: the application with all its commands on it."""

from __future__ import annotations

# Importing a command puts it on the application; the order is the order of --help.
from riskrank.cli import dominance, portfolio, rank
from riskrank.cli.app import app

__all__ = ["app", "dominance", "portfolio", "rank", "run"]


def run() -> None:
    """Entry point of the ``riskrank`` command."""
    app()
