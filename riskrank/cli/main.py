"""The ``riskrank`` command: the application with all its commands on it."""

from __future__ import annotations

import os
from importlib import import_module

from riskrank.asked.commands import COMMANDS, Command
from riskrank.cli.app import app
from riskrank.cli.call import Call, callable_of, options_on_the_line
from riskrank.cli.commands.convert import convert
from riskrank.cli.help import command_class


def answer(call: Call) -> None:
    """Answer a call: by the command's own file, or as all others are."""
    from riskrank.cli import session

    row = call.row
    own = import_module(f"riskrank.cli.commands.{row.name}").run if row.own else session.answer
    own(call)


def _register(row: Command) -> None:
    """Put a command on the application."""
    options = options_on_the_line(row)
    app.command(row.name, short_help=row.short, cls=command_class(options))(callable_of(row, options, answer))


for _row in COMMANDS:  # the order of --help
    if _row.name == "convert":
        app.add_typer(convert)
    else:
        _register(_row)


def run() -> None:
    """Run the ``riskrank`` command."""
    from riskrank.cli.surroundings import settle
    from riskrank.engine.sampling.threads import single_threaded

    settle(os.environ)
    single_threaded(os.environ)
    app()
