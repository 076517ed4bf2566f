"""``riskrank schema``: what the JSON document of a command looks like."""

from __future__ import annotations

from typing import Annotated

import typer

from riskrank.cli.app import app
from riskrank.cli.interrupts import begin_writing


@app.command(short_help="Print the JSON Schema of a command's document.")
def schema(
    context: typer.Context,
    command: Annotated[
        str,
        typer.Argument(
            metavar="COMMAND",
            help="A command, or what follows riskrank/ in its document, such as copa-sweep.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to a file, whole or not at all."),
    ] = None,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where in the code an error arose.")
    ] = False,
) -> None:
    """Print the JSON Schema (2020-12) that --format json of a command keeps to.

    Fields of its rows with their types, and what meta says of every result. More fields may be added
    to either without a new version.
    """
    import json

    from riskrank.shown.files import check_writable, write_all
    from riskrank.shown.schema import json_schema

    check_writable(output, [context.obj.read] if context.obj.read else [])
    text = json.dumps(json_schema(command), indent=2, ensure_ascii=False) + "\n"
    write_all([(output, text.encode("utf-8"))], context.obj.stdout, ready=begin_writing)
