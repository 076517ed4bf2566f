"""Samples in the order of time: dates and numbers that say when each was scored (method §14)."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from riskrank.engine.evidence.series import (
    FEWEST_BLOCKS,
    FEWEST_FOR_MEANS,
    blocks_in_order,
    cosines_of,
    worth_in_order,
)
from riskrank.engine.sampling.autocorrelation import neighbours_alike
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, listing, option
from riskrank.options.baseline import GateReading
from riskrank.options.judges import NO_COLUMN
from riskrank.options.values import out_of_place
from riskrank.scores.names.vocabulary import may_name_samples
from riskrank.scores.table.columns import named_roles
from riskrank.scores.table.oriented_scores import ScoreTable
from riskrank.scores.table.scores import Scores, renamed
from riskrank.scores.table.typed_rows import list_of
from riskrank.scores.table.unassigned_columns import sorted_by

# Names of columns whose numbers are times, where the samples are named by them.
_TIMES = re.compile(
    r"(?:date|day|week|month|year|hour|minute|time|timestamp|datetime)(?:[ _.-](?:id|no|utc|index))?", re.I
)
# What a date looks like; others may be names.
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

# Neighbours are looked at of so many rows at most.
_MOST_ROWS = 5_000_000


def in_time(scores: Scores) -> tuple[Scores, str]:
    """Scores whose samples, or the clusters of them, are numbered in the order of time; and by what.

    Returns
    -------
    scores : Scores
    by : str
        The column of times, and how many lack; empty where nobody named one and samples are no dates.

    Raises
    ------
    InputError
        If times cannot be read as such, or are those of several samples.
    UsageError
        If the order says nothing of what is asked.
    """
    asked, column = scores.options.time, scores.notes.files[0].roles.sample or ""
    column = named_roles(scores.options).get("sample", column)
    named = scores.has("time")
    looks = asked or scores.options.tests or scores.options.weighs_tasks
    if asked == NO_COLUMN or not scores.notes.has_samples or not looks:
        return scores, ""
    if not named and ((asked is None and not _are_dates(scores.samples, column)) or scores.has("cluster")):
        return scores, ""
    if scores.options.unpaired or scores.has("task") or scores.options.corrects_judge:
        if asked is None:
            return scores, ""
        what = f"{option('time', asked)} orders samples that all models share"
        found = "models with samples of their own" if scores.options.unpaired else "tasks or labels beside"
        raise out_of_place(what, found, "time", f", or pool the tasks: {option('task', 'none')}")
    unit = "cluster" if scores.has("cluster") else "sample"
    role = "time" if named else "sample"
    when = _as_numbers(list_of(scores.frame[role]), asked or column)
    of_unit = np.full(len(scores.names(unit)), np.inf)
    np.minimum.at(of_unit, scores.codes(unit), when[scores.codes(role)])
    first, counts = np.unique(of_unit, return_counts=True)
    if (counts > 1).any():
        both = [scores.names(unit)[at] for at in np.flatnonzero(of_unit == first[counts.argmax()])]
        raise InputError(
            f"{option('time', asked or column)}: {unit}s {both[0]} and {both[1]} are of the same time",
            found=f"{int((counts > 1).sum())} times of several {unit}s",
            hint=f"say that samples of one time belong together: {option('cluster', asked or column)}",
        )
    ordered = [scores.names(unit)[at] for at in np.argsort(of_unit, kind="stable")]
    frame = scores.frame.with_columns(renamed(scores.frame[unit], ordered))
    return replace(scores, frame=frame), asked or column


def _are_dates(samples: Sequence[str], column: str) -> bool:
    """Whether names of samples are dates, or numbers in a column of times."""
    if len(samples) < 2 or not samples[0]:
        return False
    if all(_DATE.fullmatch(name) for name in samples):
        return True
    # Days with the year last have to be written in one way alone.
    numbered = _TIMES.fullmatch(column) or all(_DAY.fullmatch(name) for name in samples)
    return bool(numbered) and _parsed(pl.Series(samples)) is not None


def _as_numbers(names: pl.Series, column: str) -> Floats:
    found = _parsed(names)
    if found is None:
        none = option("time", NO_COLUMN)
        hint = f"name a column of numbers or of dates as 2026-01-31, or leave it out: {none}"
        raise InputError(f"{option('time', column)} holds no times", found=listing(names.head(3)), hint=hint)
    return found


def _parsed(names: pl.Series) -> Floats | None:
    """Times as numbers: numbers themselves, or dates of one way of writing that all of them fit."""
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
    # 3/4/2026 may be in March or in April.
    if not fitting or any(not one.equals(fitting[0]) for one in fitting[1:]):
        return None
    return fitting[0].cast(pl.Float64).to_numpy()


def in_blocks(table: ScoreTable, by: str) -> ScoreTable:
    """Let consecutive samples that are alike be drawn together, as many as the order of time asks for.

    Parameters
    ----------
    table : ScoreTable
        Whose samples, or clusters, are numbered in the order of time.
    by : str
        The column of times, and what lacks there.

    Raises
    ------
    InputError
        If neighbours are so alike that next to nothing is left to test.
    """
    unit, column = "samples" if table.cluster_names is None else "clusters", by.partition(",")[0]
    count = int(table.clusters[0].max()) + 1
    found = min(int(cosines_of(row).min()) for row in residuals(table))
    block = blocks_in_order(count, max(found, 1))
    blocks = int(block[-1]) + 1
    few, gate = blocks < FEWEST_FOR_MEANS, isinstance(table.options, GateReading)
    if table.options.tests and (few or (blocks < FEWEST_BLOCKS and not gate)):
        raise InputError(
            f"in the order of {column} neighbours are so alike that {count} {unit} are too few for a test",
            found=f"{blocks} blocks of {int((block == 0).sum())} {unit}, where a test takes {FEWEST_BLOCKS}",
            hint=f"score more of them{'' if few or gate else ', or see within which span the mean may lie'}: "
            "neighbours that are so alike say next to nothing beside each other",
            ways=() if few or gate else _gates(table),
        )
    note = (
        f"{count} {unit} in the order of {by}: what is drawn are {blocks} blocks of neighbours; if their "
        f"order means nothing: {option('time', NO_COLUMN)}"
    )
    return replace(
        table,
        units=table.clusters,
        clusters=tuple(block[own] for own in table.clusters),
        cluster_names=tuple(f"block {number + 1}" for number in range(blocks)),
        warnings=(*table.warnings, note),
    )


def _gates(table: ScoreTable) -> list[tuple[str, object]]:
    """The gate that asks whether the model with the best mean is better than each other."""
    means = [float(values[:, 0].mean()) for values in table.values]
    best = table.models[int(np.argmax(means))]
    claims = [option("better", f"{best}:{other}") for other in table.models if other != best]
    spec = table.metrics[0]
    way = option("lower", spec.name) if spec.direction == "lower" and not spec.declared else ""
    return [(" ".join(filter(None, ["gate", *claims, way])), None)]


def residuals(table: ScoreTable) -> list[Floats]:
    """Of every metric what models differ in by unit: of two from each other, of more from their mean."""
    found = []
    for at in range(len(table.metrics)):
        means = np.array([unit_scores(*one) for one in zip(table.column(at), table.clusters, strict=True)])
        found.append(means[:1] - means[1:] if len(means) == 2 else means - means.mean(axis=0))
    return found


def unit_scores(values: Floats, units: Integers) -> Floats:
    """What every unit adds to a model's mean; their own mean is that of all scores."""
    mean, count = float(values.mean()), int(units.max()) + 1
    return np.asarray(mean + np.bincount(units, values - mean) * count / values.size)


def note_of_neighbours(scores: Scores, table: ScoreTable) -> str:
    """What is to be said of neighbours in the file that are alike; nothing where they are not."""
    asked = scores.options
    judged = asked.corrects_judge or asked.missing == "keep" or table.folds is not None
    said = asked.time is not None or asked.unpaired or scores.has("cluster") or judged
    if said or not asked.tests or table.rows > _MOST_ROWS or len(table.models) < 2:
        return ""
    first = np.full(len(scores.samples), scores.frame.height, dtype=np.int64)
    np.minimum.at(first, scores.codes("sample"), scores.frame["row"].to_numpy().astype(np.int64))
    left = pl.Series(table.samples, dtype=pl.String).cast(pl.Enum(scores.samples)).to_physical().to_numpy()
    order = np.argsort(first[left], kind="stable")
    for at, metric in enumerate(table.metrics):
        # A power of two changes no digit; sums of large scores would overflow.
        exponent = max(int(np.frexp(np.abs(values).max())[1]) for values in table.column(at))
        scaled = [np.ldexp(values, -exponent) for values in table.column(at)]
        means = np.array([unit_scores(*one)[order] for one in zip(scaled, table.row_samples, strict=True)])
        of_task = table.suite.of_sample[order] if table.suite else None
        if not neighbours_alike(means, of_task):
            continue
        k, n = means.shape
        pairs = [means[i] - means[j] for i in range(k) for j in range(i)]
        worth = min(worth_in_order(one) for one in pairs[:200] if np.ptp(one) > 0)
        some = max(1, int(float(f"{worth:.2g}")))
        if some < n:
            return (
                f"neighbouring samples are alike on {metric.name}: in the order of the file {n:,} would "
                f"count as about {some:,}. Ordered in time? {option('time', 'COL')}. Sorted by topic? "
                f"{option('cluster', 'COL')} or {option('task', 'COL')}. Neither: {option('time', NO_COLUMN)}"
            )
    return ""


def counted(scores: Scores) -> Scores | None:
    """Scores in the order of samples that are counted on in the file, as steps of one series.

    None where it is called as samples are, such as questions, or where a column beside it sorts the file.
    """
    column = named_roles(scores.options).get("sample", scores.notes.files[0].roles.sample) or ""
    names = scores.frame.sort("row")["sample"].cast(pl.String).unique(maintain_order=True)
    steps = names.cast(pl.Int64, strict=False).diff()[1:]
    series = column and not may_name_samples(column) and not scores.has("task")
    if not series or not steps.eq_missing(1).all() or sorted_by(scores):
        return None
    return scores.asking(time=column)
