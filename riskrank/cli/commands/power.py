"""``riskrank power``: how many samples a comparison needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Annotated, ClassVar, Literal

import typer

from riskrank.cli.app import app
from riskrank.cli.grouped import grouped
from riskrank.cli.help import TESTS
from riskrank.cli.options import (
    Correction,
    InputOptions,
    OutputOptions,
    PaperExact,
    PortfolioOptions,
    ResamplingOptions,
)


@dataclass(frozen=True, kw_only=True)
class PilotOptions(InputOptions):
    """A pilot table to read, or distributions in its place."""

    scores: Annotated[
        list[str],
        typer.Argument(
            metavar="SCORES...|DISTRIBUTION...",
            help="A pilot table, or two or more distributions, the better first: normal:0.5,2, "
            "lognormal:MU,SIGMA, beta:A,B, exponential:MEAN, uniform:LOW,HIGH, t:DF; NAME=normal:0.5,2 "
            "names one.",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """The one test whose power is wanted."""

    PANEL: ClassVar[str] = TESTS

    order: Annotated[Literal["1", "2"], typer.Option(help="Order of dominance.")] = "2"
    test: Annotated[
        Literal["direct", "relative", "absolute"] | None,
        typer.Option(help="Kind of claim. [direct with --pair, absolute with --threshold, else relative]"),
    ] = None
    threshold: Annotated[
        list[float] | None, typer.Option(metavar="TAU", help="Largest violation ratio of an absolute test.")
    ] = None
    correction: Correction = "holm"
    variance: Annotated[
        Literal["bootstrap", "clt"],
        typer.Option(help="Test by resampling, or by the limit theorem, many times faster."),
    ] = "bootstrap"
    paper_exact: PaperExact = False


@dataclass(frozen=True, kw_only=True)
class SimulatedTestOptions(ResamplingOptions):
    """How each simulated data set is resampled."""

    resamples: Annotated[
        str,
        typer.Option(
            metavar="auto|B", help="Bootstrap resamples of each test, or as many as the family needs."
        ),
    ] = "auto"  # type: ignore[assignment]


@app.command(short_help="Plan how many samples a comparison needs.")
@grouped
def power(
    context: typer.Context,
    inputs: PilotOptions,
    portfolio: PortfolioOptions,
    claim: PlanOptions,
    resampling: SimulatedTestOptions,
    output: OutputOptions,
    sizes: Annotated[
        str, typer.Option(metavar="N,N,...", help="Samples per model to simulate.")
    ] = "100,500,1000",
    pair: Annotated[
        str | None, typer.Option(metavar="BETTER:WORSE", help="One pair instead of the whole order.")
    ] = None,
    target: Annotated[float, typer.Option(metavar="POWER", help="Power to find the sample size of.")] = 0.8,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Largest size to try. [5 times the largest of --sizes]")
    ] = None,
    simulations: Annotated[int, typer.Option(metavar="R", help="Data sets to simulate per size.")] = 100,
) -> None:
    """Say how often dominance would be significant with so many samples, and how many it takes.

    Data sets are drawn with replacement from a pilot table, or from named distributions; each is
    tested as `dominance` would test it. The order planned for is every dominance that is significant
    in the pilot, or that each distribution is ahead of those after it.
    """
    from riskrank.cli.session import Session
    from riskrank.studies.distributions import named_distributions
    from riskrank.studies.power import PowerSettings, power_between, refuse_table_options
    from riskrank.studies.power import power as study
    from riskrank.studies.settings import whole_numbers

    distributions = named_distributions(inputs.scores)
    if distributions:
        refuse_table_options(_given(context, inputs, portfolio))
        portfolio = PortfolioOptions()  # a configuration may hold some for tables
    session = Session(context.obj, replace(inputs, scores=[] if distributions else inputs.scores), output)
    settings = PowerSettings(
        **session.settings(portfolio, claim, resampling),
        sizes=whole_numbers(sizes, parameter="sizes"),
        pair=pair,
        target=target,
        limit=limit,
        simulations=simulations,
    )
    with session.runtime(resampling) as runtime:
        if distributions:
            document = power_between(distributions, settings, runtime)
        else:
            document = study(session.read(portfolio.weight), settings, runtime)
    session.finish(document)


def _given(context: typer.Context, *groups: InputOptions | PortfolioOptions) -> Iterator[str]:
    """Names of the options the command line gave, but for their defaults."""
    for group in groups:
        for item in fields(group):
            source = context.get_parameter_source(item.name)
            given = getattr(group, item.name) != item.default
            if item.name != "scores" and given and getattr(source, "name", "") == "COMMANDLINE":
                yield item.name.rstrip("_")
