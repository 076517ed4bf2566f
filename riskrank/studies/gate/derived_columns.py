"""Score columns whose means are other statistics of the scores (method §10 and §20)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from riskrank.engine.evidence.statistics import pseudo_logarithms, pseudo_ratios
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.variance_components import Passes
from riskrank.engine.types import Floats
from riskrank.errors import InputError, UsageError, counted, option
from riskrank.scores.table.rows import MERGING
from riskrank.studies.gate.claim import AT_LEAST
from riskrank.studies.gate.columns import UNBOUNDED, ScoreColumn
from riskrank.studies.statistics import ALL_RUNS, GEOMETRIC, Statistic, Sum
from riskrank.studies.targets import Units

# Fewest independent samples with a positive denominator. With fewer, a resample may have none.
_FEWEST_POSITIVE = 10


def refuse_merged_repeats(statistics: Sequence[Statistic], repeats: str) -> None:
    """Raise an error if a statistic such as pass^k needs single runs, but the option ``repeats`` merges them.

    Raises
    ------
    UsageError
        If a statistic such as pass^k needs single runs and the option ``repeats`` merges them.
    """
    statistic = next((statistic for statistic in statistics if statistic.runs is not None), None)
    if statistic is not None and repeats in MERGING:
        raise UsageError(
            f"{option('on', statistic.name)} needs the runs of a sample, but {option('repeats', repeats)} "
            "merges them into one score",
            found="both",
            hint=f"replace {option('repeats', repeats)} by {option('repeats', 'draws')}, which keeps runs; "
            f"or leave out {option('on', statistic.name)}",
        )


def pass_column(column: ScoreColumn, statistic: Statistic, models: Sequence[str]) -> ScoreColumn:
    """Return a column with each sample's probability that all, or any, of k runs pass (method §10).

    Parameters
    ----------
    column : ScoreColumn
        Scores of 0 or 1 for several runs per sample.
    statistic : Statistic
        Statistic whose `runs` is not None.
    models : sequence of str

    Raises
    ------
    UsageError
        If scores are not all 0 or 1, or the tasks of a suite are weighted.
    InputError
        If a sample has fewer than k runs.
    """
    assert statistic.runs is not None
    kind, k = statistic.runs
    scores, best = column.scores, max(0.0, column.units.sign)
    if not all(np.all((values == 0) | (values == column.units.sign)) for values in scores.values):
        problem = f"{option('on', statistic.name)} counts runs that pass (1) or fail (0)"
        hint = f"claim {option('on', f'mean:{column.name}')}, or give scores of 0 and 1"
        raise UsageError(problem, found=f"scores of {column.name} other than 0 and 1", hint=hint)
    values = []
    for model, model_scores, samples in zip(models, scores.values, scores.samples, strict=True):
        passes = Passes.from_runs(model_scores == best, samples)
        if int(passes.runs.min()) < k:
            problem = f"{option('on', statistic.name)} needs {k} runs of every sample"
            detail = f"only {int(passes.runs.min())} on {column.name} for a sample of {model}"
            hint = f"keep the single runs with {option('repeats', 'draws')}, or ask for fewer runs"
            raise InputError(problem, found=detail, hint=hint)
        values.append(passes.all_pass(k) if kind == ALL_RUNS else passes.any_pass(k))
    clusters, numbers = scores.sample_clusters(), [np.arange(rates.size) for rates in values]
    pass_rates = ClusteredScores.build(values, clusters, samples=numbers, paired=scores.paired)
    units = Units(1.0, f"{statistic.name} of {column.name}")
    return replace(column, scores=pass_rates, units=units, limits=(0.0, 1.0), width=1.0)


def derive_columns(
    statistic: Statistic, by_metric: Mapping[str, Sequence[ScoreColumn]], models: Sequence[str]
) -> list[ScoreColumn]:
    """Compute the scores whose means are compared by a statistic, one column for each group or task.

    `by_metric` has the original scores by metric.

    Raises
    ------
    UsageError
        If the statistic is not defined for the scores.
    InputError
        If there are too few samples or runs.
    """
    columns = [column for metric in statistic.columns for column in by_metric[metric]]
    derived = statistic.name == GEOMETRIC or statistic.share or statistic.sums
    weighted = statistic.percentile is not None or statistic.runs is not None
    for column in columns:
        if weighted and column.scores.strata.has_several_tasks:
            raise UsageError(
                f"{option('on', statistic.name)} needs equally weighted samples, but tasks are weighted here",
                found=f"{option('on', statistic.name)} on a suite of tasks",
                hint=f"pool tasks with {option('task', 'none')}, or test each group: {option('group_by')}",
            )
        if column.scores.judged and (derived or statistic.percentile is not None):
            problem = f"{option('on', statistic.name)} does not support scores calibrated on labels"
            hint = f"claim {option('on', 'mean')}, or leave out {option('judge')}"
            raise UsageError(problem, found=f"{option('judge')}", hint=hint)
    if statistic.sums is not None:
        metrics = statistic.metrics
        parts = zip(*(by_metric[metric] for metric in metrics), strict=True)
        return [_ratio_column(dict(zip(metrics, part, strict=True)), statistic, models) for part in parts]
    if statistic.share is not None:
        return [_share_column(column, *statistic.share) for column in columns]
    if statistic.name == GEOMETRIC:
        return [_log_column(column, models) for column in columns]
    if statistic.runs is not None:
        return [pass_column(column, statistic, models) for column in columns]
    return columns


def log_means(column: ScoreColumn) -> ScoreColumn:
    """Return a column whose means are the logarithms of the original means.

    Logarithms of ratios are less skewed than ratios. If a mean is not positive, the column is returned
    unchanged.
    """
    scores = pseudo_logarithms(column.scores, column.units.sign)
    units = replace(column.units, relative=True)
    return column if scores is None else replace(column, scores=scores, units=units)


def level_column(column: ScoreColumn, kind: str, model: int) -> ScoreColumn:
    """Return a column for the claim that one model's statistic is at least, or at most, a number.

    A model whose scores are all 0 is added as the last one. For "at most", all scores change sign.

    Parameters
    ----------
    column : ScoreColumn
    kind : {"at-least", "at-most"}
    model : int
        Index of the model in the claim.
    """
    sign = 1.0 if kind == AT_LEAST else -1.0
    turned = sign * column.units.sign
    scores = column.scores.select_models([*range(column.scores.models), model])
    values = (*(turned * values + 0.0 for values in scores.values[:-1]), np.zeros_like(scores.values[-1]))
    limits = column.limits if turned > 0 else (-column.limits[1], -column.limits[0])
    units = replace(column.units, sign=sign)
    return replace(column, scores=replace(scores, values=values), units=units, limits=limits)


def _share_column(column: ScoreColumn, comparison: str, number: float) -> ScoreColumn:
    """Return a column with 1 for each score that meets a condition such as ``>= 4``, else 0.

    The condition has a `comparison`, ">=" or "<=", and a `number`.
    """
    sign = column.units.sign
    positive = (comparison == ">=") == (sign > 0)  # large shares are better
    compare = np.greater_equal if comparison == ">=" else np.less_equal
    met = [compare(sign * values, number).astype(np.float64) for values in column.scores.values]
    values = tuple(part if positive else 0.0 - part for part in met)
    limits = (0.0, 1.0) if positive else (-1.0, 0.0)
    scores, units = replace(column.scores, values=values), Units(1.0 if positive else -1.0, column.name)
    return replace(column, scores=scores, units=units, limits=limits, width=1.0)


def _log_column(column: ScoreColumn, models: Sequence[str]) -> ScoreColumn:
    """Return a column with the logarithms of positive scores.

    Raises
    ------
    UsageError
        If a score is not positive.
    """
    sign, scores = column.units.sign, column.scores
    for model, values in zip(models, scores.values, strict=True):
        if (sign * values).min() <= 0:
            detail = f"{(sign * values).min() + 0.0:g} of {model} on {column.name}"
            single = option("on", f"{GEOMETRIC}:METRIC")
            hint = f"use {option('on', 'mean')}, or name a metric with positive scores: {single}"
            raise UsageError(f"{option('on', GEOMETRIC)} needs positive scores", found=detail, hint=hint)
    logs = tuple(sign * np.log(sign * values) for values in scores.values)
    units = replace(column.units, relative=True)
    return replace(column, scores=replace(scores, values=logs), units=units, limits=UNBOUNDED, width=None)


def _ratio_column(
    columns: Mapping[str, ScoreColumn], statistic: Statistic, models: Sequence[str]
) -> ScoreColumn:
    """Return a column whose means are ratios of sums of several metrics.

    Raises
    ------
    UsageError
        If the models have different samples on the metrics, metrics of the numerator have different
        directions, or a denominator is negative.
    InputError
        If the denominator is positive on too few samples.
    """
    assert statistic.sums is not None
    numerator, denominator = statistic.sums
    first, signs = columns[numerator[0][1]], {columns[name].units.sign for _, name in numerator}
    if len(signs) > 1:
        names = [name for _, name in numerator if columns[name].units.sign < 0]
        problem = f"{option('on', statistic.name)} adds metrics of different directions"
        hint = f"write {option('higher', names[0])}, or sum only metrics with the same direction"
        raise UsageError(problem, found=f"lower is better for {names[0]} only", hint=hint)
    if len({tuple(column.scores.sizes) for column in columns.values()}) > 1:
        problem = f"{option('on', statistic.name)} needs all metrics on the same samples"
        hint = f"leave out the samples that lack one of them: {option('missing', 'drop')}"
        raise UsageError(problem, found="metrics with different samples", hint=hint)
    above, below = (_sum_metrics(columns, terms) for terms in (numerator, denominator))
    for model, values, units in zip(models, below, first.scores.clusters, strict=True):
        positive = np.unique(units[values > 0]).size
        if values.min() < 0 or positive < _FEWEST_POSITIVE:
            raise InputError(
                f"{option('on', statistic.name)} needs a positive sum in the denominator",
                found=f"{values.min():g} on a sample of {model}"
                if values.min() < 0
                else f"{counted(positive, 'independent sample')} of {model} above 0, "
                f"fewer than {_FEWEST_POSITIVE}",
                hint=f"score more samples, or claim {option('on', 'mean')}",
            )
    ratios = pseudo_ratios(*(replace(first.scores, values=tuple(values)) for values in (above, below)))
    sign, label = signs.pop(), statistic.label
    scores = replace(ratios, values=tuple(sign * values for values in ratios.values))
    return replace(first, name=label, scores=scores, units=Units(sign, label), limits=UNBOUNDED, width=None)


def _sum_metrics(columns: Mapping[str, ScoreColumn], terms: Sum) -> list[Floats]:
    """Return a weighted sum of metrics for each sample, in the units of the input file, one array per model.

    `terms` has pairs of a weight and a metric. `columns` has the scores by metric.
    """
    parts = [(factor * columns[name].units.sign, columns[name].scores.values) for factor, name in terms]
    by_model = zip(*([weight * column for column in values] for weight, values in parts), strict=True)
    return [np.sum(columns, axis=0) for columns in by_model]
