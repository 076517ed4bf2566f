"""``riskrank mrm``: mean-risk models, every risk of the literature side by side."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import InputOptions, OutputOptions, PortfolioOptions, ResamplingOptions


@app.command(short_help="Rank models by mean minus risk, for many risks.")
@grouped
def mrm(
    context: typer.Context,
    inputs: InputOptions,
    portfolio: PortfolioOptions,
    resampling: ResamplingOptions,
    output: OutputOptions,
    per_metric: Annotated[
        bool, typer.Option("--per-metric", help="Every metric on its own instead of the portfolio.")
    ] = False,
    with_portfolio: Annotated[
        bool, typer.Option("--with-portfolio", help="With --per-metric: the portfolio as well.")
    ] = False,
    risk: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="standard-deviation, semideviation, negative-tvar, quantile-deviation, gini-tail or "
            "negative-var. Repeatable. [all]",
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(metavar="P,...", help="Levels of the tail risks. Repeatable. [0.05,0.1,0.25]"),
    ] = None,
    aggregate: Annotated[
        Literal["kemeny", "footrule", "pearson", "borda"],
        typer.Option(help="Distance by which the rankings of consistent risks become one."),
    ] = "kemeny",
    no_test: Annotated[
        bool, typer.Option("--no-test", help="Statistics only: no resampling, no intervals.")
    ] = False,
) -> None:
    """Rank models by mean minus risk under every risk, with bootstrap intervals.

    All risks but the standard deviation and the value at risk are consistent with second-order
    dominance: a model that dominates is never placed lower. Their rankings are aggregated exactly.
    """
    from riskrank.cli.session import (
        Session,
        check_resampling,
        count_jobs,
        describe_inputs,
        input_settings,
        parse_numbers,
        portfolio_settings,
    )
    from riskrank.cli.targets import check_portfolio, targets
    from riskrank.engine.portfolio.mean_risk import risk_columns
    from riskrank.engine.portfolio.mean_risk_intervals import aggregate_over_metrics, study_mean_risk
    from riskrank.engine.sampling.design import FEW_SAMPLES
    from riskrank.errors import UsageError
    from riskrank.report.document import Provenance, Result
    from riskrank.report.mrm import FIELDS, mrm_rows, mrm_view
    from riskrank.scores.table import portfolio_weights
    from riskrank.studies.aggregation import described_aggregation

    if with_portfolio and not per_metric:
        raise UsageError(
            "--with-portfolio adds to --per-metric",
            found="--with-portfolio alone",
            hint="leave it out: the portfolio is the default",
        )
    check_portfolio(portfolio, per_metric=per_metric and not with_portfolio)
    check_resampling(resampling)
    levels = parse_numbers(level, option="--level")
    columns = risk_columns(risk, levels) if levels else risk_columns(risk)
    session = Session(context.obj, inputs, output)
    table = session.read(portfolio.weight)
    resamples = 0 if no_test else resampling.resamples
    chosen = targets(table, portfolio, per_metric=per_metric)
    if with_portfolio and len(table.metrics) > 1:
        chosen = targets(table, portfolio) + chosen
    studies = []
    for target in chosen:
        with session.progress(f"resampling {target.name}") as progress:
            study = study_mean_risk(
                target.scores,
                columns,
                names=table.models,
                resamples=resamples,
                alpha=resampling.alpha,
                seed=resampling.seed,
                jobs=count_jobs(resampling),
                aggregator=aggregate,
                progress=progress,
            )
        studies.append((target.name, study))
    fewest = min(target.scores.effective_size for target in chosen)
    advice = []
    if resamples and fewest < FEW_SAMPLES:
        advice.append(f"only {fewest} samples: bootstrap intervals below {FEW_SAMPLES} samples are fragile")
    session.warn(advice)
    settings = input_settings(inputs) | {
        "risks": list(dict.fromkeys(column.risk.name for column in columns)),
        "levels": sorted({column.level for column in columns if column.level is not None}),
        "aggregate": aggregate,
        "alpha": resampling.alpha,
        "no_test": no_test,
        "per_metric": per_metric,
        "with_portfolio": with_portfolio,
    }
    if len(table.metrics) > 1 and (with_portfolio or not per_metric):
        settings |= portfolio_settings(portfolio, table)
    aggregations = [(f"RA(MRM@{name})", study.aggregation) for name, study in studies]
    if per_metric and len(table.metrics) > 1:
        single = [study for _, study in studies[-len(table.metrics) :]]
        weights = portfolio_weights(table)
        together = aggregate_over_metrics(single, weights, names=table.models, aggregator=aggregate)
        aggregations.append(("RA(MRM@M)", together))
    aggregations = [(name, found) for name, found in aggregations if found is not None]
    session.finish(
        Result(
            provenance=Provenance(
                command="mrm",
                seed=None if no_test else resampling.seed,
                resamples=None if no_test else resamples,
                settings=settings,
                warnings=[*table.warnings, *advice],
                extra={"aggregations": [described_aggregation(*one, table.models) for one in aggregations]},
                **describe_inputs(table),
            ),
            fields=FIELDS,
            rows=mrm_rows(studies, table.models),
            view=mrm_view(studies, aggregations, table.models),
        )
    )
