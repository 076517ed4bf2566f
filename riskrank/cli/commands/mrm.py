"""``riskrank mrm``: mean-risk models, every risk of the literature side by side."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import GroupedInputOptions, OutputOptions, PortfolioOptions, ResamplingOptions


@app.command(short_help="Rank models by mean minus risk, for many risks.")
@grouped
def mrm(
    context: typer.Context,
    inputs: GroupedInputOptions,
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
            help="Only this risk, such as semideviation, negative-tvar or gini-tail. Repeatable. [all]",
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
    from riskrank.cli.session import Session
    from riskrank.studies.mean_risk import MeanRiskSettings
    from riskrank.studies.mean_risk import mrm as study
    from riskrank.studies.settings import names, numbers

    session = Session(context.obj, inputs, output)
    settings = MeanRiskSettings(
        **session.settings(portfolio, resampling),
        per_metric=per_metric,
        with_portfolio=with_portfolio,
        risk=names(risk),
        level=numbers(level, parameter="level"),
        aggregate=aggregate,
        no_test=no_test,
    )
    with session.runtime(resampling) as runtime:
        document = study(session.read(portfolio.weight), settings, runtime)
    session.finish(document)
