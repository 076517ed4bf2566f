"""``riskrank report``: everything a decision meeting needs, as one page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import (
    Correction,
    GroupedInputOptions,
    NoTest,
    OutputOptions,
    PaperExact,
    PortfolioOptions,
    TestResamplingOptions,
    Variance,
)


@dataclass(frozen=True, kw_only=True)
class ContentOptions:
    """What goes into the report beyond the ranking and what stands around it."""

    gsd: Annotated[
        bool,
        typer.Option("--gsd", help="A chapter on generalized stochastic dominance, for few samples."),
    ] = False
    copa: Annotated[
        bool, typer.Option("--copa", help="A chapter on COPA, for metrics without a common unit.")
    ] = False
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Head of the page.")] = None


@dataclass(frozen=True, kw_only=True)
class ReportTestOptions(TestResamplingOptions):
    """How to test."""

    correction: Correction = "holm"
    no_test: NoTest = False
    variance: Variance = "bootstrap"
    paper_exact: PaperExact = False


@app.command(short_help="Write one page for a decision meeting: ranking, risks, pairs, pictures.")
@grouped
def report(
    context: typer.Context,
    inputs: GroupedInputOptions,
    portfolio: PortfolioOptions,
    content: ContentOptions,
    tests: ReportTestOptions,
    output: OutputOptions,
) -> None:
    """Put ranking, hidden risks, pairs, mean and risk, and agreement into one document.

    --output report.html is one file that loads nothing from elsewhere: it can be mailed, printed, and read
    without JavaScript. Every other format holds the same numbers.
    """
    from riskrank.cli.session import Session
    from riskrank.studies.report import ReportSettings
    from riskrank.studies.report import report as study

    session = Session(context.obj, inputs, output)
    settings = ReportSettings(**session.settings(portfolio, content, tests))
    with session.runtime(tests) as runtime:
        document = study(session.read(portfolio.weight), settings, runtime)
    session.finish(document)
