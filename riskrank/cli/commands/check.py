"""``riskrank check``: what a score table holds, and what is wrong with it."""

from __future__ import annotations

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import InputOptions, OutputOptions


@app.command(short_help="Say what a score table holds and what is wrong with it.")
@grouped
def check(context: typer.Context, inputs: InputOptions, output: OutputOptions) -> None:
    """Say what a score table holds (models, samples, metrics, pairing) and what is wrong with it.

    Exits 2 if the commands would refuse to read the table as it is. (Tests also need 10 samples.)
    """
    from riskrank.cli.session import Session
    from riskrank.scores.table.inspection import inspect_scores
    from riskrank.studies.check import check as study

    session = Session(context.obj, inputs, output)
    document = study(inspect_scores(inputs.scores, session.read_options(), session.environment.stdin))
    session.finish(document)
    if document.refusal is not None:
        raise document.refusal
