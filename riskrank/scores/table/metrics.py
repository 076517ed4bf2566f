"""Metric specifications from options and the metrics file: direction, weight, scale, transform and bounds."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riskrank.errors import InputError, UsageError, did_you_mean, listing, option, unknown_name
from riskrank.options.interfaces import join_commas
from riskrank.options.reading import ReadOptions
from riskrank.options.values import WILDCARD
from riskrank.scores.files.guards import reject_too_many, require_short
from riskrank.scores.layouts.layout import UNITS, WarningText
from riskrank.scores.names.directions import clearly_lower_is_better, looks_like_a_cost, looks_like_an_amount
from riskrank.scores.table.metric_specs import MetricSpec, Specs, declared_metrics
from riskrank.scores.table.scores import Scores

if TYPE_CHECKING:
    from riskrank.scores.table.baseline import Baseline


def resolve_metrics(scores: Scores) -> tuple[Specs, tuple[str, ...]]:
    """Return the specification of each selected metric, from the options and the metrics file.

    Returns
    -------
    specs : tuple of MetricSpec
    warnings : tuple of str
        Warnings about undeclared directions, and about directions that cancel a transform.

    Raises
    ------
    UsageError
        If an option names an unknown metric, contradicts the file, or gives an invalid weight.
    InputError
        If the metrics file is unreadable or describes an unknown metric, or if a metric has changed since a
        baseline was saved.
    """
    names, options, directions = scores.metrics, scores.options, scores.notes.directions
    reject_too_many(scores.file_names(), "metric", names)
    reject_too_many(scores.file_names(), "model", scores.models)
    require_short(scores.file_names(), "for a metric", names)
    described = _declared_specs(options, scores.notes.all_metrics)
    unused = [name for name in options.weight if name not in (*names, WILDCARD)]
    if unused:
        problem = f"{option('weight', f'{unused[0]}=…')} names a metric that is not selected"
        hint = f"add {option('metric', unused[0])}, or remove its weight"
        raise UsageError(problem, found=f"selected: {listing(names)}", hint=hint)
    specs = tuple(
        _apply_options(described.get(m, MetricSpec(name=m)), options, directions.get(m)) for m in names
    )
    if (baseline := scores.notes.baseline) is not None:
        specs = tuple(_match_baseline(spec, baseline, is_described=spec.name in described) for spec in specs)
    _check_weights(specs)
    declared = (spec.name for spec in described.values() if spec.declared)
    confirmed = {*options.lower, *options.higher, *directions, *declared}
    return specs, (*_direction_warnings(specs, confirmed), *_unit_warnings(scores, specs))


# Smallest ratio of medians that suggests different units, such as seconds and milliseconds.
_UNIT_RATIO = 300


def _unit_warnings(scores: Scores, specs: Specs) -> Iterator[WarningText]:
    """Yield a warning for each amount that differs so much between models that its unit may have changed."""
    for spec in specs:
        if spec.transform != "none" or not looks_like_an_amount(spec.name):
            continue
        mask = (pl.col("metric") == spec.name) & pl.Series(~scores.invalid_mask())
        medians = scores.frame.filter(mask).group_by("model").agg(pl.col("score").median()).sort("score")
        if medians.is_empty():
            continue
        (small, low), (large, high) = medians.row(0), medians.row(-1)
        if low > 0 and high >= _UNIT_RATIO * low:
            text = f"units: {spec.name} of {large} is typically {high / low:,.0f} times that of {small}"
            yield WarningText(f"{text}; check that both have the same unit", UNITS)


def _declared_specs(options: ReadOptions, names: Sequence[str]) -> dict[str, MetricSpec]:
    """Return the metrics that the metrics file or the argument `metrics` describes, by name.

    Parameters
    ----------
    options : ReadOptions
    names : sequence of str
        Metrics of the table.

    Raises
    ------
    InputError
        If the file describes another metric.
    UsageError
        If an option names another metric.
    """
    for parameter in ("lower", "higher", "weight"):
        write = "{}=…".format if parameter == "weight" else str
        for name in getattr(options, parameter):
            if name not in (*names, WILDCARD):
                raise unknown_name(name, names, kind="metric", parameter=parameter, write=write)
    origin, described = declared_metrics(options)
    for name in described:
        if name not in names:
            hint = did_you_mean(name, names, fallback="remove it")
            if options.metrics_file:
                hint = did_you_mean(name, names, write="[{}]".format, fallback=f"remove the table [{name}]")
            message = f"{origin}: metric '{name}' is not in the scores"
            raise InputError(message, found=f"the metrics are {listing(names)}", hint=hint)
    return described


def orient_scores(scores: Scores, specs: Sequence[MetricSpec]) -> np.ndarray:
    """Transform scores and orient them so that larger is better.

    NaN remains NaN.

    Parameters
    ----------
    scores : Scores
    specs : sequence of MetricSpec
        One specification per metric.

    Returns
    -------
    ndarray of float64, shape (rows,)
    """
    values = scores.values
    for code, spec in enumerate(specs):
        if spec.transform == "neg_log":
            of_metric = scores.codes("metric") == code
            values = np.where(of_metric, -np.log(np.where(of_metric, values, 1.0)), values)
    if any(spec.sign < 0 for spec in specs):
        values = values * np.array([spec.sign for spec in specs])[scores.codes("metric")]
    # Adding zero turns −0 into 0. The two compare equal, but their bytes differ.
    return values + 0.0


def to_original_units(values: np.ndarray, specs: Sequence[MetricSpec]) -> np.ndarray:
    """Invert the orientation and the transform of scores.

    Parameters
    ----------
    values : ndarray, shape (rows, m)
        Transformed and oriented scores; larger is better.
    specs : sequence of m MetricSpec

    Returns
    -------
    ndarray, shape (rows, m)
        Scores in original units. They are exact except for ``neg_log``, which is inverted by exp(−x).
    """
    # Adding zero turns −0 into 0.
    raw = values * np.array([spec.sign for spec in specs]) + 0.0
    for k, spec in enumerate(specs):
        if spec.transform == "neg_log":
            raw[:, k] = np.exp(-raw[:, k])
    return raw


def oriented_bounds(spec: MetricSpec) -> tuple[float, float]:
    """Return the transformed and oriented bounds of a metric; NaN for missing or infinite bounds."""
    if spec.bounds is None:
        return math.nan, math.nan
    bounds = spec.bounds
    if spec.transform == "neg_log":
        low, high = (-math.log(bound) if bound > 0 else math.inf for bound in bounds)
        bounds = (low, high)
    low, high = sorted(spec.sign * bound for bound in bounds)
    return (low + 0.0 if math.isfinite(low) else math.nan), (high + 0.0 if math.isfinite(high) else math.nan)


def contradicts_name(spec: MetricSpec) -> bool:
    """Return True if a metric is assumed to be higher-is-better, although its name suggests a cost."""
    return spec.direction == "higher" and is_undeclared_cost(spec)


def is_undeclared_cost(spec: MetricSpec) -> bool:
    """Return True if a metric has no declared direction and its name suggests a cost."""
    return not spec.declared and spec.transform == "none" and looks_like_a_cost(spec.name)


def _apply_options(spec: MetricSpec, options: ReadOptions, direction: str | None) -> MetricSpec:
    """Return a specification with the direction and weight set by the options.

    Parameters
    ----------
    spec : MetricSpec
    options : ReadOptions
    direction : str or None
        Direction declared in the score files.
    """
    requested = "lower" if spec.name in options.lower else "higher" if spec.name in options.higher else None
    if requested and spec.declared and spec.direction != requested:
        hint = f"the file says {spec.direction}: change it, or remove {option(requested, spec.name)}"
        problem = f"{option(requested, spec.name)} contradicts {options.metrics_file or option('metrics')}"
        raise UsageError(problem, found="both", hint=hint)
    if requested:
        spec = replace(spec, direction=requested, declared=True)
    if not spec.declared and direction is not None:
        spec = replace(spec, direction=direction, declared=True)
    if not spec.declared and WILDCARD in (*options.lower, *options.higher):
        spec = replace(spec, direction="lower" if WILDCARD in options.lower else "higher", declared=True)
    if contradicts_name(spec) and clearly_lower_is_better(spec.name):
        spec = replace(spec, direction="lower")
    weight = options.weight.get(spec.name, options.weight.get(WILDCARD))
    return spec if weight is None else replace(spec, weight=float(weight))


def _match_baseline(spec: MetricSpec, baseline: Baseline, *, is_described: bool) -> MetricSpec:
    """Return a metric's specification with the bounds and the transform of the baseline.

    Parameters
    ----------
    spec : MetricSpec
    baseline : Baseline
    is_described : bool
        Whether the metrics file describes the metric; the transform of the baseline is then ignored.

    Raises
    ------
    InputError
        If the metric has changed since the baseline was saved.
    """
    old = baseline.specs.get(spec.name)
    if old is None:
        return spec
    if spec.bounds is None:
        spec = replace(spec, bounds=old.bounds)
    if not is_described:
        spec = replace(spec, transform=old.transform)
    changed = {
        "direction": old.declared and spec.direction != old.direction,
        "transform": spec.transform != old.transform,
        "bounds": old.bounds is not None and spec.bounds != old.bounds,
    }
    for key in (name for name, differs in changed.items() if differs):
        problem = f"{option('baseline', baseline.path)}: metric '{spec.name}' has changed"
        values = (getattr(metric, key) for metric in (old, spec))
        before, after = (f"[{v[0]:g}, {v[1]:g}]" if isinstance(v, tuple) else str(v) for v in values)
        hint = "undo the change if it is a mistake; otherwise bless new scores, "
        hint += "as scores before and after the change are not comparable"
        raise InputError(problem, found=f"{key} was {before} in the baseline and is {after} now", hint=hint)
    return spec


def _check_weights(specs: Sequence[MetricSpec]) -> None:
    """Raise UsageError if a weight is negative or not finite, or if all weights are 0."""
    for spec in specs:
        if spec.weight is not None and not (math.isfinite(spec.weight) and spec.weight >= 0):
            example = option("weight", f"{spec.name}=1")
            hint = f"write a finite number of at least 0: {example}"
            message = f"invalid weight for metric '{spec.name}'"
            raise UsageError(message, found=f"weight {spec.weight:g}", hint=hint)
    weights = [spec.weight for spec in specs if spec.weight is not None]
    # Metrics without a weight may get the remaining weight later.
    if len(weights) == len(specs) and sum(weights) == 0:
        detail = listing(f"{spec.name}={spec.weight:g}" for spec in specs if spec.weight is not None)
        hint = "give at least one metric a positive weight"
        raise UsageError("the weights of the selected metrics sum to 0", found=detail, hint=hint)


def _direction_warnings(specs: Specs, confirmed: Collection[str]) -> Iterator[str]:
    """Yield warnings about the directions of metrics.

    A direction may be suggested by the name, contradict the name, or cancel a transform.

    Parameters
    ----------
    specs : tuple of MetricSpec
    confirmed : collection of str
        Metrics whose direction was declared individually.
    """
    names = [spec.name for spec in specs if not spec.declared and spec.direction == "lower"]
    if names:
        yield (
            f"lower {listing(names)} is better, judging by the name{'s' * (len(names) > 1)}: "
            f"{option('lower', join_commas(names))} confirms this, {option('higher', names[0])} reverses it"
        )
    for spec in specs:
        is_plain = spec.direction == "higher" and spec.transform == "none"
        if is_plain and spec.name not in confirmed and looks_like_a_cost(spec.name):
            yield (
                f"higher {spec.name} is assumed to be better, but the name suggests the opposite: "
                f"{option('lower', spec.name)} reverses this, {option('higher', spec.name)} confirms it"
            )
        if spec.transform == "neg_log" and spec.direction == "lower":
            yield (
                f"metric '{spec.name}' has transform neg_log and direction lower: the direction applies to "
                "−log, so larger raw scores are better"
            )
