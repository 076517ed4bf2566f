"""What a table holds and what is wrong with it, for ``check``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np

from riskrank.asked.reading import ReadOptions
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.source import InputFile, Source
from riskrank.scores.table.assemble import assemble
from riskrank.scores.table.columns import Roles
from riskrank.scores.table.divisions import dividing_columns
from riskrank.scores.table.entries import Entries, select
from riskrank.scores.table.metrics import resolve_metrics
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.reading import read_entries
from riskrank.scores.table.rows import Rows
from riskrank.scores.table.validate import (
    constant_metrics,
    divided_samples,
    out_of_range,
    too_few_models,
    too_large,
    unusable_scores,
)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something wrong (``error``: the commands would refuse it) or doubtful (``warning``).

    A warning is one sentence in `what`; its `found` and `hint` are empty.
    """

    severity: str
    what: str
    found: str = ""
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class InspectedModel:
    """One model: its number of samples, and of samples no other model has."""

    name: str
    samples: int
    only_here: int


@dataclass(frozen=True, kw_only=True)
class InspectedMetric:
    """One metric, in the units of the file.

    Attributes
    ----------
    spec : MetricSpec
        Direction (and whether it was declared), weight, scale, transform, bounds.
    n : int
        Usable scores.
    minimum, maximum, mean : float or None
        Of the usable scores; None if there are none.
    distinct : int
        Different values.
    tied_share : float
        Share of the scores that equal another score of the metric, whichever model's.
    missing : int
        Cells without a usable score, among the models and samples of the table.
    outside_bounds : int
    constant : bool
    """

    spec: MetricSpec
    n: int
    minimum: float | None
    maximum: float | None
    mean: float | None
    distinct: int
    tied_share: float
    missing: int
    outside_bounds: int
    constant: bool


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What the files hold.

    Attributes
    ----------
    inputs : tuple of InputFile
    rows : int
        Input rows read.
    models : tuple of InspectedModel
    metrics : tuple of InspectedMetric
    samples : int
        Different samples, of all models together.
    common_samples : int
        Samples every model has.
    clusters : int or None
        Clusters the samples belong to; None where nobody named their column.
    same_samples : bool
        Whether every model has every sample, as a paired comparison needs.
    fewest_repeats, most_repeats : int
        Rows per (model, sample, metric) cell that has any.
    repeated_cells : int
        Cells with more than one row.
    problems : tuple of Problem
        Errors first.
    options : ReadOptions
        How the files were read.
    sources : tuple of str or Source
        As they were given.
    runs : tuple of ClusteredScores
        Per metric, where repeats are kept as draws and nothing is wrong; else empty.
    divisions : tuple of str
        Columns that divide the samples into groups, where every model has every sample once.
    """

    inputs: tuple[InputFile, ...]
    rows: int
    models: tuple[InspectedModel, ...]
    metrics: tuple[InspectedMetric, ...]
    samples: int
    common_samples: int
    clusters: int | None
    same_samples: bool
    fewest_repeats: int
    most_repeats: int
    repeated_cells: int
    problems: tuple[Problem, ...]
    options: ReadOptions
    sources: tuple[str | Source, ...] = ()
    runs: tuple[ClusteredScores, ...] = ()
    divisions: tuple[str, ...] = ()


def inspect_scores(
    paths: Sequence[str | Source], options: ReadOptions | None = None, stdin: BinaryIO | None = None
) -> Inspection:
    """Describe the scores of one or more files, and everything that is wrong with them.

    Parameters
    ----------
    paths, options, stdin
        As for `riskrank.scores.table.score_table.read_scores`.

    Returns
    -------
    Inspection

    Raises
    ------
    InputError
        Only if a file or its columns cannot be read at all, or the metrics file cannot.
    UsageError
        If the options contradict each other or name something unknown.
    """
    options = options or ReadOptions()
    # Scores too large to compute with are a problem to be told, not a warning of NumPy's.
    with np.errstate(over="ignore", invalid="ignore"):
        return _inspected(paths, options, stdin)


def _inspected(paths: Sequence[str | Source], options: ReadOptions, stdin: BinaryIO | None) -> Inspection:
    seen: list[tuple[Source, Roles]] = []
    entries = select(_read(paths, options, stdin, seen), options)
    specs, doubts = resolve_metrics(
        entries.metrics, known=entries.known_metrics, options=options, told=entries.directions
    )
    means, _ = assemble(
        entries, entries.value, replace(options, missing="keep", repeats="mean", unpaired=True)
    )
    covered = np.zeros((len(entries.models), len(entries.samples)), dtype=bool)
    covered[means.model, means.sample] = True
    repeats = _rows_per_cell(entries)
    # Of a table with every score once nothing is refused or dropped: large ones are not assembled for that.
    whole = bool(covered.all()) and repeats.max(initial=0) <= 1 and not np.isnan(means.values).any()
    errors = [*_errors(entries, specs, means, options, whole=whole)]
    dropped = () if whole else _dropped(entries, options)
    warnings = [*entries.notes, *doubts, *_undeclared(specs, options), *dropped]
    alone = covered.sum(axis=0) == 1
    return Inspection(
        inputs=entries.inputs,
        rows=entries.rows,
        models=tuple(
            InspectedModel(name=name, samples=int(has.sum()), only_here=int((has & alone).sum()))
            for name, has in zip(entries.models, covered, strict=True)
        ),
        metrics=tuple(
            _describe(entries, spec, code, means, covered, options) for code, spec in enumerate(specs)
        ),
        samples=len(entries.samples),
        common_samples=int(np.count_nonzero(covered.all(axis=0))),
        clusters=None if entries.cluster is None else len(np.unique(entries.cluster)),
        same_samples=bool(covered.all()),
        fewest_repeats=int(repeats.min(initial=repeats.max(initial=0))),
        most_repeats=int(repeats.max(initial=0)),
        repeated_cells=int(np.count_nonzero(repeats > 1)),
        problems=(
            *(Problem(severity="error", what=e.what, found=e.found, hint=e.hint) for e in errors),
            *(Problem(severity="warning", what=text) for text in warnings),
        ),
        options=options,
        sources=tuple(paths),
        runs=() if errors else _runs(entries, specs, options),
        divisions=() if errors or options.group_by or not whole else dividing_columns(seen, entries.rows),
    )


def _read(
    paths: Sequence[str | Source],
    options: ReadOptions,
    stdin: BinaryIO | None,
    seen: list[tuple[Source, Roles]],
) -> Entries:
    """Read a table; one without a sample column is one row a model, if no model has two."""
    try:
        return read_entries(paths, options, stdin, seen=seen)
    except InputError:
        if options.sample_optional or "-" in paths:
            raise
        try:
            entries = read_entries(paths, replace(options, sample_optional=True), stdin)
        except InputError:
            entries = None
        if entries is None or entries.has_samples or _rows_per_cell(entries).max(initial=0) > 1:
            raise
        return entries


def _runs(entries: Entries, specs: Sequence[MetricSpec], options: ReadOptions) -> tuple[ClusteredScores, ...]:
    """Scores of every metric with their repeats, if there are any."""
    if options.repeats != "draws" or entries.cluster is not None:
        return ()
    rows, _ = assemble(entries, entries.value, options)
    cuts = np.searchsorted(rows.model, np.arange(1, len(entries.models)))
    samples = [np.unique(part, return_inverse=True)[1] for part in np.split(rows.sample, cuts)]
    return tuple(
        ClusteredScores.build(np.split(rows.values[:, code], cuts), samples, paired=False)
        for code in range(len(specs))
    )


def _errors(
    entries: Entries, specs: Sequence[MetricSpec], means: Rows, options: ReadOptions, *, whole: bool
) -> Iterable[InputError]:
    yield from too_few_models(entries, options.min_models)
    yield from unusable_scores(entries, nan_is_missing=options.missing != "error")
    yield from too_large(entries, options.largest)
    yield from out_of_range(entries, specs)
    yield from divided_samples(entries, unpaired=options.unpaired)
    repeated = None if whole else _refusal(entries, replace(options, missing="keep"))
    if repeated is not None:
        yield repeated
        options = replace(options, repeats="mean")
    gaps: dict[str, InputError] = {}
    # Different sample sets hide missing cells, which the unpaired reading tells apart.
    for unpaired in () if whole else sorted({options.unpaired, True}):
        refusal = _refusal(entries, replace(options, unpaired=unpaired))
        if refusal is not None:
            gaps.setdefault(refusal.what, refusal)
    yield from gaps.values()
    if not options.allow_constant:
        yield from constant_metrics(entries, means.values, specs)


def _undeclared(specs: Sequence[MetricSpec], options: ReadOptions) -> Iterable[str]:
    """Warn of columns of a wide table that are metrics only because they hold numbers."""
    names = [spec.name for spec in specs if not spec.declared and spec.name not in options.metric]
    if options.wide and options.matrix is None and names:
        yield (
            f"columns taken as metrics, higher is better, though nobody declared them: {listing(names)}; "
            f"{option('metric')} picks the metrics, {option('lower')} and {option('higher')} say which way"
        )


def _refusal(entries: Entries, options: ReadOptions) -> InputError | None:
    try:
        assemble(entries, entries.value, options)
    except InputError as error:
        return error
    return None


def _dropped(entries: Entries, options: ReadOptions) -> tuple[str, ...]:
    try:
        return assemble(entries, entries.value, options)[1]
    except InputError:
        return ()


def _rows_per_cell(entries: Entries) -> np.ndarray:
    cell = entries.model * len(entries.samples) + entries.sample
    cell *= len(entries.metrics)
    cell += entries.metric
    if len(entries.models) * len(entries.samples) * len(entries.metrics) <= 2 * cell.size:
        counts = np.bincount(cell)  # without sorting, where few cells are empty
        return counts[counts > 0]
    return np.unique(cell, return_counts=True)[1]


def _describe(
    entries: Entries,
    spec: MetricSpec,
    code: int,
    means: Rows,
    covered: np.ndarray,
    options: ReadOptions,
) -> InspectedMetric:
    scores = entries.value[(entries.metric == code) & ~entries.invalid()] + 0.0
    values, counts = np.unique(scores, return_counts=True)
    cells = means.model.size if options.unpaired else covered.size
    low, high = spec.bounds or (-np.inf, np.inf)
    n = scores.size
    # Not a matrix product: its last bit hangs on where in memory the arrays lie.
    mean = float((values * counts).sum() / n) if n else math.nan
    return InspectedMetric(
        spec=spec,
        n=n,
        minimum=float(values[0]) if n else None,
        maximum=float(values[-1]) if n else None,
        mean=mean if math.isfinite(mean) else None,
        distinct=values.size,
        tied_share=float(counts[counts > 1].sum() / n) if n else 0.0,
        missing=int(cells - np.count_nonzero(~np.isnan(means.values[:, code]))),
        outside_bounds=int(np.count_nonzero((scores < low) | (scores > high))),
        constant=values.size == 1 and n > 1,
    )
