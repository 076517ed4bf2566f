"""Order of samples in time, from columns of dates or numbers (method §14)."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.engine.sampling.dependence import (
    MIN_BLOCKS,
    cosine_count,
    is_autocorrelated,
    series_blocks,
    series_sample_size,
)
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, listing, option
from riskrank.options.reading import NO_COLUMN
from riskrank.options.values import misplaced_option
from riskrank.scores.names.vocabulary import may_name_samples
from riskrank.scores.table.columns import option_columns
from riskrank.scores.table.oriented_scores import ScoreTable
from riskrank.scores.table.scores import Scores, recode
from riskrank.scores.table.typed_rows import categories
from riskrank.scores.table.unassigned_columns import is_sorted_by_group

# Names of sample columns whose numbers are times.
_TIME_COLUMN = re.compile(
    r"(?:date|day|week|month|year|hour|minute|time|timestamp|datetime)(?:[ _.-](?:id|no|utc|index))?", re.I
)
# Unambiguous dates; other formats may be sample names.
_DATE = re.compile(r"(?:19|20)\d\d([-/.])(?:\d\d?\1\d\d?|W\d\d)(?:[T ]\d\d:?\d\d.*)?|(?:19|20)\d\d-\d\d")
_DAY = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{4}(?:[T ]\d\d:\d\d.*)?")
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d")
_HOURS = ("%H:%M:%S%.f", "%H:%M")
_FORMATS = (
    *_DAYS,
    *_HOURS,
    *(f"{day}{between}{hour}" for day in _DAYS for between in "T " for hour in _HOURS),
    *(f"%Y-%m-%d{between}%H:%M:%S%.f{zone}" for between in "T " for zone in ("Z", "%z", "%#z")),
)

# Autocorrelation is only checked in tables of at most this many rows.
_MAX_ROWS = 5_000_000


def order_by_time(scores: Scores) -> tuple[Scores, str]:
    """Number samples, or their clusters, in chronological order.

    Returns
    -------
    scores : Scores
    by : str
        The time column; empty if none is named and the samples are not dates.

    Raises
    ------
    InputError
        If times cannot be parsed, or several samples have the same time.
    UsageError
        If an order in time is incompatible with the other options.
    """
    choice, column = scores.options.time, scores.notes.files[0].roles.sample or ""
    column = option_columns(scores.options).get("sample", column)
    timed = scores.has_role("time")
    needs_order = choice or scores.options.tests or scores.options.weighs_tasks
    if choice == NO_COLUMN or not scores.notes.has_samples or not needs_order:
        return scores, ""
    if not timed and (
        (choice is None and not _are_dates(scores.samples, column)) or scores.has_role("cluster")
    ):
        return scores, ""
    if scores.options.unpaired or scores.has_role("task") or scores.options.corrects_judge:
        if choice is None:
            return scores, ""
        problem = f"{option('time', choice)} needs the same samples for all models and no tasks"
        conflict = "models with different samples" if scores.options.unpaired else "tasks or human labels"
        raise misplaced_option(problem, conflict, "time", f", or pool the tasks: {option('task', 'none')}")
    unit = "cluster" if scores.has_role("cluster") else "sample"
    role = "time" if timed else "sample"
    times = _read_times(categories(scores.frame[role]), choice or column)
    of_unit = np.full(len(scores.names(unit)), np.inf)
    np.minimum.at(of_unit, scores.codes(unit), times[scores.codes(role)])
    first, counts = np.unique(of_unit, return_counts=True)
    if (counts > 1).any():
        both = [scores.names(unit)[at] for at in np.flatnonzero(of_unit == first[counts.argmax()])]
        raise InputError(
            f"{option('time', choice or column)}: {unit}s {both[0]} and {both[1]} have the same time",
            found=f"{int((counts > 1).sum())} times with several {unit}s",
            hint=f"treat samples with the same time as a cluster: {option('cluster', choice or column)}",
        )
    ordered = [scores.names(unit)[at] for at in np.argsort(of_unit, kind="stable")]
    frame = scores.frame.with_columns(recode(scores.frame[unit], ordered))
    return replace(scores, frame=frame), choice or column


def _are_dates(samples: Sequence[str], column: str) -> bool:
    """Return True if sample names are dates, or numbers in a time column."""
    if len(samples) < 2 or not samples[0]:
        return False
    if all(_DATE.fullmatch(name) for name in samples):
        return True
    # With the year last, day and month must be unambiguous.
    numbered = _TIME_COLUMN.fullmatch(column) or all(_DAY.fullmatch(name) for name in samples)
    return bool(numbered) and _parse_times(pl.Series(samples)) is not None


def _read_times(names: pl.Series, column: str) -> Floats:
    """Convert times to numbers.

    Raises
    ------
    InputError
        If they cannot be parsed.
    """
    times = _parse_times(names)
    if times is None:
        none = option("time", NO_COLUMN)
        hint = f"name a column of numbers or of dates such as 2026-01-31, or ignore the order: {none}"
        raise InputError(f"{option('time', column)} has no times", found=listing(names.head(3)), hint=hint)
    return times


def _parse_times(names: pl.Series) -> Floats | None:
    """Parse times, or return None if they cannot be parsed.

    Times may be numbers, or dates in a single unambiguous format.
    """
    numbers = names.cast(pl.Float64, strict=False)
    if numbers.null_count() == 0 and numbers.is_finite().all():
        return numbers.to_numpy()
    weeks = names.str.extract_groups(r"^(\d{4})-W(\d\d)$").struct.unnest()
    if weeks["1"].null_count() == 0:
        return (weeks["1"].cast(pl.Float64) * 100 + weeks["2"].cast(pl.Float64)).to_numpy()
    if names.str.contains(r"^\d{4}-\d\d$").all():
        names = names + "-01"
    fitting = []
    for form in _FORMATS:
        kind = pl.Time if form.startswith("%H") else pl.Datetime("us")
        try:
            times = names.str.strptime(kind, form, strict=False)
        except pl.exceptions.PolarsError:
            continue
        if times.null_count() == 0:
            fitting.append(times.dt.replace_time_zone(None) if times.dtype == pl.Datetime else times)
    # 3/4/2026 is ambiguous: March or April.
    if not fitting or any(not series.equals(fitting[0]) for series in fitting[1:]):
        return None
    return fitting[0].cast(pl.Float64).to_numpy()


def add_blocks(table: ScoreTable, by: str) -> ScoreTable:
    """Define resampling blocks of consecutive samples, with a length chosen from the autocorrelation.

    Parameters
    ----------
    table : ScoreTable
        Its samples or clusters are numbered in chronological order.
    by : str
        The time column.

    Raises
    ------
    InputError
        If the autocorrelation leaves too few blocks for a test.
    """
    unit, column = "samples" if table.cluster_names is None else "clusters", by.partition(",")[0]
    count = int(table.clusters[0].max()) + 1
    n_cosines = min(int(cosine_count(row).min()) for row in residuals(table))
    block = series_blocks(count, max(n_cosines, 1))
    blocks = int(block[-1]) + 1
    if table.options.tests and blocks < MIN_BLOCKS:
        raise InputError(
            f"the {count} {unit} are too autocorrelated in order of {column} for a test",
            found=f"{blocks} blocks of {int((block == 0).sum())} {unit}; a test needs {MIN_BLOCKS}",
            hint=f"score more {unit}: autocorrelated scores add little information",
        )
    note = (
        f"{count} {unit} in order of {by}, resampled as {blocks} blocks of neighbours; if the order is "
        f"irrelevant: {option('time', NO_COLUMN)}"
    )
    return replace(
        table,
        units=table.clusters,
        clusters=tuple(block[codes] for codes in table.clusters),
        cluster_names=tuple(f"block {number + 1}" for number in range(blocks)),
        warnings=(*table.warnings, note),
    )


def residuals(table: ScoreTable) -> list[Floats]:
    """Return the scores of each unit relative to the other model, or to the mean over several models.

    Returns
    -------
    list of ndarray, one per metric
        Each of shape (1, units) for two models, otherwise (models, units).
    """
    differences = []
    for at in range(len(table.metrics)):
        means = np.array([unit_scores(*pair) for pair in zip(table.column(at), table.clusters, strict=True)])
        differences.append(means[:1] - means[1:] if len(means) == 2 else means - means.mean(axis=0))
    return differences


def unit_scores(values: Floats, units: Integers) -> Floats:
    """Return the contribution of each unit to a model's mean, with shape (units,).

    The mean of the contributions is the mean of all scores.

    Parameters
    ----------
    values : ndarray of float64, shape (rows,)
        Scores of the model on one metric.
    units : ndarray of int64, shape (rows,)
        Sample or cluster of each score.
    """
    mean, count = float(values.mean()), int(units.max()) + 1
    return np.asarray(mean + np.bincount(units, values - mean) * count / values.size)


def autocorrelation_note(scores: Scores, table: ScoreTable) -> str:
    """Return a warning if the scores are autocorrelated in file order, otherwise an empty string."""
    options = scores.options
    judged = options.corrects_judge or options.missing == "keep" or table.folds is not None
    settled = options.time is not None or options.unpaired or scores.has_role("cluster") or judged
    if settled or not options.tests or table.rows > _MAX_ROWS or len(table.models) < 2:
        return ""
    first = np.full(len(scores.samples), scores.frame.height, dtype=np.int64)
    np.minimum.at(first, scores.codes("sample"), scores.frame["row"].to_numpy().astype(np.int64))
    codes = pl.Series(table.samples, dtype=pl.String).cast(pl.Enum(scores.samples)).to_physical().to_numpy()
    order = np.argsort(first[codes], kind="stable")
    for at, metric in enumerate(table.metrics):
        # Scaling by a power of two is exact and prevents overflow in sums of large scores.
        exponent = max(int(np.frexp(np.abs(values).max())[1]) for values in table.column(at))
        scaled = [np.ldexp(values, -exponent) for values in table.column(at)]
        means = np.array([unit_scores(*pair)[order] for pair in zip(scaled, table.row_samples, strict=True)])
        of_task = table.suite.of_sample[order] if table.suite else None
        if not is_autocorrelated(means, of_task):
            continue
        k, n = means.shape
        pairs = [means[i] - means[j] for i in range(k) for j in range(i)]
        effective = min(series_sample_size(pair) for pair in pairs[:200] if np.ptp(pair) > 0)
        rounded = max(1, int(float(f"{effective:.2g}")))
        if rounded < n:
            return (
                f"{metric.name} is autocorrelated in file order: the effective sample size of {n:,} samples "
                f"is about {rounded:,}. Ordered in time? {option('time', 'COL')}. Sorted by topic? "
                f"{option('cluster', 'COL')} or {option('task', 'COL')}. Neither: {option('time', NO_COLUMN)}"
            )
    return ""


def order_by_step(scores: Scores) -> Scores | None:
    """Order samples by number if consecutive names in the file suggest the steps of a series.

    Return None if the column name suggests independent samples, such as questions, or if the file is sorted
    by another column.
    """
    column = option_columns(scores.options).get("sample", scores.notes.files[0].roles.sample) or ""
    names = scores.frame.sort("row")["sample"].cast(pl.String).unique(maintain_order=True)
    steps = names.cast(pl.Int64, strict=False).diff()[1:]
    series = column and not may_name_samples(column) and not scores.has_role("task")
    if not series or not steps.eq_missing(1).all() or is_sorted_by_group(scores):
        return None
    return scores.with_options(time=column)
