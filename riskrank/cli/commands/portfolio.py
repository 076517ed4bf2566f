"""``riskrank portfolio``: fold several metrics into one score a sample."""

from __future__ import annotations

from typing import Annotated

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import InputOptions, OutputOptions, PortfolioOptions
from riskrank.errors import UsageError


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
    from riskrank.cli.session import FORMATS, Session, describe_inputs, input_settings, portfolio_settings
    from riskrank.cli.targets import check_portfolio, fold
    from riskrank.engine.portfolio.summary import DEFAULT_LEVELS, summarise
    from riskrank.report.document import Provenance, Result
    from riskrank.report.portfolio import (
        SUMMARY_FIELDS,
        score_fields,
        score_rows,
        score_view,
        summary_rows,
        summary_view,
    )

    check_portfolio(fold_by)
    if level and not summary:
        raise UsageError(
            "--level belongs to --summary",
            found=f"--level {level[0]:g} without --summary",
            hint="add --summary, or leave out --level",
        )
    levels = tuple(sorted(set(level or DEFAULT_LEVELS)))
    formats = FORMATS if summary else (*FORMATS, "parquet")
    session = Session(context.obj, inputs, output, formats=formats)
    table = session.read(fold_by.weight, min_models=1)
    scores = fold(table, fold_by)
    if summary:
        found = summarise(scores, levels)
        fields, rows = SUMMARY_FIELDS, summary_rows(found, table.models)
        view = summary_view(found, table.models)
    else:
        fields = score_fields(table.has_draws)
        rows = score_rows(scores, table.clusters, table.models, table.samples, draws=table.has_draws)
        view = score_view(rows, fields)
    session.finish(
        Result(
            provenance=Provenance(
                command="portfolio",
                seed=None,
                resamples=None,
                settings=input_settings(inputs) | portfolio_settings(fold_by, table),
                warnings=table.warnings,
                **describe_inputs(table),
            ),
            fields=fields,
            rows=rows,
            view=view,
        )
    )
