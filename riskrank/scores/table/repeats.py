"""Arrange scores as rows of a complete matrix: reject, merge or keep repeats, then treat gaps."""

from dataclasses import dataclass

import numpy as np

from riskrank.errors import InputError, counted, option
from riskrank.scores.table.missing_scores import resolve_missing
from riskrank.scores.table.oriented_scores import Rows
from riskrank.scores.table.score_counts import unique_inverse
from riskrank.scores.table.scores import Scores

# How several runs become one score, for messages. Scores are oriented: the minimum is the worst.
MERGING = {"mean": "averaged repeats", "min": "used the worst repeat", "max": "used the best repeat"}


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """Numbered records, which are distinct (model, sample) pairs or (model, sample, repeat) triples.

    Attributes
    ----------
    record : ndarray of int64, shape (scores,)
        Record of each score.
    model, sample : ndarray of int64, shape (records,)
        Model and sample of each record.
    """

    record: np.ndarray
    model: np.ndarray
    sample: np.ndarray


def to_rows(scores: Scores, values: np.ndarray) -> tuple[Rows, tuple[str, ...]]:
    """Arrange scores as rows, one per model, sample and repeat, with NaN for missing scores.

    Returns
    -------
    rows : Rows
    notes : tuple of str
        Notes about merged repeats.

    Raises
    ------
    InputError
        If there are repeats and the options do not say how to treat them.
    """
    pairs = _pair_grid(scores)
    n_metrics = len(scores.metrics)
    cell = pairs.record * n_metrics + scores.codes("metric")
    repeated = bool(np.bincount(cell, minlength=1).max() > 1)
    grid = pairs
    if repeated:
        if scores.options.repeats == "error":
            raise _duplicate_error(scores, cell)
        if scores.options.repeats == "draws":
            grid = _repeat_grid(scores, pairs)
            cell = grid.record * n_metrics + scores.codes("metric")
    invalid = scores.invalid_mask()
    blank = cell[invalid]
    if blank.size:
        cell, values = cell[~invalid], values[~invalid]
    notes, n_cells = tuple[str, ...](), grid.model.size * n_metrics
    if repeated and scores.options.repeats in MERGING:
        flat = _merge_repeats(cell, values, n_cells, scores.options.repeats)
        if scores.options.missing != "drop":
            flat[blank] = np.nan
        elif partial := int(np.count_nonzero(~np.isnan(flat[blank]))):
            notes = (f"{MERGING[scores.options.repeats]}, ignoring {partial:,} without a score",)
        if scores.options.repeats != "mean":
            notes += (_run_count_note(cell, scores.options.repeats),)
    else:
        flat = np.full(n_cells, np.nan)
        flat[cell] = values
    return Rows(model=grid.model, sample=grid.sample, values=flat.reshape(-1, n_metrics)), notes


def _pair_grid(scores: Scores) -> _Grid:
    """Number the distinct (model, sample) pairs in sorted order."""
    n_samples = len(scores.samples)
    key = scores.codes("model") * n_samples + scores.codes("sample")
    distinct, record = unique_inverse(key, len(scores.models) * n_samples)
    return _Grid(record=record, model=distinct // n_samples, sample=distinct % n_samples)


def _repeat_grid(scores: Scores, pairs: _Grid) -> _Grid:
    """Number the repeats of each pair; a repeat has one score per metric.

    Raises
    ------
    InputError
        If repeats cannot be matched across metrics, or occur twice.
    """
    if not scores.has_role("draw") and len(scores.metrics) > 1:
        raise _unlinked_error(scores)
    draw = scores.codes("draw" if scores.has_role("draw") else "row")
    n_draws = int(draw.max()) + 1
    distinct, record = np.unique(pairs.record * n_draws + draw, return_inverse=True)
    cell = record * len(scores.metrics) + scores.codes("metric")
    if np.bincount(cell).max() > 1:
        hint = f"remove the duplicates, or average the scores with {option('repeats', 'mean')}"
        raise _repeat_error(scores, cell, "the same repeat occurs twice, with a second score", hint)
    pair = distinct // n_draws
    return _Grid(record=record, model=pairs.model[pair], sample=pairs.sample[pair])


def _merge_repeats(cell: np.ndarray, values: np.ndarray, n_cells: int, rule: str) -> np.ndarray:
    """Return the mean, minimum or maximum score of each cell, whatever the order of rows.

    Parameters
    ----------
    cell : ndarray of int64, shape (n,)
        Cell of each score.
    values : ndarray of float64, shape (n,)
    n_cells : int
    rule : {"mean", "min", "max"}

    Returns
    -------
    ndarray of float64, shape (n_cells,)
        NaN for cells without a score.
    """
    flat = np.full(n_cells, np.nan)
    if not values.size:  # there is no valid score; a later check reports this
        return flat
    order = np.lexsort((values, cell))
    cell, values = cell[order], values[order]
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    stops = np.append(starts[1:], cell.size)
    if rule == "mean":
        merged = np.add.reduceat(values, starts) / (stops - starts)
        # Rounding must not move the mean of equal values away from them, which would break ties.
        merged = np.clip(merged, values[starts], values[stops - 1])
    else:
        merged = values[starts if rule == "min" else stops - 1]
    flat[cell[starts]] = merged
    return flat


def _run_count_note(cell: np.ndarray, rule: str) -> str:
    """Return a warning that the minimum or maximum over runs depends on their number."""
    counts = np.bincount(cell)
    few, many = int(counts[counts > 0].min()), int(counts.max())
    text, passes = {"min": ("worst run worse", "pass^k"), "max": ("best run better", "pass@k")}[rule]
    number = counted(few, "run") if few == many else f"{few:,} to {many:,} runs"
    passes += " (gate, check) does not depend on the number"
    return f"{option('repeats', rule)} of {number}: more runs make the {text}; {passes}"


def _first_duplicate(cell: np.ndarray) -> tuple[int, int, int]:
    """Return the first score that repeats an earlier one.

    Parameters
    ----------
    cell : ndarray of int64, shape (n,)
        Cell of each score.

    Returns
    -------
    earlier, later : int
        Indices of the two scores.
    count : int
        Number of duplicates.
    """
    order = np.argsort(cell, kind="stable")
    later = np.flatnonzero(np.diff(cell[order]) == 0) + 1
    position = later[np.argmin(order[later])]
    return int(order[position - 1]), int(order[position]), int(later.size)


def _duplicate_error(scores: Scores, cell: np.ndarray) -> InputError:
    """Return the error for duplicate scores.

    Parameters
    ----------
    scores : Scores
    cell : ndarray of int64, shape (n,)
        Cell of each score.
    """
    from riskrank.scores.table.unassigned_columns import format_repeats_option, repeats_choice

    mean = option("repeats", "mean")
    hint = f"if the rows are repeats of a sample, average them with {mean}, use the worst or best "
    hint += "with min or max"
    if repeats_choice(scores)[0] == "draws":
        hint += f", or keep them as repeats with {option('repeats', 'draws')}"
    if scores.notes.draw_column:
        hint = f"a column numbers the runs: {format_repeats_option(scores)} them, min uses the worst"
    if not scores.notes.has_samples:
        hint = f"if a column names the samples, {option('columns', 'sample=…')}; otherwise {mean}"
    return _repeat_error(scores, cell, "a second score", hint)


def _repeat_error(scores: Scores, cell: np.ndarray, problem: str, otherwise: str) -> InputError:
    """Return the error for a cell with two scores, with their locations and the columns that differ.

    Parameters
    ----------
    scores : Scores
    cell : ndarray of int64, shape (n,)
        Cell of each score.
    problem : str
        Description of the problem.
    otherwise : str
        Hint if no column distinguishes the scores.
    """
    from riskrank.scores.table.unassigned_columns import repeats_choice, repeats_hint

    first, second, count = _first_duplicate(cell)
    hint, readings = repeats_hint(scores)
    suggestions: list[tuple[str, object]] = [("", reading.options) for reading in readings]
    if scores.notes.draw_column and scores.options.repeats == "error":
        suggestions += [("", {"repeats": repeats_choice(scores)[0]})]
    if scores.file_row_column(first)[0] != scores.file_row_column(second)[0]:
        otherwise = (
            "if each file is a task or a run, add a column 'task' or 'draw', or put names in braces into "
            "the paths: 'runs/{model}/{task}.csv'; if a file is a duplicate, remove it"
        )
    problem = f"{scores.location(second)}: {problem} for {scores.cell_name(second)}"
    detail = f"the first score is {scores.relative_location(first, second)}; duplicates in all: {count:,}"
    return InputError(problem, found=detail, hint=hint or otherwise, suggestions=suggestions)


def _unlinked_error(scores: Scores) -> InputError:
    """Return the error for repeats that cannot be matched across metrics."""
    return InputError(
        f"{scores.file_names()}: scores of different metrics cannot be linked to the same repeat",
        found=f"several rows per model and sample, {len(scores.metrics)} metrics, but no draw column",
        hint=f"name the column that numbers the repeats ({option('columns', 'draw=…')}), "
        f"select one {option('metric')}, or use {option('repeats', 'mean')}",
    )


def assemble_rows(scores: Scores, values: np.ndarray) -> tuple[Rows, tuple[str, ...]]:
    """Arrange scores as rows, and treat missing scores.

    Parameters
    ----------
    scores : Scores
        Selected scores; the options `repeats`, `missing` and `unpaired` determine how to treat irregular
        tables.
    values : ndarray of float64, shape (n,)
        The scores, transformed and oriented.

    Returns
    -------
    rows : Rows
    warnings : tuple of str
        Notes about merged and dropped scores.

    Raises
    ------
    InputError
        If there are duplicate rows, different sets of samples or missing cells, unless the options say how to
        treat them.
    """
    rows, notes = to_rows(scores, values)
    rows, warnings = resolve_missing(scores, rows)
    if scores.options.repeats == "draws":
        rows = rows.with_sorted_repeats()
    return rows, (*notes, *warnings)
