"""``riskrank gate``: its exit status is its answer, and CI servers are told."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from riskrank.cli.call import Call
from riskrank.cli.environment import Environment
from riskrank.cli.session import Session, settled
from riskrank.errors import UsageError
from riskrank.scores.table.score_table import read_metrics_apart
from riskrank.shown.gate.github import notes
from riskrank.shown.render import markdown_page
from riskrank.studies.gate import GateDocument, gate, wanted_metrics


def run(call: Call) -> None:
    """Read the metrics the claims are about, each on the samples it was scored on, and decide."""
    session = Session(call)
    if call.values.get("comment") and "markdown" not in session.formats:
        raise UsageError(
            "--comment marks Markdown, and nothing is written as Markdown",
            found=f"format {' and '.join(session.formats)}",
            hint="add --output gate.md or --format markdown, or leave out --comment",
        )
    settings = settled(call)
    with session.runtime() as runtime:
        wanted = partial(wanted_metrics, settings)
        stdin = session.environment.stdin
        tables = read_metrics_apart(call.scores, call.reading, stdin, wanted=wanted)
        for table in tables:
            session.require_room(table)
        document = gate(tables, settings, runtime)
    session.finish(document)
    if session.environment.variables.get("GITHUB_ACTIONS") == "true":
        _tell_github(document, session.environment)
    if document.failed is not None:
        raise document.failed


def _tell_github(document: GateDocument, environment: Environment) -> None:
    """Annotate the run, and append to its summary."""
    for line in notes(document):
        environment.say(line, command=True)
    summary = environment.variables.get("GITHUB_STEP_SUMMARY")
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(markdown_page(document) + "\n")
        except OSError as error:
            # The result is there already, and the summary only repeats it.
            environment.say(f"warning: no summary in {summary}: {error.strerror}")
