"""``riskrank rank``: the main job, a ranking and how sure it is."""

from __future__ import annotations

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.options import (
    DominanceOptions,
    GroupedInputOptions,
    MethodOptions,
    OutputOptions,
    PortfolioOptions,
    TestResamplingOptions,
)


@app.command(short_help="Rank models by stochastic dominance, next to mean win rates.")
@grouped
def rank(
    context: typer.Context,
    inputs: GroupedInputOptions,
    portfolio: PortfolioOptions,
    methods: MethodOptions,
    tests: DominanceOptions,
    resampling: TestResamplingOptions,
    output: OutputOptions,
) -> None:
    """Rank models by stochastic dominance, next to mean win rates, from one bootstrap.

    Ranks follow the violation ratio and are shared only where it is the same; models that no test
    separates share a tier. Under the tables stand the hidden risks: models with a mean at least as
    high as another's and a mean of the worst 5 % that is significantly lower.
    """
    from riskrank.cli.session import Session
    from riskrank.studies.rank import RankSettings
    from riskrank.studies.rank import rank as study

    session = Session(context.obj, inputs, output)
    settings = RankSettings(**session.settings(portfolio, methods, tests, resampling))
    with session.runtime(resampling) as runtime:
        document = study(session.read(portfolio.weight), settings, runtime)
    session.finish(document)
