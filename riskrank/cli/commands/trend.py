"""``riskrank trend``: every file is a run, and its exit status may be its answer."""

from riskrank.cli.github import end
from riskrank.cli.session import Session, settled
from riskrank.cli.typer_functions import Call
from riskrank.scores.table.runs import read_runs
from riskrank.studies.trend.study import trend


def run(call: Call) -> None:
    """Read the runs one by one, and compare them."""
    session, settings = Session(call), settled(call)
    stdin = session.environment.stdin
    runs = read_runs(call.scores, call.reading, stdin, baseline=settings.baseline, anchors=settings.anchors)
    document = trend(runs, settings)
    session.finish(document)
    end(document, session.environment)
