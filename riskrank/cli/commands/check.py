"""``riskrank check``: it looks at what cannot be read as a table, too."""

from riskrank.cli.session import Session
from riskrank.cli.typer_functions import Call
from riskrank.scores.table.inspection import inspect_scores
from riskrank.studies.check.study import check


def run(call: Call) -> None:
    """Inspect, hand the result out, and fail as the commands would."""
    session = Session(call)
    document = check(inspect_scores(call.scores, call.reading, session.environment.stdin))
    session.finish(document)
    if document.refusal is not None:
        raise document.refusal
