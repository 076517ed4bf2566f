"""Which methods ``rank`` runs, from its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from riskrank.cli.options import DominanceOptions, PortfolioOptions
from riskrank.cli.targets import portfolio_name, refuse_weights
from riskrank.errors import UsageError

if TYPE_CHECKING:
    from riskrank.engine.dominance.methods import Method
    from riskrank.engine.dominance.tests import Claim
    from riskrank.scores.table import ScoreTable


@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """What to rank by."""

    per_metric: Annotated[
        bool, typer.Option("--per-metric", help="Rank by every metric on its own instead of the portfolio.")
    ] = False
    aggregate: Annotated[
        Literal["kemeny", "footrule", "pearson", "borda"] | None,
        typer.Option(help="Aggregate the rankings of the metrics, exactly: RA(R-SSD@M) and so on. [kemeny]"),
    ] = None
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this method: R-SSD, SSD(0.25)@P(EC), RA(R-SSD@M), RA(MRM@P(IC)), MWR... Repeatable.",
        ),
    ] = None
    all_methods: Annotated[
        bool,
        typer.Option("--all-methods", help="Both portfolios, aggregation over metrics, mean-risk models."),
    ] = False
    stability: Annotated[
        list[str] | None,
        typer.Option(metavar="N,...", help="Repeat on random subsamples of these sizes. Repeatable."),
    ] = None
    stability_repeats: Annotated[
        int | None, typer.Option(metavar="R", help="Subsamples a size of --stability. [5]")
    ] = None


def check_methods(options: MethodOptions, portfolio: PortfolioOptions, tests: DominanceOptions) -> None:
    """Refuse contradictions among the options.

    Raises
    ------
    UsageError
    """
    chosen = [
        name
        for name, given in (
            ("--per-metric", options.per_metric),
            ("--method", options.method),
            ("--all-methods", options.all_methods),
        )
        if given
    ]
    if len(chosen) > 1:
        raise UsageError(
            f"{chosen[0]} and {chosen[1]} both say what to rank by", found="both", hint="use one of them"
        )
    if options.all_methods and portfolio.copula == "empirical":
        raise UsageError(
            "--all-methods uses both copulas", found="--copula empirical", hint="leave --copula out"
        )
    if options.method and (tests.threshold or tests.test != "both" or tests.order != "both"):
        raise UsageError(
            "--method names its own order, test and threshold",
            found=f"--method {options.method[0]} with --order, --test or --threshold",
            hint="write the threshold into the method, e.g. --method 'SSD(0.25)'",
        )
    aggregates = options.per_metric or options.all_methods or options.method
    if options.aggregate and not aggregates:
        raise UsageError(
            "--aggregate needs several rankings",
            found="one portfolio",
            hint="add --per-metric, --all-methods, or a --method such as 'RA(R-SSD@M)'",
        )
    if options.stability_repeats is not None and not options.stability:
        raise UsageError(
            "--stability-repeats goes with --stability",
            found=f"--stability-repeats {options.stability_repeats}",
            hint="add --stability 100,500",
        )


def chosen_methods(
    options: MethodOptions, portfolio: PortfolioOptions, table: ScoreTable, claims: tuple[Claim, ...]
) -> list[Method]:
    """Methods to run on this table.

    Raises
    ------
    UsageError
        If a method is unknown or cannot be run on this table.
    """
    from riskrank.engine.dominance.methods import METRICS, methods_on, parse_method

    metrics = [metric.name for metric in table.metrics]
    scope = portfolio_name(portfolio) if len(metrics) > 1 else metrics[0]
    if options.all_methods and len(metrics) < 2:
        raise UsageError(
            "--all-methods folds and aggregates several metrics",
            found=f"one metric, {metrics[0]}",
            hint="leave --all-methods out: one metric alone is itself",
        )
    if options.method:
        methods = [parse_method(text, default_scope=scope, metrics=metrics) for text in options.method]
    elif options.all_methods:
        methods = _every_method(table, claims)
    elif options.per_metric:
        methods = [method for name in metrics for method in methods_on(name, claims, paired=table.paired)]
        if options.aggregate:
            methods += methods_on(METRICS, claims, paired=table.paired)
    else:
        methods = methods_on(scope, claims, paired=table.paired)
    _check_scopes(methods, table)
    return methods


def gated_columns(methods: list[Method]) -> list[str]:
    """Columns of scores whose dominance tests a gate looks at.

    Raises
    ------
    UsageError
        If no method tests dominance on a column of its own.
    """
    found = [method.scope for method in methods if method.claim is not None and not method.aggregated]
    if not found:
        raise UsageError(
            "a gate needs a dominance test to look at",
            found=methods[0].name,
            hint="add --method R-SSD, or gate with riskrank dominance",
        )
    return list(dict.fromkeys(found))


def _every_method(table: ScoreTable, claims: tuple[Claim, ...]) -> list[Method]:
    from riskrank.engine.dominance.methods import METRICS, methods_on
    from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT

    weighted = any(metric.weight is not None for metric in table.metrics)
    scopes = (INDEPENDENT, METRICS) if weighted else (INDEPENDENT, EMPIRICAL, METRICS)
    return [
        method
        for scope in scopes
        for method in methods_on(scope, claims, paired=table.paired, mean_risk=scope != EMPIRICAL)
    ]


def _check_scopes(methods: list[Method], table: ScoreTable) -> None:
    from riskrank.engine.dominance.column import PAIRWISE_WIN_RATE, SAMPLE_WIN_RATE
    from riskrank.engine.dominance.methods import METRICS
    from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT

    metrics = [metric.name for metric in table.metrics]
    several = () if len(metrics) > 1 else {METRICS, INDEPENDENT, EMPIRICAL} - set(metrics)
    for method in methods:
        if method.scope in several:
            raise UsageError(
                f"{method.name} needs several metrics", found=metrics[0], hint=f"name it {method.statistic}"
            )
        if method.scope == EMPIRICAL:
            refuse_weights(table)
        if method.statistic in (SAMPLE_WIN_RATE, PAIRWISE_WIN_RATE) and not table.paired:
            raise UsageError(
                f"{method.name} compares models on the same samples",
                found="--unpaired",
                hint="use MWR, which compares means",
            )
