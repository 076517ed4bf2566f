"""The ``riskrank check`` command, which also inspects files that are not valid score tables."""

from riskrank.cli.session import Session
from riskrank.cli.typer_functions import Call
from riskrank.scores.table.inspection import inspect_scores
from riskrank.studies.check.study import check


def run(call: Call) -> None:
    """Inspect the files, write the findings, and raise the error that other commands would raise, if any."""
    session = Session(call)
    document = check(inspect_scores(call.scores, call.reading, session.environment.stdin))
    session.finish(document)
    if document.refusal is not None:
        raise document.refusal
