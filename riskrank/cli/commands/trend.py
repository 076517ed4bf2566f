"""The ``riskrank trend`` command: each file is a run, and the exit status can report the outcome."""

from riskrank.cli.github import finish_run
from riskrank.cli.session import Session, checked_settings
from riskrank.cli.typer_functions import Call
from riskrank.scores.table.runs import read_runs
from riskrank.studies.trend.study import trend


def run(call: Call) -> None:
    """Read and compare the runs, and set the exit status."""
    session, settings = Session(call), checked_settings(call)
    stdin = session.environment.stdin
    runs = read_runs(call.scores, call.reading, stdin, baseline=settings.baseline, anchors=settings.anchors)
    document = trend(runs, settings)
    session.finish(document)
    finish_run(document, session.environment)
