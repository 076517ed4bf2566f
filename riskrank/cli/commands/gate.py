"""``riskrank gate``: may the new model replace the old one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import typer

from riskrank.cli.app import app
from riskrank.cli.environment import Environment
from riskrank.cli.grouped import grouped
from riskrank.cli.help import TESTS
from riskrank.cli.options import (
    Correction,
    GroupedInputOptions,
    Names,
    OutputOptions,
    ResamplingOptions,
)
from riskrank.errors import UsageError

if TYPE_CHECKING:
    from riskrank.studies.gate import GateDocument


@dataclass(frozen=True, kw_only=True)
class ClaimOptions:
    """What is claimed."""

    better: Annotated[
        Names, typer.Option(metavar="NEW:OLD", help="Claim: NEW is better than OLD. Repeatable.")
    ] = None
    not_worse: Annotated[
        Names, typer.Option(metavar="NEW:OLD", help="Claim: NEW is not worse than OLD. Repeatable.")
    ] = None
    on: Annotated[
        Names,
        typer.Option(
            metavar="STATISTIC",
            help="mean, tvar@0.05 (mean of the worst 5 %), fsd, ssd, each of all metrics or of one as in "
            "mean:NAME, or a metric for its mean. Repeatable. [mean]",
        ),
    ] = None
    margin: Annotated[
        Names,
        typer.Option(
            metavar="[METRIC=]VALUE",
            help="Difference that matters, in the units of the metric: better by more, worse by less. "
            "Repeatable. [0]",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class DecisionOptions(ResamplingOptions):
    """How to decide a family of claims."""

    PANEL: ClassVar[str] = TESTS

    resamples: Annotated[
        str,
        typer.Option(metavar="auto|B", help="Bootstrap resamples: a number, or as many as the family needs."),
    ] = "auto"  # type: ignore[assignment]
    correction: Correction = "holm"
    inconclusive: Annotated[
        Literal["pass", "fail"] | None,
        typer.Option(help="What a claim counts as that is neither shown nor refuted. [exit status 4]"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class GateOutputOptions(OutputOptions):
    """Where the result goes, and how it looks; CI servers read JUnit."""

    format: Annotated[
        Literal["table", "json", "jsonl", "csv", "markdown", "html", "latex", "junit"] | None,
        typer.Option(help="Format of the result. [by --output's suffix, .xml being junit; else table]"),
    ] = None  # type: ignore[assignment]
    comment: Annotated[
        bool,
        typer.Option("--comment", help="Mark the Markdown, so that the next run can replace a comment."),
    ] = False


@app.command(short_help="Pass or fail a CI job: is a model better, or not worse, than another?")
@grouped
def gate(
    context: typer.Context,
    inputs: GroupedInputOptions,
    claims: ClaimOptions,
    decision: DecisionOptions,
    output: GateOutputOptions,
) -> None:
    """Decide claims about models with three answers: pass (exit 0), fail (1), inconclusive (4).

    A claim passes only if it is shown: too few samples are inconclusive, never a pass. All claims are
    one family. Under GITHUB_ACTIONS the run is annotated and its summary written, too.
    """
    from riskrank.cli.session import FORMATS, Session
    from riskrank.studies.gate import READING, ClaimSettings, wanted_metrics
    from riskrank.studies.gate import gate as study

    session = Session(context.obj, inputs, output, formats=(*FORMATS, "junit"))
    if output.comment and "markdown" not in session.formats:
        raise UsageError(
            "--comment marks Markdown, and nothing is written as Markdown",
            found=f"format {' and '.join(session.formats)}",
            hint="add --output gate.md or --format markdown, or leave out --comment",
        )
    settings = ClaimSettings(**session.settings(claims, decision), comment=output.comment)
    with session.runtime(decision) as runtime:
        tables = session.read_apart(partial(wanted_metrics, settings), **READING)
        document = study(tables, settings, runtime)
    session.finish(document)
    if context.obj.variables.get("GITHUB_ACTIONS") == "true":
        _tell_github(document, context.obj)
    if document.failed is not None:
        raise document.failed


def _tell_github(document: GateDocument, environment: Environment) -> None:
    """Annotate the run, and append to its summary."""
    from pathlib import Path

    from riskrank.shown.gate.github import notes
    from riskrank.shown.render import markdown_page

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
