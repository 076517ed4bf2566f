"""What is claimed: every claim on every metric, of all samples, groups and tasks, with margin and tier."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.evidence.series import mean_in_order
from riskrank.errors import UsageError, no_such, option
from riskrank.options.baseline import Margin, Percent
from riskrank.options.suites import RANK
from riskrank.options.tiers import ADVISORY, CRITICAL, tiers_by_name
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.costs import PER_SUCCESS
from riskrank.studies.gate.claim import BETTER, MEAN, NOT_WORSE, TASK, GateClaim, Statistic, statistics
from riskrank.studies.gate.columns import ScoreColumn, refuse_wide, score_columns, task_columns
from riskrank.studies.gate.derived_columns import passing, per_success, refuse_merged
from riskrank.studies.gate.evidence import comparison_of
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.settings import family_of
from riskrank.studies.task_scale import on_task_scale, scale_of


def in_tiers(
    claims: Sequence[GateClaim], metrics: Sequence[MetricSpec], settings: ClaimSettings
) -> list[GateClaim]:
    """Claims with their tiers; as they are where nobody speaks of tiers.

    Raises
    ------
    UsageError
        If a tier names no claim, or nothing is left that could fail.
    """
    asked = tiers_by_name(settings.tier)
    told = {metric.name: metric.tier for metric in metrics if metric.tier is not None}
    # What a tier may call a claim, the closest first.
    names = [(f"{one.statistic}:{one.column.name}", one.statistic, one.column.name) for one in claims]
    if not asked and not any(told.get(claim.column.name) for claim in claims):
        return [*claims]
    known = list(dict.fromkeys(name for of_claim in names for name in of_claim))
    for name, tier in asked.items():
        if name not in known:
            raise no_such(name, known, kind="claim", parameter="tier", write=f"{tier}=".__add__)
    found = []
    for claim, of_claim in zip(claims, names, strict=True):
        closest = next((asked[name] for name in of_claim if name in asked), told.get(claim.column.name))
        found.append(replace(claim, tier=closest or CRITICAL))
    if all(claim.tier == ADVISORY for claim in found):
        raise UsageError(
            "a gate of advisory claims alone passes whatever is found",
            found=f"{len(found)} claims, all advisory",
            hint=f"let one be critical: {option('tier', f'critical={names[0][-1]}')}",
        )
    return found


def with_margin(
    claim: GateClaim, margin: Margin, settings: ClaimSettings, models: Sequence[str]
) -> GateClaim:
    """A claim with its margin, of which a share becomes one of the old mean.

    Raises
    ------
    UsageError
        If a share of the old mean says nothing there, or that mean is not shown to be positive.
    """
    if claim.dominance is not None:
        return claim
    if not isinstance(margin, Percent):
        return replace(claim, margin=margin)
    if claim.column.costs is not None:  # its margins are shares already
        return replace(claim, margin=margin.share)
    _refuse_share(claim, margin, settings)
    mean, p = _old_mean(claim)
    level = family_of(settings).level(1) / 2
    if p > level:
        raise UsageError(
            f"{_given(claim, margin)} is a share of the mean of {models[claim.old]}, which is not shown to "
            "be above 0",
            found=f"a mean of {mean:.3g}{claim.where}, p = {p:.2g} where {level:.2g} is asked",
            hint=f"give the margin in the units of the metric, {option('margin', f'{claim.column.name}=…')}",
        )
    refuse_wide(claim.column.name, margin.share * mean, claim.column.limits)
    return replace(claim, margin=margin.share * mean, share=margin.share)


def _given(claim: GateClaim, margin: Percent) -> str:
    return option("margin", f"{claim.column.name}={margin}")


def _refuse_share(claim: GateClaim, margin: Percent, settings: ClaimSettings) -> None:
    """Refuse what is no mean of scores in their own units, and a claim that nothing could refute or show."""
    column, lower = claim.column, claim.column.units.sign < 0
    for stands, found in (
        (claim.level is not None, option("on", claim.statistic)),
        (settings.anytime, option("anytime", True)),
        (column.scores.judged, option("judge")),
        (settings.task_scale is not None, option("task_scale")),
        (column.means is not None, "means of folds"),
        (column.units.label != column.name, f"logarithms of {column.name}"),
        (margin.share >= 1 and lower == (claim.kind == BETTER), "all of the old mean, or more"),
    ):
        if not stands:
            continue
        raise UsageError(
            f"{_given(claim, margin)} is a share of the old mean, of scores in their own units",
            found=found,
            hint=f"give the margin in the units of what is compared, {option('margin', f'{column.name}=…')}",
        )


def _old_mean(claim: GateClaim) -> tuple[float, float]:
    """Mean of the old model in the units of the file, and the one-sided p-value of "it is not above 0"."""
    sign, both = claim.column.units.sign, comparison_of(claim)
    old = replace(both.old, values=sign * both.old.values)
    found = replace(
        both, new=old, old=replace(old, values=np.zeros_like(old.values)), paired=True
    ).mean_difference
    p = max(found.johnson_p_value(), found.student_p_value())
    if claim.column.in_order is not None:
        p = max(p, float(mean_in_order(sign * claim.column.in_order[claim.old]).p_above()))
    return found.estimate, p


def claims_at_best(
    given: Sequence[ScoreTable], settings: ClaimSettings, wanted: Sequence[Statistic]
) -> list[GateClaim] | None:
    """Return the claims with what is missing at the best there can be; None where nothing is filled in.

    Raises
    ------
    UsageError
        If ranks among all models are compared, which hang on what is missing of every one of them.
    """
    if all(one.best is None for one in given):
        return None
    if any(scale_of(one, settings) == RANK for one in given):
        raise UsageError(
            f"{option('missing', 'bounds')} needs scores in their units, and tasks are compared by ranks",
            found="ranks among all models, which what is missing of any of them moves",
            hint=f"give bounds and {option('task_scale', 'bounds')}; or {option('missing', 'worst')}",
        )
    best = [one.at_best() for one in given]
    scaled = [on_task_scale(one, settings) for one in best]
    return claims_of(scaled, best if settings.task_scale is None else scaled, settings, wanted)


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
                    successes = by_metric[one.metrics[1]]
                    columns = [per_success(*pair, one) for pair in zip(columns, successes, strict=True)]
                for column in columns:
                    claim = GateClaim(kind, new, old, column, name, one.level, one.dominance)
                    claims.append(with_margin(claim, margin_of[column.name], settings, models))
    specs = [metric for table in by_themselves for metric in (*table.metrics, *table.suite.specs)]
    return in_tiers(list(dict.fromkeys(claims)), specs, settings)


def margins(settings: ClaimSettings, names: Sequence[str], wanted: Sequence[Statistic]) -> dict[str, Margin]:
    """Margin of each metric that claims are about.

    Raises
    ------
    UsageError
        If one is for no claim, or claims are about dominance, which has no unit.
    """
    given: dict[str, Margin] = dict(settings.margin)
    pairs = [one for one in wanted if one.name == PER_SUCCESS]
    parts = {name for one in pairs for name in one.metrics}
    parts -= {name for one in wanted if one not in pairs for name in one.metrics}
    of_parts: dict[str, Margin] = dict.fromkeys(parts, 0.0)
    names = [*(name for name in names if name not in parts), *(one.label for one in pairs)]
    for metric in given:
        if metric and metric not in names:
            raise no_such(metric, names, kind="claimed metric", parameter="margin", write="{}=…".format)
    ratios = [one.name for one in wanted if one.dominance is not None]
    if ratios and any(given.values()):
        raise UsageError(
            f"{option('margin')} is in the units of a metric, and dominance has none",
            found=f"{option('margin', next(filter(None, given.values())))} with {option('on', ratios[0])}",
            hint=f"leave out {option('margin')}, or claim {option('on', 'mean')}",
        )
    return of_parts | {name: given.get(name, given.get("", 0.0)) for name in names}
