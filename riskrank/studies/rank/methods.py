"""Selection of ranking methods from the settings and the type of the table."""

from riskrank.engine.dominance.column_ranking import PAIRWISE_WIN_RATE, SAMPLE_WIN_RATE
from riskrank.engine.dominance.methods import METRICS, Method, methods_for_scope, parse_method
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT
from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.settings import claims_from_settings
from riskrank.studies.targets import has_weights, portfolio_name, refuse_weights


def chosen_methods(settings: RankSettings, table: ScoreTable) -> list[Method]:
    """Return the methods to run on a table.

    Raises
    ------
    UsageError
        If a method is unknown or does not apply to the table.
    """
    metrics = [metric.name for metric in table.metrics]
    # Most judged samples have no human label, so single samples have no winner.
    by_sample = table.paired and table.judged is None
    claims, methods = claims_from_settings(settings), list[Method]()
    scope = portfolio_name(settings) if len(metrics) > 1 else metrics[0]
    if settings.all_methods and len(metrics) < 2:
        raise UsageError(
            f"{option('all_methods', True)} needs several metrics",
            found=f"one metric, {metrics[0]}",
            hint=f"leave out {option('all_methods')}, which combines metrics",
        )
    if settings.method:
        methods = [parse_method(text, default_scope=scope, metrics=metrics) for text in settings.method]
    elif settings.all_methods:
        scopes = (INDEPENDENT, METRICS) if has_weights(table) else (INDEPENDENT, EMPIRICAL, METRICS)
        for portfolio in scopes:
            methods += methods_for_scope(
                portfolio, claims, paired=table.paired, mean_risk=portfolio != EMPIRICAL
            )
    elif settings.per_metric:
        methods = [method for name in metrics for method in methods_for_scope(name, claims, paired=by_sample)]
        if settings.aggregate:
            methods += methods_for_scope(METRICS, claims, paired=table.paired)
    else:
        methods = methods_for_scope(scope, claims, paired=by_sample)
    several = () if len(metrics) > 1 else {METRICS, INDEPENDENT, EMPIRICAL} - set(metrics)
    for method in methods:
        if method.scope in several:
            requested = bool(settings.method)
            raise UsageError(
                f"{method.name} needs several metrics",
                found=metrics[0],
                hint=f"use {method.statistic}" if requested else f"leave out {option('aggregate')}",
            )
        if method.scope == EMPIRICAL:
            refuse_weights(table)
        if method.statistic in (SAMPLE_WIN_RATE, PAIRWISE_WIN_RATE) and not by_sample:
            labels = "human scores for only some of the samples"
            raise UsageError(
                f"{method.name} needs a winner on each sample",
                found=labels if table.judged is not None else option("unpaired", True),
                hint="use MWR, which compares means",
            )
    return methods
