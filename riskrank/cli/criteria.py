"""The criteria ``gsd`` works on: scores on mixed scales as quality vectors of exact integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from riskrank.cli.directions import require_directions
from riskrank.cli.options import InputOptions, Names, split_names
from riskrank.errors import UsageError, listing, nearest

if TYPE_CHECKING:
    import numpy as np

    from riskrank.cli.session import Session
    from riskrank.engine.gsd.preference_system import QualityTable
    from riskrank.scores.metrics import MetricSpec
    from riskrank.scores.table import ScoreTable

Number = TypeVar("Number", int, float)

# Beyond this a double holds no decimal digit.
_MOST_DIGITS = 15


@dataclass(frozen=True, kw_only=True)
class CriteriaInputs(InputOptions):
    """Which scores to read; models share their samples."""

    unpaired: Annotated[bool, typer.Option("--unpaired", hidden=True)] = False
    cluster: Annotated[str | None, typer.Option("--cluster", hidden=True)] = None


@dataclass(frozen=True, kw_only=True)
class ScaleOptions:
    """What the scores of a criterion mean."""

    ordinal: Annotated[
        Names,
        typer.Option(
            metavar="NAME,...", help="Criteria of which only the order means something. Repeatable."
        ),
    ] = None
    digits: Annotated[
        Names,
        typer.Option(
            metavar="[NAME=]N",
            help="Decimal places that count, of all cardinal criteria or of one. Repeatable. [all there are]",
        ),
    ] = None
    tolerance: Annotated[
        Names,
        typer.Option(metavar="[NAME=]STEP", help="Instead: the step cardinal scores are rounded to."),
    ] = None


@dataclass(frozen=True)
class Criteria:
    """Quality vectors and where they come from.

    Attributes
    ----------
    table : ScoreTable
        With the scales as asked for.
    quality : QualityTable
    scores : array of shape (k, s, n)
        Larger is better, draws averaged.
    settings : dict
        Of the scales.
    warnings : tuple of str
        Of reading and of the scales; already shown.
    """

    table: ScoreTable
    quality: QualityTable
    scores: np.ndarray
    settings: dict[str, Any]
    warnings: tuple[str, ...]


def read_criteria(session: Session, inputs: CriteriaInputs, scales: ScaleOptions) -> Criteria:
    """Read a table and turn its rows into quality vectors.

    Raises
    ------
    InputError, UsageError
        As `riskrank.scores.table.read_scores`; for criteria without a direction, and models that have
        samples of their own.
    """
    import numpy as np

    from riskrank.engine.gsd.preference_system import quality_table
    from riskrank.scores.table import read_scores, refuse_clusters

    if inputs.unpaired:
        raise UsageError(
            "gsd compares models on the same samples",
            found="--unpaired",
            hint="leave it out; --missing drop compares on the samples all models have",
        )
    options = session.read_options(allow_constant=True, paired_only=True)
    table = read_scores(inputs.scores, options, session.environment.stdin)
    refuse_clusters(table, command="gsd", why="its relabelling swaps models on single samples")
    require_directions(table, command="gsd", metrics="criteria")
    table = replace(table, metrics=_with_scales(table.metrics, split_names(scales.ordinal)))
    names = [spec.name for spec in table.metrics]
    cardinal = [spec.name for spec in table.metrics if spec.scale == "cardinal"]
    digits = _by_criterion(scales.digits, names, cardinal, option="--digits", kind=int)
    tolerance = _by_criterion(scales.tolerance, names, cardinal, option="--tolerance", kind=float)
    if scales.digits and scales.tolerance:
        raise UsageError(
            "--digits and --tolerance both say how scores are rounded",
            found=f"--digits {listing(scales.digits)} and --tolerance {listing(scales.tolerance)}",
            hint="give one of them",
        )
    draws = table.as_draws()
    quality = quality_table(
        draws,
        ordinal=[spec.scale == "ordinal" for spec in table.metrics],
        bounds=np.array([oriented_bounds(spec) for spec in table.metrics]),
        digits=digits if scales.digits else None,
        tolerance=tolerance if scales.tolerance else None,
        names=names,
    )
    warnings = (
        *table.warnings,
        *_scale_warnings(table.metrics, quality, inputs),
        *_constant_warnings(names, quality),
    )
    session.warn(warnings)
    return Criteria(
        table=table,
        quality=quality,
        scores=np.nanmean(draws, axis=2),
        settings={
            "ordinal": [spec.name for spec in table.metrics if spec.scale == "ordinal"],
            "digits": _given(names, digits),
            "tolerance": _given(names, tolerance),
        },
        warnings=warnings,
    )


def oriented_bounds(spec: MetricSpec) -> tuple[float, float]:
    """Bounds of a metric after its transform and with larger being better; NaN where there are none."""
    from math import inf, isfinite, log, nan

    if spec.bounds is None:
        return nan, nan
    ends = spec.bounds
    if spec.transform == "neg_log":
        ends = tuple(-log(end) if end > 0 else inf for end in ends)
    low, high = sorted(spec.sign * end for end in ends)
    # Adding zero turns −0 into 0.
    return (low + 0.0 if isfinite(low) else nan), (high + 0.0 if isfinite(high) else nan)


def original_units(values: np.ndarray, specs: Sequence[MetricSpec]) -> np.ndarray:
    """Oriented scores, shape (m, n), in the units of the file."""
    import numpy as np

    raw = values * np.array([spec.sign for spec in specs]) + 0.0
    for j, spec in enumerate(specs):
        if spec.transform == "neg_log":
            raw[:, j] = np.exp(-raw[:, j])
    return raw


def _with_scales(specs: Sequence[MetricSpec], ordinal: Sequence[str]) -> tuple[MetricSpec, ...]:
    names = [spec.name for spec in specs]
    for name in ordinal:
        _require_criterion(name, names, option=f"--ordinal {name}")
    return tuple(replace(spec, scale="ordinal") if spec.name in ordinal else spec for spec in specs)


def _require_criterion(name: str, names: Sequence[str], *, option: str) -> None:
    if name not in names:
        close = nearest(name, names)
        raise UsageError(
            f"{option}: there is no criterion '{name}'",
            found=f"the criteria are {listing(names)}",
            hint=f"did you mean {close}?" if close else "name one of these",
        )


def _constant_warnings(names: Sequence[str], quality: QualityTable) -> list[str]:
    constant = (quality.vectors == quality.vectors[0]).all(axis=0)
    return [
        f"criterion '{name}' is the same everywhere, possibly by rounding: it says nothing"
        for name, same in zip(names, constant, strict=True)
        if same
    ]


def _by_criterion(
    texts: Names,
    names: Sequence[str],
    cardinal: Sequence[str],
    *,
    option: str,
    kind: Callable[[str], Number],
) -> tuple[Number | None, ...]:
    """One number for all cardinal criteria, or ``NAME=NUMBER`` for one; None where nothing is said."""
    everywhere: Number | None = None
    single: dict[str, Number] = {}
    for text in texts or ():
        name, separator, number = text.rpartition("=")
        try:
            value = kind(number)
        except ValueError:
            wanted = "a whole number" if kind is int else "a number"
            example = "3" if kind is int else "0.001"
            raise UsageError(
                f"{option} takes {wanted}, with the name of a criterion before it or without",
                found=text,
                hint=f"write {option} {example}, or {option} {(cardinal or names)[0]}={example}",
            ) from None
        sound = abs(value) <= _MOST_DIGITS if kind is int else 0 < value < float("inf")
        if not sound:
            limits = f"from -{_MOST_DIGITS} to {_MOST_DIGITS}" if kind is int else "above 0 and finite"
            raise UsageError(
                f"{option} must be {limits}", found=text, hint="leave it out to use every digit there is"
            )
        if not separator:
            everywhere = value
            continue
        _require_criterion(name, names, option=f"{option} {text}")
        if name not in cardinal:
            raise UsageError(
                f"{option} {text} rounds an ordinal criterion",
                found=f"{name} is ordinal, its values are never subtracted",
                hint="leave it out, or round the column beforehand",
            )
        single[name] = value
    return tuple(single.get(name, everywhere) if name in cardinal else None for name in names)


def _given(names: Sequence[str], numbers: Sequence[Number | None]) -> dict[str, Number]:
    return {name: number for name, number in zip(names, numbers, strict=True) if number is not None}


def _scale_warnings(specs: Sequence[MetricSpec], quality: QualityTable, inputs: CriteriaInputs) -> list[str]:
    from riskrank.engine.gsd.preference_system import scale_doubts

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
    averaged = [spec.name for spec in specs if spec.scale == "ordinal"]
    if inputs.repeats == "mean" and averaged:
        texts.append(
            f"--repeats mean averages levels of {listing(averaged)}, of which only the order means "
            "something: --repeats draws does not"
        )
    texts += [
        f"bounds of '{spec.name}' have no finite logarithm on one side: the observed extreme serves there"
        for spec in specs
        if spec.transform == "neg_log" and spec.bounds is not None and spec.bounds[0] <= 0
    ]
    return texts
