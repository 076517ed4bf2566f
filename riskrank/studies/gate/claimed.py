"""What is claimed: every claim on every metric, of all samples, groups and tasks."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.asked.suites import RANK
from riskrank.errors import UsageError, option
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.costs import PER_SUCCESS
from riskrank.studies.gate.claim import BETTER, NOT_WORSE, GateClaim
from riskrank.studies.gate.columns import ScoreColumn, score_columns, task_columns
from riskrank.studies.gate.costs import per_success
from riskrank.studies.gate.margins import margins
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.passing import passing, refuse_merged
from riskrank.studies.gate.relative import with_margin
from riskrank.studies.gate.statistics import MEAN, TASK, Statistic, statistics
from riskrank.studies.gate.tiers import in_tiers
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.task_scale import on_task_scale, scale_of


def claims_at_best(
    given: Sequence[ScoreTable], settings: ClaimSettings, wanted: Sequence[Statistic]
) -> list[GateClaim] | None:
    """The claims with what is missing at the best there can be, where that is asked for."""
    if all(one.best is None for one in given):
        return None
    best = [_at_best(one, settings) for one in given]
    scaled = [on_task_scale(one, settings) for one in best]
    return claims_of(scaled, best if settings.task_scale is None else scaled, settings, wanted)


def _at_best(table: ScoreTable, settings: ClaimSettings) -> ScoreTable:
    """The table with what is missing at the best there can be.

    Raises
    ------
    UsageError
        If ranks among all models are compared, which hang on what is missing of every one of them.
    """
    if scale_of(table, settings) == RANK:
        raise UsageError(
            f"{option('missing', 'bounds')} needs scores in their units, and tasks are compared by ranks",
            found="ranks among all models, which what is missing of any of them moves",
            hint=f"give bounds and {option('task_scale', 'bounds')}; or {option('missing', 'worst')}",
        )
    return table.at_best()


def wanted_metrics(settings: ClaimSettings, metrics: Sequence[str]) -> list[str]:
    """Those of some metrics that the claims are about."""
    used = {metric for one in statistics(settings.on, metrics, suite=True) for metric in one.metrics}
    return [name for name in metrics if name in used or name == settings.price]


def claims_of(
    tables: Sequence[ScoreTable],
    by_themselves: Sequence[ScoreTable],
    settings: ClaimSettings,
    wanted: Sequence[Statistic],
) -> list[GateClaim]:
    """Every claim on every metric it is about, of all samples together and then of each group or task."""
    refuse_merged(wanted, tables[0].options.repeats)
    models = tables[0].models
    names = wanted_metrics(settings, [metric.name for table in tables for metric in table.metrics])
    apart = any(one.name == TASK for one in wanted)
    if apart:
        names += (name for table in by_themselves for name in table.suite.metrics)
    margin_of = margins(settings, list(dict.fromkeys(names)), wanted)
    by_metric: dict[str, list[ScoreColumn]] = {}
    for table in tables:
        by_metric |= score_columns(table, margin_of, settings)
    by_task: dict[str, list[ScoreColumn]] = {}
    if apart:
        for table in by_themselves:
            by_task |= task_columns(table, margin_of)
    asked = [(BETTER, "better", pair) for pair in settings.better]
    asked += [(NOT_WORSE, "not_worse", pair) for pair in settings.not_worse]
    claims = []
    for kind, parameter, pair in asked:
        new, old = resolve_pair(pair, models, parameter=parameter)
        for one in wanted:
            for metric in one.columns:
                name, columns = (MEAN, by_task[metric]) if one.name == TASK else (one.name, by_metric[metric])
                if one.runs is not None:
                    columns = [passing(column, one, models) for column in columns]
                if one.name == PER_SUCCESS:
                    columns = per_success(columns, by_metric[one.metrics[1]], one)
                for column in columns:
                    claim = GateClaim(kind, new, old, column, name, one.level, one.dominance)
                    claims.append(with_margin(claim, margin_of[column.name], settings, models))
    specs = [metric for table in by_themselves for metric in (*table.metrics, *table.suite.specs)]
    return in_tiers(list(dict.fromkeys(claims)), specs, settings)
