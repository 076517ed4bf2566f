"""The ``riskrank`` command: the application with all its commands on it."""

from __future__ import annotations

import os
from importlib import import_module

from riskrank.cli.app import app

# Importing a command's file puts it on the application; this is the order of --help.
COMMANDS = (
    "rank",
    "dominance",
    "mrm",
    "gsd",
    "copa",
    "portfolio",
    "power",
    "gate",
    "report",
    "convert",
    "check",
    "schema",
)

for name in COMMANDS:
    import_module(f"riskrank.cli.commands.{name}")


def run() -> None:
    """Run the ``riskrank`` command."""
    from riskrank.cli.surroundings import settle
    from riskrank.engine.sampling.threads import single_threaded

    settle(os.environ)
    single_threaded(os.environ)
    app()
