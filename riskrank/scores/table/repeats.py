"""Scores laid out as rows of a complete matrix: repeats are refused, merged or kept as draws, then gaps."""

from dataclasses import dataclass

import numpy as np

from riskrank.errors import InputError, counted, option
from riskrank.scores.table.missing_scores import completed
from riskrank.scores.table.oriented_scores import Rows
from riskrank.scores.table.score_counts import numbered
from riskrank.scores.table.scores import Scores

# How several runs become one score, for messages. Scores are oriented by then: the least is the worst.
MERGING = {"mean": "averaged", "min": "took the worst run", "max": "took the best run"}


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Where each score belongs: `record` numbers the distinct (model, sample[, draw]), in sorted order."""

    record: np.ndarray
    model: np.ndarray
    sample: np.ndarray


def laid_out(scores: Scores, values: np.ndarray) -> tuple[Rows, tuple[str, ...]]:
    """Scores as rows, a draw of a model on a sample each, NaN where there is none; and what was merged.

    Raises
    ------
    InputError
        For repeats, unless the options say what to do about them.
    """
    pairs = _pairs(scores)
    n_metrics = len(scores.metrics)
    cell = pairs.record * n_metrics + scores.codes("metric")
    repeated = bool(np.bincount(cell, minlength=1).max() > 1)
    grid = pairs
    if repeated:
        if scores.options.repeats == "error":
            raise _duplicates(scores, cell)
        if scores.options.repeats == "draws":
            grid = _records(scores, pairs)
            cell = grid.record * n_metrics + scores.codes("metric")
    invalid = scores.invalid()
    blank = cell[invalid]
    if blank.size:
        cell, values = cell[~invalid], values[~invalid]
    notes, n_cells = tuple[str, ...](), grid.model.size * n_metrics
    if repeated and scores.options.repeats in MERGING:
        flat = _merge_per_cell(cell, values, n_cells, scores.options.repeats)
        if scores.options.missing != "drop":
            flat[blank] = np.nan
        elif partial := int(np.count_nonzero(~np.isnan(flat[blank]))):
            notes = (f"{MERGING[scores.options.repeats]} without {partial:,} repeats that have no score",)
        if scores.options.repeats != "mean":
            notes += (_of_so_many(cell, scores.options.repeats),)
    else:
        flat = np.full(n_cells, np.nan)
        flat[cell] = values
    return Rows(model=grid.model, sample=grid.sample, values=flat.reshape(-1, n_metrics)), notes


def _pairs(scores: Scores) -> _Grid:
    """Give each (model, sample) pair that occurs a number, in sorted order."""
    n_samples = len(scores.samples)
    key = scores.codes("model") * n_samples + scores.codes("sample")
    distinct, record = numbered(key, len(scores.models) * n_samples)
    return _Grid(record=record, model=distinct // n_samples, sample=distinct % n_samples)


def _records(scores: Scores, pairs: _Grid) -> _Grid:
    """Give each draw of a pair a number; a draw holds one score per metric."""
    if not scores.has("draw") and len(scores.metrics) > 1:
        raise _unlinked_draws(scores)
    draw = scores.codes("draw" if scores.has("draw") else "row")
    n_draws = int(draw.max()) + 1
    distinct, record = np.unique(pairs.record * n_draws + draw, return_inverse=True)
    cell = record * len(scores.metrics) + scores.codes("metric")
    if np.bincount(cell).max() > 1:
        hint = f"remove the duplicates, or average them with {option('repeats', 'mean')}"
        raise _twice(scores, cell, "the same draw occurs twice", hint)
    pair = distinct // n_draws
    return _Grid(record=record, model=pairs.model[pair], sample=pairs.sample[pair])


def _merge_per_cell(cell: np.ndarray, values: np.ndarray, n_cells: int, how: str) -> np.ndarray:
    """Mean, least or largest score of each cell, in sorted order: that of the rows cannot matter."""
    flat = np.full(n_cells, np.nan)
    if not values.size:  # none is a number, which check tells
        return flat
    order = np.lexsort((values, cell))
    cell, values = cell[order], values[order]
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    ends = np.append(starts[1:], cell.size)
    if how == "mean":
        merged = np.add.reduceat(values, starts) / (ends - starts)
        # Rounding must not lift the mean of equal values above them: ties would be lost.
        merged = np.clip(merged, values[starts], values[ends - 1])
    else:
        merged = values[starts if how == "min" else ends - 1]
    flat[cell[starts]] = merged
    return flat


def _of_so_many(cell: np.ndarray, how: str) -> str:
    """Warn that the worst or the best of the runs depends on how many there are."""
    counts = np.bincount(cell)
    few, many = int(counts[counts > 0].min()), int(counts.max())
    told, passes = {"min": ("worst of them worse", "pass^k"), "max": ("best of them better", "pass@k")}[how]
    of = counted(few, "run") if few == many else f"{few:,} to {many:,} runs"
    passes += " (gate, check) does not depend on their number"
    return f"{option('repeats', how)} of {of}: more runs make the {told}; {passes}"


def _first_repeat(cell: np.ndarray) -> tuple[int, int, int]:
    """The first score that repeats an earlier one: (earlier, later, number of repeats)."""
    order = np.argsort(cell, kind="stable")
    again = np.flatnonzero(np.diff(cell[order]) == 0) + 1
    place = again[np.argmin(order[again])]
    return int(order[place - 1]), int(order[place]), int(again.size)


def _duplicates(scores: Scores, cell: np.ndarray) -> InputError:
    """A score that is there twice."""
    from riskrank.scores.table.unassigned_columns import how_runs, taking_runs

    mean = option("repeats", "mean")
    hint = f"if they are runs of the same thing, average them with {mean}, take the worst or the best run "
    hint += "with min or max"
    if how_runs(scores)[0] == "draws":
        hint += f", or keep them as repeated draws with {option('repeats', 'draws')}"
    if scores.notes.draw_column:
        hint = f"a column numbers the runs: {taking_runs(scores)} them, min takes the worst"
    if not scores.notes.has_samples:
        hint = f"if a column names the sample, say so: {option('columns', 'sample=…')}; otherwise {mean}"
    return _twice(scores, cell, "a second score", hint)


def _twice(scores: Scores, cell: np.ndarray, what: str, otherwise: str) -> InputError:
    """What stands in one cell twice: where, and what tells both apart."""
    from riskrank.scores.table.unassigned_columns import hint_for_repeats, how_runs

    first, second, count = _first_repeat(cell)
    hint, readings = hint_for_repeats(scores)
    ways: list[tuple[str, object]] = [("", one.options) for one in readings]
    if scores.notes.draw_column and scores.options.repeats == "error":
        ways += [("", {"repeats": how_runs(scores)[0]})]
    if scores.where(first)[0] != scores.where(second)[0]:
        otherwise = (
            "if files are tasks or runs, a column 'task' or 'draw' says so, or names in braces in their "
            "paths: 'runs/{model}/{task}.csv'; if one is a copy of another, leave it out"
        )
    what = f"{scores.place(second)}: {what} for {scores.cell(second)}"
    found = f"the first score is {scores.near(first, second)}; duplicates in all: {count:,}"
    return InputError(what, found=found, hint=hint or otherwise, ways=ways)


def _unlinked_draws(scores: Scores) -> InputError:
    """Draws of several metrics that nothing links."""
    return InputError(
        f"{scores.files()}: nothing says which scores of different metrics belong to the same draw",
        found=f"several rows per model and sample, {len(scores.metrics)} metrics and no draw column",
        hint=f"name the column that numbers the draws ({option('columns', 'draw=…')}), "
        f"pick one {option('metric')}, or use {option('repeats', 'mean')}",
    )


def assemble(scores: Scores, values: np.ndarray) -> tuple[Rows, tuple[str, ...]]:
    """Arrange scores into rows.

    Parameters
    ----------
    scores : Scores
        What was selected; the options `repeats`, `missing` and `unpaired` say what to do about irregular
        tables.
    values : ndarray of float64, shape (n,)
        The scores, transformed and oriented.

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
    rows, notes = laid_out(scores, values)
    rows, warnings = completed(scores, rows)
    if scores.options.repeats == "draws":
        rows = rows.with_sorted_draws()
    return rows, (*notes, *warnings)
