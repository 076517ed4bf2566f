"""``riskrank portfolio``: fold several metrics into one score a sample."""

from __future__ import annotations

from typing import Annotated

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import InputOptions, OutputOptions, PortfolioOptions


@app.command(short_help="Fold the metrics of every sample into one score.")
@grouped
def portfolio(
    context: typer.Context,
    inputs: InputOptions,
    fold_by: PortfolioOptions,
    output: OutputOptions,
    summary: Annotated[
        bool, typer.Option("--summary", help="One row a model: mean, sd, quantiles, Tail Value at Risk.")
    ] = False,
    level: Annotated[
        list[float] | None,
        typer.Option(metavar="P", help="Levels of quantiles and TVaR. [0.01 0.05 0.1 0.25 0.5 0.75]"),
    ] = None,
) -> None:
    """Fold the metrics of every sample into one portfolio score, by a copula of pooled CDFs.

    The result is a long table (model, sample, metric, score) that every other command reads.
    --output x.parquet writes Parquet.
    """
    from riskrank.cli.session import FORMATS, Session
    from riskrank.studies.portfolio import READING, FoldingSettings
    from riskrank.studies.portfolio import portfolio as study

    formats = FORMATS if summary else (*FORMATS, "parquet")
    session = Session(context.obj, inputs, output, formats=formats)
    settings = FoldingSettings(**session.settings(fold_by), summary=summary, level=tuple(level or ()))
    session.finish(study(session.read(fold_by.weight, **READING), settings))
