"""Build the list of claims of a gate, with margins and tiers."""

from collections.abc import Sequence
from dataclasses import replace

from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.errors import UsageError, option, unknown_name
from riskrank.options.baseline import Margin, Percent
from riskrank.options.inference import ADVISORY, CRITICAL, RANK, tiers_by_name
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.checks import resolve_pair
from riskrank.studies.costs import PER_SUCCESS
from riskrank.studies.gate.claim import BETTER, MEAN, NOT_WORSE, TASK, GateClaim, Statistic, parse_statistics
from riskrank.studies.gate.columns import ScoreColumn, refuse_wide_margin, score_columns, task_columns
from riskrank.studies.gate.derived_columns import cost_column, pass_column, refuse_merged_repeats
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.settings import family_from_settings
from riskrank.studies.targets import rescale_tasks, task_scale


def assign_tiers(
    claims: Sequence[GateClaim], metrics: Sequence[MetricSpec], settings: ClaimSettings
) -> list[GateClaim]:
    """Return the claims with their tiers.

    Claims are unchanged if no tier is given.

    Raises
    ------
    UsageError
        If a tier matches no claim, or all claims are advisory.
    """
    tiers = tiers_by_name(settings.tier)
    file_tiers = {metric.name: metric.tier for metric in metrics if metric.tier is not None}
    # Names by which a tier may refer to a claim, the most specific first.
    names = [(f"{item.statistic}:{item.column.name}", item.statistic, item.column.name) for item in claims]
    if not tiers and not any(file_tiers.get(claim.column.name) for claim in claims):
        return [*claims]
    claim_names = list(dict.fromkeys(name for labels in names for name in labels))
    for name, tier in tiers.items():
        if name not in claim_names:
            raise unknown_name(name, claim_names, kind="claim", parameter="tier", write=f"{tier}=".__add__)
    tiered = []
    for claim, labels in zip(claims, names, strict=True):
        closest = next((tiers[name] for name in labels if name in tiers), file_tiers.get(claim.column.name))
        tiered.append(replace(claim, tier=closest or CRITICAL))
    if all(claim.tier == ADVISORY for claim in tiered):
        raise UsageError(
            "a gate with only advisory claims always passes",
            found=f"{len(tiered)} claims, all advisory",
            hint=f"make one claim critical: {option('tier', f'critical={names[0][-1]}')}",
        )
    return tiered


def with_margin(
    claim: GateClaim, margin: Margin, settings: ClaimSettings, models: Sequence[str]
) -> GateClaim:
    """Return a claim with its margin in the units of the scores.

    A relative margin also sets `share`.

    Raises
    ------
    UsageError
        If a relative margin does not apply to the claim, or the old mean is not significantly above 0.
    """
    if claim.dominance is not None:
        return claim
    if not isinstance(margin, Percent):
        return replace(claim, margin=margin)
    if claim.column.costs is not None:  # margins of costs are already relative
        return replace(claim, margin=margin.share)
    _refuse_relative_margin(claim, margin, settings)
    mean, p = _old_mean(claim)
    level = family_from_settings(settings).interval_level(1) / 2
    if p > level:
        raise UsageError(
            f"{_margin_option(claim, margin)} is a share of the mean of {models[claim.old]}, which is not "
            "significantly above 0",
            found=f"mean {mean:.3g}{claim.subset}, p = {p:.2g} (level {level:.2g})",
            hint=f"give the margin in the units of the metric, {option('margin', f'{claim.column.name}=…')}",
        )
    refuse_wide_margin(claim.column.name, margin.share * mean, claim.column.limits)
    return replace(claim, margin=margin.share * mean, share=margin.share)


def _margin_option(claim: GateClaim, margin: Percent) -> str:
    """Return the margin as the option that the user wrote."""
    return option("margin", f"{claim.column.name}={margin}")


def _refuse_relative_margin(claim: GateClaim, margin: Percent, settings: ClaimSettings) -> None:
    """Raise an error if a relative margin is meaningless for a claim, or makes it impossible to decide."""
    column, lower_better = claim.column, claim.column.units.sign < 0
    for applies, reason in (
        (claim.level is not None, option("on", claim.statistic)),
        (settings.anytime, option("anytime", True)),
        (column.scores.judged, option("judge")),
        (settings.task_scale is not None, option("task_scale")),
        (column.means is not None, "means of folds"),
        (column.units.label != column.name, f"logarithms of {column.name}"),
        (margin.share >= 1 and lower_better == (claim.kind == BETTER), "a margin of 100 % or more"),
    ):
        if not applies:
            continue
        raise UsageError(
            f"{_margin_option(claim, margin)} is relative to the old mean and does not apply here",
            found=reason,
            hint=f"give the margin in the compared units, {option('margin', f'{column.name}=…')}",
        )


def _old_mean(claim: GateClaim) -> tuple[float, float]:
    """Return the old mean in the units of the file, and its one-sided p-value under H₀: mean ≤ 0."""
    sign, scores = claim.column.units.sign, claim.column.scores
    evidence = mean_evidence([MeanContrast.from_mean(scores, claim.old, sign)])
    return float(evidence.estimate[0]), float(evidence.p_above[0])


def best_case_claims(
    tables: Sequence[ScoreTable], settings: ClaimSettings, statistics: Sequence[Statistic]
) -> list[GateClaim] | None:
    """Return the claims with missing scores replaced by the best value, or None if no score is missing.

    Raises
    ------
    UsageError
        If tasks are compared by ranks, because these depend on the missing scores of all models.
    """
    if all(table.best is None for table in tables):
        return None
    if any(task_scale(table, settings) == RANK for table in tables):
        raise UsageError(
            f"{option('missing', 'bounds')} needs scores in their own units, but tasks are compared by ranks",
            found="ranks among all models, which depend on the missing scores of every model",
            hint=f"give bounds and {option('task_scale', 'bounds')}; or {option('missing', 'worst')}",
        )
    best_tables = [table.best_case() for table in tables]
    scaled = [rescale_tasks(table, settings) for table in best_tables]
    return build_claims(scaled, best_tables if settings.task_scale is None else scaled, settings, statistics)


def used_metrics(settings: ClaimSettings, metrics: Sequence[str]) -> list[str]:
    """Return the metrics that the claims or the price use."""
    used = {metric for item in parse_statistics(settings.on, metrics, suite=True) for metric in item.metrics}
    return [name for name in metrics if name in used or name == settings.price]


def build_claims(
    tables: Sequence[ScoreTable],
    task_tables: Sequence[ScoreTable],
    settings: ClaimSettings,
    statistics: Sequence[Statistic],
) -> list[GateClaim]:
    """Build the claims on every metric: for all samples, then for each group or task.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Tables with all tasks on a common scale.
    task_tables : sequence of ScoreTable
        Tables for claims on single tasks, which need no common scale.
    settings : ClaimSettings
    statistics : sequence of Statistic
    """
    refuse_merged_repeats(statistics, tables[0].options.repeats)
    models = tables[0].models
    names = used_metrics(settings, [metric.name for table in tables for metric in table.metrics])
    per_task = any(statistic.name == TASK for statistic in statistics)
    if per_task:
        names += (name for table in task_tables for name in table.suite.metrics)
    margin_by_metric = margins(settings, list(dict.fromkeys(names)), statistics)
    by_metric: dict[str, list[ScoreColumn]] = {}
    for table in tables:
        by_metric |= score_columns(table, margin_by_metric, settings)
    by_task: dict[str, list[ScoreColumn]] = {}
    if per_task:
        for table in task_tables:
            by_task |= task_columns(table, margin_by_metric)
    requested = [(BETTER, "better", pair) for pair in settings.better]
    requested += [(NOT_WORSE, "not_worse", pair) for pair in settings.not_worse]
    claims = []
    for kind, parameter, pair in requested:
        new, old = resolve_pair(pair, models, parameter=parameter)
        for statistic in statistics:
            for metric in statistic.columns:
                name = MEAN if statistic.name == TASK else statistic.name
                columns = (by_task if statistic.name == TASK else by_metric)[metric]
                if statistic.runs is not None:
                    columns = [pass_column(column, statistic, models) for column in columns]
                if statistic.name == PER_SUCCESS:
                    successes = by_metric[statistic.metrics[1]]
                    columns = [cost_column(*pair, statistic) for pair in zip(columns, successes, strict=True)]
                for column in columns:
                    claim = GateClaim(kind, new, old, column, name, statistic.level, statistic.dominance)
                    claims.append(with_margin(claim, margin_by_metric[column.name], settings, models))
    specs = [metric for table in task_tables for metric in (*table.metrics, *table.suite.specs)]
    return assign_tiers(list(dict.fromkeys(claims)), specs, settings)


def margins(settings: ClaimSettings, names: Sequence[str], stats: Sequence[Statistic]) -> dict[str, Margin]:
    """Return the margin of each metric that has a claim.

    Raises
    ------
    UsageError
        If a margin names a metric without a claim, or a dominance claim, which has no unit.
    """
    explicit: dict[str, Margin] = dict(settings.margin)
    costs = [item for item in stats if item.name == PER_SUCCESS]
    parts = {name for item in costs for name in item.metrics}
    parts -= {name for item in stats if item not in costs for name in item.metrics}
    part_margins: dict[str, Margin] = dict.fromkeys(parts, 0.0)
    names = [*(name for name in names if name not in parts), *(item.label for item in costs)]
    for metric in explicit:
        if metric and metric not in names:
            raise unknown_name(metric, names, kind="claimed metric", parameter="margin", write="{}=…".format)
    orders = [item.name for item in stats if item.dominance is not None]
    if orders and any(explicit.values()):
        raise UsageError(
            f"{option('margin')} is in the units of a metric, but dominance has no unit",
            found=f"{option('margin', next(filter(None, explicit.values())))} with {option('on', orders[0])}",
            hint=f"leave out {option('margin')}, or claim {option('on', 'mean')}",
        )
    return part_margins | {name: explicit.get(name, explicit.get("", 0.0)) for name in names}
