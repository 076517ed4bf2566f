"""What is known about a metric: which way is better, its weight, scale, transform and bounds."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from riskrank.errors import InputError, UsageError, did_you_mean, listing, no_such, option
from riskrank.options.flags import among_commas
from riskrank.options.reading import ReadOptions
from riskrank.options.values import ALL_OTHERS, contradict
from riskrank.scores.files.limits import require_few, require_short
from riskrank.scores.names.directions import looks_like_a_cost, clearly_lower_is_better
from riskrank.scores.table.metrics_file import MetricSpec, Specs, described_metrics
from riskrank.scores.table.scores import Scores

if TYPE_CHECKING:
    from riskrank.scores.table.baseline import Baseline


def resolve_metrics(scores: Scores) -> tuple[Specs, tuple[str, ...]]:
    """Combine the command line and the metrics file into one description per selected metric.

    Returns
    -------
    specs : tuple of MetricSpec
    warnings : tuple of str
        About directions nobody declared and directions that cancel a transform.

    Raises
    ------
    UsageError
        If an option names an unknown metric, contradicts the file or gives an impossible weight.
    InputError
        If the metrics file is unreadable or describes a metric that is not in the table, or a metric is not
        what it was when a baseline was blessed.
    """
    names, options, told = scores.metrics, scores.options, scores.notes.directions
    require_few(scores.files(), "metric", names)
    require_few(scores.files(), "model", scores.models)
    require_short(scores.files(), "for a metric", names)
    described = _described(options, scores.notes.known_metrics)
    unused = [name for name in options.weight if name not in (*names, ALL_OTHERS)]
    if unused:
        raise UsageError(
            f"{option('weight', f'{unused[0]}=…')} is for a metric that is not selected",
            found=f"selected: {listing(names)}",
            hint=f"add {option('metric', unused[0])}, or remove its weight",
        )
    specs = tuple(_combine(described.get(one, MetricSpec(name=one)), options, told.get(one)) for one in names)
    if (baseline := scores.notes.baseline) is not None:
        specs = tuple(_as_blessed(spec, baseline, said=spec.name in described) for spec in specs)
    _check_weights(specs)
    declared = (spec.name for spec in described.values() if spec.declared)
    named = {*options.lower, *options.higher, *told, *declared}
    against = [text for spec in specs for text in (*_against_its_name(spec, named), *_cancelled(spec))]
    return specs, (*_by_name(specs), *against)


def _described(options: ReadOptions, known: Sequence[str]) -> dict[str, MetricSpec]:
    """What the metrics file says; every metric that it or an option names is one of the table's."""
    for parameter in ("lower", "higher", "weight"):
        write = "{}=…".format if parameter == "weight" else str
        for name in getattr(options, parameter):
            if name not in (*known, ALL_OTHERS):
                raise no_such(name, known, kind="metric", parameter=parameter, write=write)
    where, described = described_metrics(options)
    for name in described:
        if name not in known:
            hint = did_you_mean(name, known, otherwise="remove it")
            if options.metrics_file:
                hint = did_you_mean(name, known, write="[{}]".format, otherwise=f"remove the table [{name}]")
            what = f"{where}: metric '{name}' is not in the scores"
            raise InputError(what, found=f"the scores hold {listing(known)}", hint=hint)
    return described


def oriented(scores: Scores, specs: Sequence[MetricSpec]) -> np.ndarray:
    """Apply transforms and make larger better; NaN stays NaN."""
    values = scores.values
    for code, spec in enumerate(specs):
        if spec.transform == "neg_log":
            of_metric = scores.codes("metric") == code
            values = np.where(of_metric, -np.log(np.where(of_metric, values, 1.0)), values)
    if any(spec.sign < 0 for spec in specs):
        values = values * np.array([spec.sign for spec in specs])[scores.codes("metric")]
    # Adding zero turns −0 into 0, which would compare equal but not be the same bytes.
    return values + 0.0


def original_units(values: np.ndarray, specs: Sequence[MetricSpec]) -> np.ndarray:
    """Undo orientation and transform.

    Parameters
    ----------
    values : ndarray, shape (rows, m)
        Transformed and oriented scores; larger is better.
    specs : sequence of m MetricSpec

    Returns
    -------
    ndarray, shape (rows, m)
        In the units of the file; exact but for ``neg_log``, which is undone by exp(−x).
    """
    # Adding zero turns −0 into 0.
    raw = values * np.array([spec.sign for spec in specs]) + 0.0
    for place, spec in enumerate(specs):
        if spec.transform == "neg_log":
            raw[:, place] = np.exp(-raw[:, place])
    return raw


def oriented_bounds(spec: MetricSpec) -> tuple[float, float]:
    """Bounds of a metric after transform and orientation; NaN where there are none, or no finite one."""
    if spec.bounds is None:
        return math.nan, math.nan
    ends = spec.bounds
    if spec.transform == "neg_log":
        low, high = (-math.log(end) if end > 0 else math.inf for end in ends)
        ends = (low, high)
    low, high = sorted(spec.sign * end for end in ends)
    return (low + 0.0 if math.isfinite(low) else math.nan), (high + 0.0 if math.isfinite(high) else math.nan)


def assumed_against_its_name(spec: MetricSpec) -> bool:
    """Whether more is taken as better, which nobody declared, and the name says that less is."""
    return spec.direction == "higher" and assumed_cost(spec)


def assumed_cost(spec: MetricSpec) -> bool:
    """Whether nobody declared which way is better, and the name says that less is."""
    return not spec.declared and spec.transform == "none" and looks_like_a_cost(spec.name)


def _combine(spec: MetricSpec, options: ReadOptions, told: str | None) -> MetricSpec:
    asked = "lower" if spec.name in options.lower else "higher" if spec.name in options.higher else None
    if asked and spec.declared and spec.direction != asked:
        hint = f"the file says {spec.direction}: change it, or leave out {option(asked, spec.name)}"
        contradict(option(asked, spec.name), str(options.metrics_file or option("metrics")), hint)
    if asked:
        spec = replace(spec, direction=asked, declared=True)
    if not spec.declared and told is not None:
        spec = replace(spec, direction=told, declared=True)
    if not spec.declared and ALL_OTHERS in (*options.lower, *options.higher):
        spec = replace(spec, direction="lower" if ALL_OTHERS in options.lower else "higher", declared=True)
    if assumed_against_its_name(spec) and clearly_lower_is_better(spec.name):
        spec = replace(spec, direction="lower")
    weight = options.weight.get(spec.name, options.weight.get(ALL_OTHERS))
    return spec if weight is None else replace(spec, weight=float(weight))


def _as_blessed(spec: MetricSpec, baseline: Baseline, *, said: bool) -> MetricSpec:
    """A metric as it was when the baseline was blessed, where nobody says otherwise now."""
    before = baseline.specs.get(spec.name)
    if before is None:
        return spec
    if spec.bounds is None:
        spec = replace(spec, bounds=before.bounds)
    if not said:
        spec = replace(spec, transform=before.transform)
    changed = {
        "direction": before.declared and spec.direction != before.direction,
        "transform": spec.transform != before.transform,
        "bounds": before.bounds is not None and spec.bounds != before.bounds,
    }
    for what in (name for name, differs in changed.items() if differs):
        raise InputError(
            f"{option('baseline', baseline.path)}: metric '{spec.name}' is not what it was",
            found=f"{what} {_shown(before, what)} when it was blessed, and {_shown(spec, what)} now",
            hint="undo the change, if it is a mistake; else bless new scores: those before and after it are "
            "not comparable",
        )
    return spec


def _shown(spec: MetricSpec, what: str) -> str:
    value = getattr(spec, what)
    return f"[{value[0]:g}, {value[1]:g}]" if isinstance(value, tuple) else str(value)


def _check_weights(specs: Sequence[MetricSpec]) -> None:
    for spec in specs:
        if spec.weight is not None and not (math.isfinite(spec.weight) and spec.weight >= 0):
            one = option("weight", f"{spec.name}=1")
            hint = f"a weight is a finite number that is zero or positive: {one}"
            what = f"bad weight for metric '{spec.name}'"
            raise UsageError(what, found=f"weight {spec.weight:g}", hint=hint)
    given = [spec.weight for spec in specs if spec.weight is not None]
    # Metrics without a weight may yet get what is left of one.
    if len(given) == len(specs) and sum(given) == 0:
        raise UsageError(
            "the weights of the selected metrics sum to 0",
            found=listing(f"{spec.name}={spec.weight:g}" for spec in specs if spec.weight is not None),
            hint="give at least one metric a positive weight",
        )


def _by_name(specs: Sequence[MetricSpec]) -> list[str]:
    """Say which directions nobody gave and names leave no doubt about."""
    names = [spec.name for spec in specs if not spec.declared and spec.direction == "lower"]
    if not names:
        return []
    return [
        f"less {listing(names)} is better, by {'its name' if len(names) == 1 else 'their names'}: "
        f"{option('lower', among_commas(names))} says so, {option('higher', names[0])} not"
    ]


def _against_its_name(spec: MetricSpec, named: Collection[str]) -> list[str]:
    """Warn of directions that nobody gave for this very metric, and that its name speaks against."""
    said = spec.name in named or spec.direction == "lower" or spec.transform != "none"
    if said or not looks_like_a_cost(spec.name):
        return []
    return [
        f"metric '{spec.name}' is taken as higher-is-better, but its name suggests the opposite: "
        f"{option('lower', spec.name)} says so, {option('higher', spec.name)} confirms it"
    ]


def _cancelled(spec: MetricSpec) -> list[str]:
    """Warn of directions that cancel a transform."""
    if spec.transform != "neg_log" or spec.direction != "lower":
        return []
    return [
        f"metric '{spec.name}' has transform neg_log and direction lower: the direction is that of −log, "
        "so larger raw scores count as better"
    ]
