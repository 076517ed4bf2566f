"""Counts of each model's scores, and reasons for missing ones."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans, Integers
from riskrank.scores.files.parsing import ABSENT, UNSCORED
from riskrank.scores.files.source import Source
from riskrank.scores.names.vocabulary import has_word
from riskrank.scores.table.scores import Scores

# Dense tables are used if they have at most this many times the cells that occur.
MAX_SPARSITY = 4


@dataclass(frozen=True, kw_only=True)
class ScoreCount:
    """Number of scores of one model on one metric; repeats of a sample count separately.

    Attributes
    ----------
    model, metric : str
    scored, total : int
        Number of scores, and number of rows with or without a score.
    why : mapping of str to int
        Number of missing scores by reason; the counts may not add up if some reasons are unknown.
    """

    model: str
    metric: str
    scored: int
    total: int
    why: Mapping[str, int]

    @property
    def missing(self) -> int:
        """Number of missing scores."""
        return self.total - self.scored

    @property
    def is_absent(self) -> bool:
        """True if there are neither scores nor rows that state a reason for missing ones."""
        return not self.scored and self.why.get(ABSENT) == self.total

    @property
    def summary(self) -> str:
        """Scored and total numbers with reasons, such as "108 of 120 (9 errors, 3 refusals)"."""
        reasons = f" ({_format_reasons(self.why)})" if self.why else ""
        return f"{self.scored:,} of {self.total:,}{reasons}"


def score_counts(scores: Scores) -> tuple[ScoreCount, ...]:
    """Return the number of scores and the reasons for missing ones, for every model and metric.

    Return an empty tuple if no scores are missing.
    """
    cells = len(scores.models) * len(scores.samples) * len(scores.metrics)
    blank = scores.invalid_mask()
    plain = scores.frame.height == cells and scores.options.repeats == "error"
    if not scores.notes.has_samples or (plain and not blank.any()):
        return ()
    absent = np.zeros((len(scores.models), len(scores.metrics)), dtype=np.int64)
    if not scores.options.unpaired:
        lacking_cells = absent_cells(scores)
        absent = crosstab(lacking_cells[:, 0], lacking_cells[:, 2], absent.shape)
    if not blank.any() and not absent.any():
        return ()
    model, metric = scores.codes("model"), scores.codes("metric")
    rows = crosstab(model, metric, absent.shape)
    lacking = crosstab(model[blank], metric[blank], absent.shape)
    reasons: dict[tuple[int, int], Counter[str]] = {}
    for row, reason in _row_reasons(scores, blank):
        reasons.setdefault((int(model[row]), int(metric[row])), Counter())[reason] += 1
    return tuple(
        ScoreCount(
            model=scores.models[i],
            metric=scores.metrics[j],
            scored=int(rows[i, j] - lacking[i, j]),
            total=int(rows[i, j] + absent[i, j]),
            why=dict(sorted(reasons.get((i, j), {}).items()))
            | ({ABSENT: int(absent[i, j])} if absent[i, j] else {}),
        )
        for i, j in np.argwhere(rows + absent).tolist()
    )


def unique_inverse(keys: Integers, possible: int) -> tuple[Integers, Integers]:
    """Return the distinct keys in sorted order, and the index of each key among them.

    Parameters
    ----------
    keys : ndarray of int
        Non-negative numbers less than `possible`. If they are dense, they are counted instead of sorted.
    possible : int
        Number of possible keys.
    """
    if possible > MAX_SPARSITY * keys.size:
        return np.unique(keys, return_inverse=True)
    used = np.zeros(possible, dtype=bool)
    used[keys] = True
    distinct = np.flatnonzero(used)
    return distinct, keys if distinct.size == possible else (np.cumsum(used) - 1)[keys]


def absent_cells(scores: Scores) -> Integers:
    """Return the cells without a row.

    A cell is expected to have a row if another model has one for the same sample and metric.

    Returns
    -------
    ndarray of int64, shape (n, 3)
        Model, sample and metric of each cell; sorted.
    """
    model, metrics = scores.codes("model"), len(scores.metrics)
    keys = scores.codes("sample") * metrics + scores.codes("metric")
    n_keys = len(scores.samples) * metrics
    # If each metric has few samples, a table of all cells is mostly empty and may not fit into memory.
    if len(scores.models) * n_keys <= MAX_SPARSITY * keys.size:
        present = np.zeros((len(scores.models), n_keys), dtype=bool)
        present[model, keys] = True
        models, missing = np.nonzero(np.any(present, axis=0) & ~present)
    else:
        distinct, keys = np.unique(keys, return_inverse=True)
        lacking = [
            np.flatnonzero(np.bincount(keys[model == at], minlength=distinct.size) == 0)
            for at in range(len(scores.models))
        ]
        models = np.repeat(np.arange(len(lacking)), [len(part) for part in lacking])
        missing = distinct[np.concatenate(lacking)]
    return np.stack([models, missing // metrics, missing % metrics], axis=1).astype(np.int64)


def status_columns(scores: Scores) -> Iterator[tuple[str, pl.Series]]:
    """Yield the name and values of each column that states how runs ended.

    Only columns that all files have are included.
    """
    files = scores.notes.files
    shared = set.intersection(*(set(file.source.columns) for file in files))
    for name in (col for col in files[0].source.columns if col in shared and has_word(col, "status")):
        if name in files[0].roles.values and name in scores.metrics:
            continue
        texts = pl.concat([file.source.load([name])[name].cast(pl.String, strict=False) for file in files])
        if texts.len() == scores.notes.rows:
            yield name, texts.fill_null("")


def describe_missing(scores: Scores, count: int) -> str:
    """Describe the reasons for missing scores with their counts, summed over models and metrics.

    Parameters
    ----------
    scores : Scores
    count : int
        Number of missing scores; if more reasons are known, they are counted by run.
    """
    reasons: Counter[str] = Counter()
    for entry in score_counts(scores):
        reasons.update(entry.why)
    del reasons[ABSENT]
    text = _format_reasons(reasons)
    return f"by run {text}" if reasons.total() > count else text


def _format_reasons(reasons: Mapping[str, int]) -> str:
    """Format reasons with their counts: 9 errors, 3 refusals."""
    return ", ".join(
        f"{count:,} {reason}{'s' * (count != 1 and reason != ABSENT)}"
        for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    )


def crosstab(rows: Integers, columns: Integers, shape: tuple[int, ...]) -> Integers:
    """Return the contingency table of two variables that are given as codes.

    Parameters
    ----------
    rows, columns : ndarray of int64, shape (n,)
        Codes of both variables.
    shape : (int, int)
        Shape of the result.
    """
    table: Integers = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)
    return table


def _row_reasons(scores: Scores, blank: Booleans) -> Iterator[tuple[int, str]]:
    """Yield the index of each row whose file states why the score is missing, with the reason."""
    files, starts = scores.notes.files, np.array([file.start for file in scores.notes.files])
    rows = scores.frame["row"].to_numpy().astype(np.int64)
    inside = np.searchsorted(starts, rows, side="right") - 1
    columns = [_reason_column(file.source) for file in files]
    has_reasons = np.array([column is not None for column in columns])
    for position in np.flatnonzero(blank & has_reasons[inside]).tolist():
        at = inside[position]
        reason = (columns[at][int(rows[position] - starts[at])] or "").strip()
        # Reasons contain letters; numbers are another column of the same name.
        if any(map(str.isalpha, reason)):
            yield position, reason


def _reason_column(source: Source) -> pl.Series | None:
    """Return the text column with reasons for missing scores, or None."""
    column = source.load([UNSCORED])[UNSCORED] if UNSCORED in source.columns else None
    return column if column is not None and column.dtype == pl.String else None
