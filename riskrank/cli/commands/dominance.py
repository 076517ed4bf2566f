"""``riskrank dominance``: who is ahead of whom by stochastic dominance, pair by pair."""

from __future__ import annotations

from typing import Annotated

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import (
    DominanceOptions,
    GroupedInputOptions,
    OutputOptions,
    PortfolioOptions,
    TestResamplingOptions,
)


@app.command(short_help="Test which model is ahead of which, pair by pair.")
@grouped
def dominance(
    context: typer.Context,
    inputs: GroupedInputOptions,
    portfolio: PortfolioOptions,
    tests: DominanceOptions,
    resampling: TestResamplingOptions,
    output: OutputOptions,
    per_metric: Annotated[
        bool, typer.Option("--per-metric", help="Test every metric on its own instead of the portfolio.")
    ] = False,
    ratios: Annotated[
        bool, typer.Option("--ratios", help="Also show the full matrix of ratios of every test.")
    ] = False,
) -> None:
    """Test by stochastic dominance which model is ahead of which, with exact violation ratios.

    One row an ordered pair: the violation ratio of "winner dominates loser" (0: everywhere better,
    0.5: a draw), the p-value, and the verdict. Ahead is a ratio below 0.5; dominance itself is 0.
    """
    from riskrank.cli.session import Session
    from riskrank.studies.dominance import DominanceSettings
    from riskrank.studies.dominance import dominance as study

    session = Session(context.obj, inputs, output)
    settings = DominanceSettings(
        **session.settings(portfolio, tests, resampling), per_metric=per_metric, ratios=ratios
    )
    with session.runtime(resampling) as runtime:
        document = study(session.read(portfolio.weight), settings, runtime)
    session.finish(document)
