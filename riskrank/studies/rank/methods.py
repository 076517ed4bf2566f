"""Methods to rank by, as settings ask for them and a table has room for."""

from riskrank.engine.dominance.column_ranking import PAIRWISE_WIN_RATE, SAMPLE_WIN_RATE
from riskrank.engine.dominance.methods import METRICS, Method, methods_on, parse_method
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT
from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.settings import claims_of
from riskrank.studies.targets import portfolio_name, refuse_weights, weighed


def chosen_methods(settings: RankSettings, table: ScoreTable) -> list[Method]:
    """Methods to run on this table.

    Raises
    ------
    UsageError
        If a method is unknown or cannot be run on this table.
    """
    metrics = [metric.name for metric in table.metrics]
    # Of most samples nobody knows what people would have said: there is no winner of a sample.
    by_sample = table.paired and table.judged is None
    claims, methods = claims_of(settings), list[Method]()
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
        scopes = (INDEPENDENT, METRICS) if weighed(table) else (INDEPENDENT, EMPIRICAL, METRICS)
        for one in scopes:
            methods += methods_on(one, claims, paired=table.paired, mean_risk=one != EMPIRICAL)
    elif settings.per_metric:
        methods = [method for name in metrics for method in methods_on(name, claims, paired=by_sample)]
        if settings.aggregate:
            methods += methods_on(METRICS, claims, paired=table.paired)
    else:
        methods = methods_on(scope, claims, paired=by_sample)
    several = () if len(metrics) > 1 else {METRICS, INDEPENDENT, EMPIRICAL} - set(metrics)
    for method in methods:
        if method.scope in several:
            named = bool(settings.method)
            raise UsageError(
                f"{method.name} needs several metrics",
                found=metrics[0],
                hint=f"name it {method.statistic}" if named else f"leave out {option('aggregate')}",
            )
        if method.scope == EMPIRICAL:
            refuse_weights(table)
        if method.statistic in (SAMPLE_WIN_RATE, PAIRWISE_WIN_RATE) and not by_sample:
            labels = "people scored only some of the samples"
            raise UsageError(
                f"{method.name} asks who wins each sample",
                found=labels if table.judged is not None else option("unpaired", True),
                hint="use MWR, which compares means",
            )
    return methods
