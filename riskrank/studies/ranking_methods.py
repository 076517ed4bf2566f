"""Which methods ``rank`` runs."""

from __future__ import annotations

from dataclasses import dataclass

from riskrank.engine.dominance.claims import Claim
from riskrank.engine.dominance.column_ranking import PAIRWISE_WIN_RATE, SAMPLE_WIN_RATE
from riskrank.engine.dominance.methods import METRICS, Method, methods_on, parse_method
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT
from riskrank.errors import UsageError, one_of, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.settings import DominanceTestSettings, PortfolioSettings, names
from riskrank.studies.targets import portfolio_name, refuse_weights

AGGREGATORS = ("kemeny", "footrule", "pearson", "borda")


@dataclass(frozen=True, kw_only=True)
class MethodSettings(DominanceTestSettings, PortfolioSettings):
    """What to rank by.

    Parameters
    ----------
    per_metric : bool
        Rank by every metric on its own instead of the portfolio.
    aggregate : {"kemeny", "footrule", "pearson", "borda"}, optional
        Aggregate the rankings of the metrics, exactly; Kemeny where an aggregation is asked for otherwise.
    method : sequence of str
        Only these methods: ``R-SSD``, ``SSD(0.25)@P(EC)``, ``RA(R-SSD@M)``, ``RA(MRM@P(IC))``, ``MWR``.
    all_methods : bool
        Both portfolios, aggregation over metrics, mean-risk models.
    """

    per_metric: bool = False
    aggregate: str | None = None
    method: tuple[str, ...] = ()
    all_methods: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("aggregate", self.aggregate, (*AGGREGATORS, None))
        self._normalise("method", names(self.method))
        chosen = [
            option(name, None if name == "method" else True)
            for name in ("per_metric", "method", "all_methods")
            if getattr(self, name)
        ]
        if len(chosen) > 1:
            raise UsageError(
                f"{chosen[0]} and {chosen[1]} both say what to rank by",
                found="both",
                hint="use one of them",
            )
        if self.all_methods and self.copula == "empirical":
            raise UsageError(
                f"{option('all_methods', True)} uses both copulas",
                found=option("copula", "empirical"),
                hint=f"leave {option('copula')} out",
            )
        if self.method and (self.threshold or self.test is not None or self.order != "both"):
            raise UsageError(
                f"{option('method')} names its own order, test and threshold",
                found=f"{option('method', self.method[0])} with {option('order')}, {option('test')} or "
                f"{option('threshold')}",
                hint=f"write the threshold into the method, e.g. {option('method', 'SSD(0.25)')}",
            )
        if self.aggregate and not chosen:
            raise UsageError(
                f"{option('aggregate')} needs several rankings",
                found="one portfolio",
                hint=f"add {option('per_metric', True)}, {option('all_methods', True)}, or a "
                f"{option('method')} such as RA(R-SSD@M)",
            )

    @property
    def aggregator(self) -> str:
        """Distance of rank aggregation."""
        return self.aggregate or "kemeny"

    @property
    def folds_nothing(self) -> bool:
        """Whether every metric is ranked on its own, and nothing else is."""
        return self.per_metric and not self.aggregate


def chosen_methods(settings: MethodSettings, table: ScoreTable) -> list[Method]:
    """Methods to run on this table.

    Raises
    ------
    UsageError
        If a method is unknown or cannot be run on this table.
    """
    metrics = [metric.name for metric in table.metrics]
    scope = portfolio_name(settings) if len(metrics) > 1 else metrics[0]
    if settings.all_methods and len(metrics) < 2:
        raise UsageError(
            f"{option('all_methods', True)} folds and aggregates several metrics",
            found=f"one metric, {metrics[0]}",
            hint=f"leave {option('all_methods')} out: one metric alone is itself",
        )
    if settings.method:
        methods = [parse_method(text, default_scope=scope, metrics=metrics) for text in settings.method]
    elif settings.all_methods:
        methods = _every_method(table, settings.claims)
    elif settings.per_metric:
        methods = [
            method for name in metrics for method in methods_on(name, settings.claims, paired=table.paired)
        ]
        if settings.aggregate:
            methods += methods_on(METRICS, settings.claims, paired=table.paired)
    else:
        methods = methods_on(scope, settings.claims, paired=table.paired)
    _check_scopes(methods, table)
    return methods


def _every_method(table: ScoreTable, claims: tuple[Claim, ...]) -> list[Method]:
    weighted = any(metric.weight is not None for metric in table.metrics)
    scopes = (INDEPENDENT, METRICS) if weighted else (INDEPENDENT, EMPIRICAL, METRICS)
    return [
        method
        for scope in scopes
        for method in methods_on(scope, claims, paired=table.paired, mean_risk=scope != EMPIRICAL)
    ]


def _check_scopes(methods: list[Method], table: ScoreTable) -> None:
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
                found=option("unpaired", True),
                hint="use MWR, which compares means",
            )
