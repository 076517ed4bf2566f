"""The criteria ``gsd`` works on: scores on mixed scales as quality vectors of exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riskrank.asked.option import ByName
from riskrank.engine.gsd.quality import QualityTable, quality_table, scale_doubts
from riskrank.engine.types import Floats
from riskrank.errors import UsageError, index_of, listing, option
from riskrank.scores.table.metrics import oriented_bounds
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.directions import require_directions
from riskrank.studies.groups.study import refuse_clusters
from riskrank.studies.gsd.options import CriteriaSettings


@dataclass(frozen=True)
class Criteria:
    """Quality vectors and where they come from.

    Attributes
    ----------
    specs : tuple of MetricSpec
        With the scales as asked for.
    quality : QualityTable
    scores : ndarray, shape (k, s, n)
        Larger is better, draws averaged.
    described : dict
        Scales and rounding, for the settings of a document.
    warnings : tuple of str
        Of the scales.
    """

    specs: tuple[MetricSpec, ...]
    quality: QualityTable
    scores: Floats
    described: dict[str, Any]
    warnings: tuple[str, ...]


def criteria(table: ScoreTable, settings: CriteriaSettings) -> Criteria:
    """Turn the rows of a table into quality vectors.

    Parameters
    ----------
    table : ScoreTable
        Paired, with draws or without.
    settings : CriteriaSettings

    Returns
    -------
    Criteria

    Raises
    ------
    UsageError
        For models with samples of their own, criteria without a direction, and names of none.
    InputError
        For values outside their declared bounds, or with more digits than can be compared exactly.
    """
    if table.options.unpaired:
        raise UsageError(
            "gsd compares models on the same samples",
            found=option("unpaired", True),
            hint=f"leave it out; {option('missing', 'drop')} compares on the samples all models have",
        )
    refuse_clusters(table, command="gsd", why="its relabelling swaps models on single samples")
    require_directions(table, command="gsd", metrics="criteria")
    specs = _with_scales(table.metrics, settings.ordinal)
    digits = _by_criterion("digits", settings.digits, specs)
    tolerance = _by_criterion("tolerance", settings.tolerance, specs)
    draws = table.as_draws()
    labels = [spec.name for spec in specs]
    quality = quality_table(
        draws,
        ordinal=[spec.scale == "ordinal" for spec in specs],
        bounds=np.array([oriented_bounds(spec) for spec in specs]),
        digits=[None if places is None else int(places) for places in digits] if settings.digits else None,
        tolerance=tolerance if settings.tolerance else None,
        names=labels,
    )
    return Criteria(
        specs=specs,
        quality=quality,
        scores=np.nanmean(draws, axis=2),
        described={
            "ordinal": [spec.name for spec in specs if spec.scale == "ordinal"],
            "digits": {
                name: int(given) for name, given in zip(labels, digits, strict=True) if given is not None
            },
            "tolerance": {
                name: given for name, given in zip(labels, tolerance, strict=True) if given is not None
            },
        },
        warnings=(
            *_scale_warnings(specs, quality, averaged=table.options.repeats == "mean"),
            *_constant_warnings(labels, quality),
        ),
    )


def _with_scales(specs: Sequence[MetricSpec], ordinal: Sequence[str]) -> tuple[MetricSpec, ...]:
    labels = [spec.name for spec in specs]
    for name in ordinal:
        index_of(name, labels, kind="criterion", plural="criteria", parameter="ordinal")
    return tuple(replace(spec, scale="ordinal") if spec.name in ordinal else spec for spec in specs)


def _by_criterion(parameter: str, given: ByName, specs: Sequence[MetricSpec]) -> tuple[float | None, ...]:
    """The number of each criterion; None for ordinal ones, and where nothing is said."""
    labels = [spec.name for spec in specs]
    cardinal = [spec.name for spec in specs if spec.scale == "cardinal"]
    everywhere: float | None = None
    single: dict[str, float] = {}
    for name, value in given:
        if not name:
            everywhere = value
            continue
        index_of(name, labels, kind="criterion", plural="criteria", parameter=parameter)
        if name not in cardinal:
            raise UsageError(
                f"{option(parameter, f'{name}={value:g}')} rounds an ordinal criterion",
                found=f"{name} is ordinal, its values are never subtracted",
                hint="leave it out, or round the column beforehand",
            )
        single[name] = value
    return tuple(single.get(name, everywhere) if name in cardinal else None for name in labels)


def _constant_warnings(labels: Sequence[str], quality: QualityTable) -> list[str]:
    constant = (quality.vectors == quality.vectors[0]).all(axis=0)
    return [
        f"criterion '{name}' is the same everywhere, possibly by rounding: it says nothing"
        for name, same in zip(labels, constant, strict=True)
        if same
    ]


def _scale_warnings(specs: Sequence[MetricSpec], quality: QualityTable, *, averaged: bool) -> list[str]:
    doubts = scale_doubts(quality)
    texts = [
        f"ordinal criterion '{specs[j].name}' has {levels} levels: is it made from a measurement? A cardinal "
        "scale would use its differences, fewer levels would be compared faster"
        for j, levels in doubts.many_levels
    ]
    texts += [
        f"ordinal criterion '{specs[j].name}' holds the values of '{specs[i].name}' in another order: "
        "is one a copy whose rows were shuffled?"
        for i, j in doubts.permuted_copies
    ]
    ordinal = [spec.name for spec in specs if spec.scale == "ordinal"]
    if averaged and ordinal:
        texts.append(
            f"{option('repeats', 'mean')} averages levels of {listing(ordinal)}, of which only the order "
            f"means something: {option('repeats', 'draws')} does not"
        )
    texts += [
        f"bounds of '{spec.name}' have no finite logarithm on one side: the observed extreme serves there"
        for spec in specs
        if spec.transform == "neg_log" and spec.bounds is not None and spec.bounds[0] <= 0
    ]
    return texts
