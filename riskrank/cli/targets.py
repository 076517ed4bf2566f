"""The columns of scores a command works on: the portfolio, or each metric on its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from riskrank.cli.options import PortfolioOptions
from riskrank.errors import UsageError

if TYPE_CHECKING:
    from riskrank.engine.portfolio.score_tables import ScoreTables
    from riskrank.engine.sampling.design import ClusteredScores
    from riskrank.scores.table import ScoreTable


@dataclass(frozen=True)
class Target:
    """One column of scores.

    Attributes
    ----------
    name : str
        Metric it is reported under: a metric's name, ``P(IC)`` or ``P(EC)``.
    scores : ClusteredScores
    """

    name: str
    scores: ClusteredScores


def check_portfolio(options: PortfolioOptions, *, per_metric: bool = False) -> None:
    """Refuse contradictions among the portfolio options.

    Raises
    ------
    UsageError
    """
    if options.copula == "empirical" and options.weight:
        raise UsageError(
            "--weight has no meaning for the empirical copula",
            found=f"--copula empirical with --weight {options.weight[0]}",
            hint="leave out the weights, or use --copula independent",
        )
    if options.copula == "independent" and options.copula_scope == "model":
        raise UsageError(
            "--copula-scope model goes with the empirical copula only",
            found="--copula independent",
            hint="add --copula empirical, or leave out --copula-scope",
        )
    if per_metric and (options.weight or options.copula == "empirical"):
        raise UsageError(
            "--per-metric folds nothing, so there is no copula and no weight",
            found="--copula empirical" if options.copula == "empirical" else f"--weight {options.weight[0]}",
            hint="leave out one of the two",
        )


def portfolio_name(options: PortfolioOptions) -> str:
    """Name of the portfolio in method names: ``P(IC)`` or ``P(EC)``."""
    return "P(IC)" if options.copula == "independent" else "P(EC)"


def targets(table: ScoreTable, options: PortfolioOptions, *, per_metric: bool = False) -> list[Target]:
    """Score columns to work on; one metric alone is itself."""
    from riskrank.engine.sampling.design import ClusteredScores

    def clustered(columns) -> ClusteredScores:
        samples = None if table.cluster_names is None else table.row_samples
        return ClusteredScores.build(columns, table.clusters, samples=samples, paired=table.paired)

    if per_metric or len(table.metrics) == 1:
        return [
            Target(metric.name, clustered([values[:, number] for values in table.values]))
            for number, metric in enumerate(table.metrics)
        ]
    return [Target(portfolio_name(options), clustered(fold(table, options)))]


def score_tables(table: ScoreTable, options: PortfolioOptions) -> ScoreTables:
    """All metrics of a table as the engine takes them, with the weights of the metrics."""
    from riskrank.engine.portfolio.score_tables import ScoreTables
    from riskrank.scores.table import portfolio_weights

    return ScoreTables.build(
        table.values,
        table.clusters,
        [metric.name for metric in table.metrics],
        samples=None if table.cluster_names is None else table.row_samples,
        weights=portfolio_weights(table),
        paired=table.paired,
        per_model=options.copula_scope == "model",
    )


def refuse_weights(table: ScoreTable) -> None:
    """Refuse a metrics file with weights where the empirical copula has no use for them.

    Raises
    ------
    UsageError
    """
    named = [metric.name for metric in table.metrics if metric.weight is not None]
    if named:
        raise UsageError(
            "weights have no meaning for the empirical copula",
            found=f"{named[0]} has a weight",
            hint="leave the weights out, or use --copula independent",
        )


def fold(table: ScoreTable, options: PortfolioOptions):
    """Portfolio score of every row of every model."""
    from riskrank.engine.portfolio.folding import portfolio
    from riskrank.scores.table import portfolio_weights

    independent = options.copula == "independent"
    if not independent:
        refuse_weights(table)
    return portfolio(
        table.values,
        copula=options.copula,
        weights=portfolio_weights(table) if independent else None,
        per_model=options.copula_scope == "model",
    )
