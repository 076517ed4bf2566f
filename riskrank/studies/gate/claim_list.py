"""Build the list of claims of a gate, with margins and tiers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product

import numpy as np

from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.errors import UsageError, listing, option, unknown_name
from riskrank.options.baseline import Margin, Percent
from riskrank.options.inference import ADVISORY, CRITICAL, RANK, parse_tiers
from riskrank.options.option import ByName
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.checks import resolve_pair
from riskrank.studies.gate import derived_columns
from riskrank.studies.gate.claim import AT_LEAST, AT_MOST, BETTER, NOT_WORSE, GateClaim
from riskrank.studies.gate.columns import ScoreColumn, refuse_wide_margin, score_columns, task_columns
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.settings import family_from_settings
from riskrank.studies.statistics import (
    MEAN,
    SUITE_STATISTICS,
    TASK,
    Statistic,
    parse_statistics,
    statistic_words,
)
from riskrank.studies.targets import rescale_tasks, task_scale

# Factor by which a threshold in the right unit rarely differs from all scores, and the largest percentage.
_FAR, _PERCENT = 10, 100


def assign_tiers(
    claims: Sequence[GateClaim], metrics: Sequence[MetricSpec], settings: ClaimSettings
) -> list[GateClaim]:
    """Return the claims with their tiers: critical, supporting or advisory.

    If no tier is given, the claims are returned unchanged.

    Parameters
    ----------
    claims : sequence of GateClaim
    metrics : sequence of MetricSpec
        Metrics, which may have tiers from a metrics file.
    settings : ClaimSettings
        Includes the tiers given as options, which take precedence.

    Raises
    ------
    UsageError
        If a tier matches no claim, or all claims are advisory.
    """
    tiers = parse_tiers(settings.tier)
    file_tiers = {metric.name: metric.tier for metric in metrics if metric.tier is not None}
    # Names by which a tier may refer to a claim, the most specific first.
    names = [(f"{item.statistic}:{item.column.name}", item.statistic, item.column.name) for item in claims]
    if not tiers and not any(file_tiers.get(claim.column.name) for claim in claims):
        return [*claims]
    known_names = list(dict.fromkeys(chain(*names)))
    for name, tier in tiers.items():
        if name not in known_names:
            raise unknown_name(name, known_names, kind="claim", parameter="tier", write=f"{tier}=".__add__)
    tiered = []
    for claim, claim_names in zip(claims, names, strict=True):
        file_tier = file_tiers.get(claim.column.name)
        closest = next((tiers[name] for name in claim_names if name in tiers), file_tier)
        tiered.append(replace(claim, tier=closest or CRITICAL))
    if all(claim.tier == ADVISORY for claim in tiered):
        problem = "a gate with only advisory claims always passes"
        hint = f"make one claim critical: {option('tier', f'critical={names[0][-1]}')}"
        raise UsageError(problem, found=f"{len(tiered)} claims, all advisory", hint=hint)
    return tiered


def with_margin(
    claim: GateClaim, margin: Margin, settings: ClaimSettings, models: Sequence[str]
) -> GateClaim:
    """Return a copy of a claim with its margin in the units of the scores.

    A margin in percent is relative to the old model's statistic. It also sets `share`. Dominance claims have
    no margin and are returned unchanged. `models` has the model names for error messages.

    Raises
    ------
    UsageError
        If a relative margin does not apply to the claim, or the old mean is not significantly above 0.
    """
    if claim.dominance is not None:
        return claim
    if not isinstance(margin, Percent):
        if claim.column.units.relative and margin:
            problem = f"{option('on', claim.statistic)} compares ratios, so its margin is a percentage"
            hint = f"write {option('margin', f'{100 * margin:g}%')} for a ratio of {1 + margin:g}"
            raise UsageError(problem, found=f"{option('margin', f'{margin:g}')}", hint=hint)
        return replace(claim, margin=margin, relative=0.0 if claim.column.units.relative else None)
    _refuse_relative_margin(claim, margin, settings)
    if claim.column.units.relative or claim.percentile is not None:
        return _ratio_claim(replace(claim, share=margin.share), models)
    sign = claim.column.units.sign
    old_mean = mean_evidence([MeanContrast.from_mean(claim.scores, claim.old, sign)])
    mean, p = float(old_mean.estimate[0]), float(old_mean.p_above[0])
    words = statistic_words(claim.statistic)
    level = family_from_settings(settings).interval_level(1) / 2
    if p > level and (sign * claim.scores.values[claim.old]).min() <= 0:
        raise UsageError(
            f"{_margin_option(claim, margin)} is a share of the {words} of {models[claim.old]}, which is "
            "not significantly above 0",
            found=f"{words} {mean:.3g}{claim.subset}, p = {p:.2g} (level {level:.2g})",
            hint=f"give the margin in the units of the metric, {option('margin', f'{claim.column.name}=…')}",
        )
    refuse_wide_margin(claim.column.name, margin.share * mean, claim.column.limits)
    return replace(claim, margin=margin.share * mean, share=margin.share)


def _ratio_claim(claim: GateClaim, models: Sequence[str]) -> GateClaim:
    """Convert a claim with a relative margin to one about the ratio of percentiles or geometric means.

    Raises
    ------
    UsageError
        If a score is not positive.
    """
    column = claim.column
    for model in () if column.units.relative else (claim.new, claim.old):
        least = float((column.units.sign * column.scores.values[model]).min())
        if least <= 0:
            problem = f"a ratio of {claim.statistic} needs positive scores"
            hint = f"give the margin in the units of the metric, {option('margin', f'{column.name}=…')}"
            raise UsageError(problem, found=f"{least:g} of {models[model]} on {column.name}", hint=hint)
    ratio = claim.as_ratio()
    assert ratio is not None
    return ratio


def _margin_option(claim: GateClaim, margin: Percent) -> str:
    """Return the option that sets a relative margin, such as ``--margin acc=2%``."""
    return option("margin", f"{claim.column.name}={margin}")


def _refuse_relative_margin(claim: GateClaim, margin: Percent, settings: ClaimSettings) -> None:
    """Raise an error if a margin in percent is undefined for a claim, or makes it always true or false."""
    column, lower_better = claim.column, claim.column.units.sign < 0
    for applies, reason in (
        (claim.level is not None, option("on", claim.statistic)),
        (settings.anytime, option("anytime", True)),
        (column.scores.judged, option("judge")),
        (settings.task_scale is not None, option("task_scale")),
        (column.means is not None, "means of folds"),
        (column.units.label.startswith("−log "), f"logarithms of {column.name}"),
        (margin.share >= 1 and lower_better == (claim.kind == BETTER), "a margin of 100 % or more"),
    ):
        if not applies:
            continue
        raise UsageError(
            f"{_margin_option(claim, margin)} is relative to the old {statistic_words(claim.statistic)} and "
            "does not apply here",
            found=reason,
            hint=f"give the margin in the compared units, {option('margin', f'{column.name}=…')}",
        )


def best_case_claims(
    tables: Sequence[ScoreTable], settings: ClaimSettings, statistics: Sequence[Statistic]
) -> list[GateClaim] | None:
    """Return the claims with each missing score at its best possible value, or None if no score is missing.

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
    """Return the metrics that the claims or the option ``price`` use, in the order of `metrics`."""
    used = {metric for item in parse_statistics(settings.on, metrics, suite=True) for metric in item.metrics}
    numbers = dict((*settings.at_least, *settings.at_most))
    # Numbers for single metrics may be the only claims.
    if numbers and "" not in numbers and not (settings.on or settings.better or settings.not_worse):
        used &= numbers.keys()
    return [name for name in metrics if name in used or name == settings.price]


def select_metrics(settings: ClaimSettings, available: Sequence[str]) -> list[str]:
    """Return the metrics that the claims use, as `used_metrics` does.

    Raises
    ------
    UsageError
        If a margin or a number is for another metric than the available ones and ratios of sums.
    """
    statistics = parse_statistics(settings.on, available, suite=True)
    known = [*available, *(item.label for item in statistics if item.sums)]
    for parameter in ("margin", "at_least", "at_most"):
        for name in filter(None, dict(getattr(settings, parameter))):
            if name not in known:
                raise unknown_name(name, known, kind="metric", parameter=parameter, write="{}=…".format)
    return used_metrics(settings, available)


def _unclaimed_error(parameter: str, metric: str, claimed: Sequence[str]) -> UsageError:
    """Return the error for a margin or a number of a metric that no claim is about."""
    given = option(parameter, f"{metric}=…")
    hint = f"claim it too, {option('on', metric)}, or leave out {given}"
    detail = f"the claims are about {listing(claimed)}"
    return UsageError(f"{given}: no claim is about {metric}", found=detail, hint=hint)


def build_claims(
    tables: Sequence[ScoreTable],
    task_tables: Sequence[ScoreTable],
    settings: ClaimSettings,
    statistics: Sequence[Statistic],
) -> list[GateClaim]:
    """Build the claims for every metric and statistic: on all samples first, then on each group or task.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Tables with all tasks on a common scale.
    task_tables : sequence of ScoreTable
        Tables for claims on single tasks, which need no common scale.
    settings : ClaimSettings
    statistics : sequence of Statistic
        Statistics in the claims, such as the mean.
    """
    derived_columns.refuse_merged_repeats(statistics, tables[0].options.repeats)
    models = tables[0].models
    names = used_metrics(settings, [metric.name for table in tables for metric in table.metrics])
    per_task = any(statistic.name == TASK for statistic in statistics)
    if per_task:
        names += (name for table in task_tables for name in table.suite.metrics)
    margin_by_metric = resolve_margins(settings, list(dict.fromkeys(names)), statistics)
    by_metric: dict[str, list[ScoreColumn]] = {}
    for table in tables:
        by_metric |= score_columns(table, margin_by_metric, settings)
    by_task: dict[str, list[ScoreColumn]] = {}
    if per_task:
        for table in task_tables:
            by_task |= task_columns(table, margin_by_metric)
    # Claims on single tasks are about the other statistics.
    others = [item for item in statistics if item.name not in SUITE_STATISTICS]
    of_tasks = others or [item for item in statistics if item.name == TASK]
    columns_of = {
        item: [
            *(derived_columns.derive_columns(item, by_metric, models) if item.name != TASK else []),
            *(derived_columns.derive_columns(item, by_task, models) if per_task and item in of_tasks else []),
        ]
        for item in statistics
    }
    requested = [(BETTER, "better", pair) for pair in settings.better]
    requested += [(NOT_WORSE, "not_worse", pair) for pair in settings.not_worse]
    pairs = [(kind, *resolve_pair(pair, models, parameter=name)) for kind, name, pair in requested]
    claims = []
    for kind, new, old in pairs:
        for statistic, columns in columns_of.items():
            for column in columns:
                claim = _build_claim(kind, new, old, column, statistic)
                claims.append(with_margin(claim, margin_by_metric[column.name], settings, models))
    # With claims about pairs, the thresholds apply to the new models only.
    level_models = dict.fromkeys(new for _, new, _ in pairs) or dict.fromkeys(range(len(models)))
    for kind, by_name in ((AT_LEAST, settings.at_least), (AT_MOST, settings.at_most)):
        thresholds = resolve_thresholds(kind, by_name, columns_of)
        for statistic, columns in columns_of.items():
            for column, model in product(columns, level_models):
                threshold = thresholds.get(column.name, thresholds.get(""))
                if threshold is not None:
                    _refuse_out_of_bounds(column, kind, threshold)
                    scaled = derived_columns.log_means(column) if statistic.sums and threshold > 0 else column
                    oriented = derived_columns.level_column(scaled, kind, model)
                    claim = _build_claim(kind, model, len(models), oriented, statistic)
                    opposes = oriented.units.sign != column.units.sign
                    claims.append(replace(claim, margin=threshold, opposes_metric=opposes))
    specs = [metric for table in task_tables for metric in (*table.metrics, *table.suite.specs)]
    return assign_tiers(list(dict.fromkeys(claims)), specs, settings)


def _build_claim(kind: str, new: int, old: int, column: ScoreColumn, statistic: Statistic) -> GateClaim:
    """Create a claim with a margin of 0 about one statistic of one column of scores.

    `new` and `old` are model indices; `kind` is "better", "not-worse", "at-least" or "at-most".
    """
    proportion = statistic.percentile
    if proportion is not None and column.units.sign < 0:
        proportion = 1 - proportion
    name = MEAN if statistic.name == TASK else statistic.name
    dominance, level = statistic.dominance, statistic.level
    return GateClaim(kind, new, old, column, name, level, dominance, percentile=proportion)


def resolve_thresholds(
    kind: str, by_name: ByName, columns_of: Mapping[Statistic, Sequence[ScoreColumn]]
) -> dict[str, float]:
    """Return the threshold of each metric for claims such as "accuracy is at least 0.8".

    Parameters
    ----------
    kind : {"at-least", "at-most"}
    by_name : sequence of (str, float)
        Thresholds by metric; the name "" stands for all other metrics.
    columns_of : mapping of Statistic to sequence of ScoreColumn
        Score columns by claimed statistic.

    Raises
    ------
    UsageError
        If a metric has no claim, or a statistic such as dominance can only compare two models.
    """
    thresholds, parameter = dict(by_name), kind.replace("-", "_")
    names = list(dict.fromkeys(column.name for columns in columns_of.values() for column in columns))
    for metric in thresholds:
        if metric and metric not in names:
            raise _unclaimed_error(parameter, metric, names)
    for statistic in columns_of:
        if thresholds and statistic.dominance is not None:
            problem = f"{option('on', statistic.name)} compares two models"
            hint = f"claim {option('on', 'mean')} or {option('on', 'tvar@0.05')}"
            raise UsageError(problem, found=option(parameter), hint=hint)
    return thresholds


def _refuse_out_of_bounds(column: ScoreColumn, kind: str, threshold: float) -> None:
    """Raise an error if a threshold lies outside the known bounds of the scores."""
    low, high = sorted(column.units.sign * limit for limit in column.limits)
    if column.width is None or column.scores.strata.has_several_tasks or low <= threshold <= high:
        return
    parameter = kind.replace("-", "_")
    effect = "cannot be met" if (threshold > high) == (kind == AT_LEAST) else "is always met"
    share = threshold / 100
    hint = f"give a number from {low:g} to {high:g}"
    if (low, high) == (0, 1) and low <= share <= high:
        hint = f"write {option(parameter, f'{column.name}={share:g}')} for {threshold:g} %"
    problem = f"{option(parameter, f'{threshold:g}')} {effect} on {column.name}"
    raise UsageError(problem, found=f"scores from {low:g} to {high:g}", hint=hint)


def threshold_notes(claims: Sequence[GateClaim]) -> Iterator[str]:
    """Yield a note for each threshold that is far from all scores, so that its unit may be wrong.

    The threshold of a mean, percentile or tail mean is far if it differs by a factor of ten or more from
    every score, or from most percentages while it is a proportion.
    """
    for claim in claims:
        number, sign = claim.margin, claim.column.units.sign
        if not claim.is_level or claim.column.units.relative or claim.statistic.startswith(("s", "pass")):
            continue
        scores = np.sort(sign * claim.scores.values[claim.new])
        low, middle, high = scores[0], float(np.median(scores)), scores[-1]
        as_percent = 0.01 <= number <= 1 < high <= _PERCENT and low >= 0 and middle >= _FAR * number
        if as_percent or (number > 0 < low and (low >= _FAR * number or high * _FAR <= number)):
            parameter, metric = claim.kind.replace("-", "_"), claim.column.name
            written = option(parameter, f"{metric}={_PERCENT * number:g}")
            hint = f": if they are percentages, write {written}" if as_percent else ""
            side = "above" if middle > number else "below"
            yield f"{option(parameter, f'{number:g}')} may have another unit than {metric}, whose scores " + (
                f"({low:g} to {high:g}) are far {side} it{hint}"
            )


def resolve_margins(
    settings: ClaimSettings, names: Sequence[str], stats: Sequence[Statistic]
) -> dict[str, Margin]:
    """Return the margin of each metric in a claim, which is 0 by default.

    `names` are the metrics in the claims, and `stats` the claimed statistics.

    Raises
    ------
    UsageError
        If a margin names a metric without a claim, or is given for a dominance claim, which has no unit.
    """
    explicit: dict[str, Margin] = dict(settings.margin)
    ratios = [item for item in stats if item.sums]
    parts = {name for item in ratios for name in item.metrics}
    parts -= {name for item in stats if item not in ratios for name in item.metrics}
    part_margins: dict[str, Margin] = dict.fromkeys(parts, 0.0)
    names = [*(name for name in names if name not in parts), *(item.label for item in ratios)]
    for metric in explicit:
        if metric and metric not in names:
            raise _unclaimed_error("margin", metric, names)
    orders = [item.name for item in stats if item.dominance is not None]
    if orders and any(explicit.values()):
        problem = f"{option('margin')} is in the units of a metric, but dominance has no unit"
        detail = f"{option('margin', next(filter(None, explicit.values())))} with {option('on', orders[0])}"
        hint = f"leave out {option('margin')}, or claim {option('on', 'mean')}"
        raise UsageError(problem, found=detail, hint=hint)
    return part_margins | {name: explicit.get(name, explicit.get("", 0.0)) for name in names}
