"""Scores become rows of a complete matrix: repeats merged, gaps refused or dropped, pairing checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, listing, option
from riskrank.scores.table.further_columns import hint_for_repeats
from riskrank.scores.table.incomplete import (
    different_samples,
    duplicates,
    first_repeat,
    lacking_scores,
    missing_cells,
    unlinked_draws,
)
from riskrank.scores.table.rows import Rows
from riskrank.scores.table.scores import Scores

# A dense (models × samples) table is built while it is at most this many times larger than the scores.
_DENSE = 4

# How several runs become one score, for messages. Scores are oriented by then: the least is the worst.
_MERGED = {"mean": "averaged", "min": "took the worst run", "max": "took the best run"}


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Where each entry belongs: `record` numbers the distinct (model, sample[, draw]), in sorted order."""

    record: np.ndarray
    model: np.ndarray
    sample: np.ndarray

    @property
    def size(self) -> int:
        return self.model.size


def assemble(scores: Scores, values: np.ndarray, options: ReadOptions) -> tuple[Rows, tuple[str, ...]]:
    """Arrange scores into rows.

    Parameters
    ----------
    scores : Scores
        What was selected.
    values : ndarray of float64, shape (n,)
        The scores, transformed and oriented.
    options : ReadOptions
        `repeats`, `missing` and `unpaired` say what to do about irregular tables.

    Returns
    -------
    rows : Rows
    warnings : tuple of str
        What was dropped.

    Raises
    ------
    InputError
        For duplicate rows, different sample sets or missing cells, unless the options say what to do.
    """
    pairs = _pairs(scores)
    n_metrics = len(scores.metrics)
    cell = pairs.record * n_metrics + scores.codes("metric")
    repeated = bool(np.bincount(cell, minlength=1).max() > 1)
    grid = pairs
    if repeated:
        if options.repeats == "error":
            raise duplicates(scores, cell, options)
        if options.repeats == "draws":
            grid = _records(scores, pairs, options)
            cell = grid.record * n_metrics + scores.codes("metric")
    invalid = scores.invalid()
    blank = cell[invalid]
    if blank.size:
        cell, values = cell[~invalid], values[~invalid]
    notes: tuple[str, ...] = ()
    if repeated and options.repeats in _MERGED:
        flat = _merge_per_cell(cell, values, grid.size * n_metrics, options.repeats)
        if options.missing != "drop":
            flat[blank] = np.nan
        elif partial := int(np.count_nonzero(~np.isnan(flat[blank]))):
            notes = (f"{_MERGED[options.repeats]} without {partial:,} repeats that have no score",)
        if options.repeats != "mean":
            notes += _unequal_runs(cell, grid, n_metrics, options)
    else:
        flat = np.full(grid.size * n_metrics, np.nan)
        flat[cell] = values
    rows = Rows(model=grid.model, sample=grid.sample, values=flat.reshape(grid.size, n_metrics))
    rows, warnings = _complete(scores, rows, options)
    if grid is not pairs:
        keys = [rows.values[:, metric] for metric in reversed(range(n_metrics))]
        rows = rows.take(np.lexsort([*keys, rows.sample, rows.model]))
    return rows, (*notes, *warnings)


def _pairs(scores: Scores) -> _Grid:
    """Give each (model, sample) pair that occurs a number, in sorted order."""
    n_samples = len(scores.samples)
    key = scores.codes("model") * n_samples + scores.codes("sample")
    possible = len(scores.models) * n_samples
    if possible <= _DENSE * key.size:
        present = np.zeros(possible, dtype=bool)
        present[key] = True
        distinct = np.flatnonzero(present)
        record = key if distinct.size == possible else (np.cumsum(present) - 1)[key]
    else:
        distinct, record = np.unique(key, return_inverse=True)
    return _Grid(record=record, model=distinct // n_samples, sample=distinct % n_samples)


def _records(scores: Scores, pairs: _Grid, options: ReadOptions) -> _Grid:
    """Give each draw of a pair a number; a draw holds one score per metric."""
    if not scores.has("draw") and len(scores.metrics) > 1:
        raise unlinked_draws(scores)
    draw = scores.codes("draw" if scores.has("draw") else "row")
    n_draws = int(draw.max()) + 1
    distinct, record = np.unique(pairs.record * n_draws + draw, return_inverse=True)
    cell = record * len(scores.metrics) + scores.codes("metric")
    first, second, count = first_repeat(cell)
    if count:
        raise InputError(
            f"{scores.place(second)}: the same draw occurs twice for {scores.cell(second)}",
            found=f"the first score is {scores.near(first, second)}; duplicates in all: {count:,}",
            hint=hint_for_repeats(scores, options)
            or f"remove the duplicates, or average them with {option('repeats', 'mean')}",
        )
    pair = distinct // n_draws
    return _Grid(record=record, model=pairs.model[pair], sample=pairs.sample[pair])


def _merge_per_cell(cell: np.ndarray, values: np.ndarray, n_cells: int, how: str) -> np.ndarray:
    """Mean, least or largest score of each cell, in sorted order: that of the rows cannot matter."""
    order = np.lexsort((values, cell))
    cell, values = cell[order], values[order]
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    ends = np.append(starts[1:], cell.size)
    flat = np.full(n_cells, np.nan)
    if how == "mean":
        merged = np.add.reduceat(values, starts) / (ends - starts) if starts.size else starts.astype(float)
        # Rounding must not lift the mean of equal values above them: ties would be lost.
        merged = np.clip(merged, values[starts], values[ends - 1])
    else:
        merged = values[starts if how == "min" else ends - 1]
    flat[cell[starts]] = merged
    return flat


def _unequal_runs(cell: np.ndarray, grid: _Grid, n_metrics: int, options: ReadOptions) -> tuple[str, ...]:
    """Warn where the worst or the best of many runs is compared with that of few."""
    counts = np.bincount(cell, minlength=grid.size * n_metrics).reshape(grid.size, n_metrics)
    # Models that share samples only have to agree on each sample.
    group = np.zeros(grid.size, dtype=np.int64) if options.unpaired else grid.sample
    most = np.zeros((int(group.max()) + 1, n_metrics), dtype=np.int64)
    least = np.full_like(most, np.iinfo(np.int64).max)
    np.maximum.at(most, group, counts)
    np.minimum.at(least, group, np.where(counts, counts, least[0, 0]))
    if np.all((least == most) | (most == 0)):
        return ()
    worst = options.repeats == "min"
    return (
        f"the models have {int(counts[counts > 0].min()):,} to {int(counts.max()):,} runs a sample: more "
        f"runs make the {'worst' if worst else 'best'} of them {'worse' if worst else 'better'}",
    )


def _complete(scores: Scores, rows: Rows, options: ReadOptions) -> tuple[Rows, tuple[str, ...]]:
    """Refuse, drop or keep what is missing."""
    gaps = np.isnan(rows.values).any(axis=1)
    if options.missing == "drop":
        return _drop(scores, rows, gaps, options)
    irregular = not options.unpaired and _absent(scores, rows) > 0
    if options.missing == "keep":
        return (_with_empty_rows(rows, _covered(scores, rows)) if irregular else rows), ()
    if irregular:
        raise different_samples(scores, _covered(scores, rows), options)
    _require_every_model(scores, rows.model)
    if gaps.any():
        raise missing_cells(scores, rows, gaps)
    return rows, ()


def _pair_starts(rows: Rows) -> np.ndarray:
    """A mask of the rows that begin a new (model, sample) pair."""
    starts = np.ones(rows.model.size, dtype=bool)
    starts[1:] = (np.diff(rows.model) != 0) | (np.diff(rows.sample) != 0)
    return starts


def _absent(scores: Scores, rows: Rows) -> int:
    return len(scores.models) * len(scores.samples) - int(np.count_nonzero(_pair_starts(rows)))


def _covered(scores: Scores, rows: Rows) -> np.ndarray:
    covered = np.zeros((len(scores.models), len(scores.samples)), dtype=bool)
    covered[rows.model, rows.sample] = True
    return covered


def _with_empty_rows(rows: Rows, covered: np.ndarray) -> Rows:
    absent = np.argwhere(~covered)
    model = np.concatenate([rows.model, absent[:, 0]])
    sample = np.concatenate([rows.sample, absent[:, 1]])
    empty = np.full((len(absent), rows.values.shape[1]), np.nan)
    joined = Rows(model=model, sample=sample, values=np.concatenate([rows.values, empty]))
    return joined.take(np.lexsort((sample, model)))


def _drop(scores: Scores, rows: Rows, gaps: np.ndarray, options: ReadOptions) -> tuple[Rows, tuple[str, ...]]:
    """Leave out incomplete draws, then what has no complete draw: the sample for all, or for one model."""
    starts = _pair_starts(rows)
    pair = np.cumsum(starts) - 1
    model, sample = rows.model[starts], rows.sample[starts]
    good = np.zeros(model.size, dtype=bool)
    good[pair[~gaps]] = True
    warnings = []
    if options.unpaired:
        had = np.bincount(model, minlength=len(scores.models))
        lost = np.bincount(model[~good], minlength=len(scores.models))
        texts = [
            f"{gone:,} of {all_:,} samples of {name}"
            for name, all_, gone in zip(scores.models, had, lost, strict=True)
            if gone
        ]
        if texts:
            warnings.append(f"dropped {listing(texts)}: they lack a score for some metric")
    else:
        whole = np.bincount(sample[good], minlength=len(scores.samples)) == len(scores.models)
        good &= whole[sample]
        without = int(np.count_nonzero(~whole))
        if without:
            warnings.append(
                f"dropped {without:,} of {whole.size:,} samples: they lack a score for some model or metric"
            )
    draws = int(np.count_nonzero(gaps & good[pair]))
    if draws:
        warnings.append(f"dropped {draws:,} draws that lack a score for some metric")
    remaining = rows.take(good[pair] & ~gaps)
    _require_every_model(scores, remaining.model)
    return remaining, tuple(warnings)


def _require_every_model(scores: Scores, model: np.ndarray) -> None:
    counts = np.bincount(model, minlength=len(scores.models))
    empty = [name for name, count in zip(scores.models, counts, strict=True) if count == 0]
    if not empty:
        return
    if len(empty) == len(scores.models):
        what = f"{scores.files()}: no sample has a score for every selected model and metric"
    else:
        what = f"{scores.files()}: nothing is left of model{'s' if len(empty) > 1 else ''} {listing(empty)}"
    lacking = lacking_scores(scores)
    raise InputError(
        what,
        found=lacking or f"{len(scores.samples):,} samples, none of them complete",
        hint="select models and metrics that have scores in common, with "
        f"{option('models')} and {option('metric')}",
    )
