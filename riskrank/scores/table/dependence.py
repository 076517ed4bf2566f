"""Dependent samples: clusters, repeats that are not exchangeable, and order in time (method §14)."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from riskrank.engine import special
from riskrank.engine.evidence.mean_differences import MIN_SHARED
from riskrank.engine.sampling import dependence
from riskrank.engine.sampling.design import MIN_SAMPLES
from riskrank.engine.types import Floats, Integers
from riskrank.errors import UNTESTED, InputError, UsageError, listing, option
from riskrank.options.baseline import GateReading
from riskrank.options.reading import NO_COLUMN, RankReading, ReadOptions
from riskrank.options.values import misplaced_option_error
from riskrank.scores.files.query import quote_column
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.layout import DESIGN, WarningText, set_roles
from riskrank.scores.layouts.row_keys import MAX_KINDS, cluster_note, cluster_options
from riskrank.scores.names.vocabulary import DEFAULT_ROLE_NAMES, has_word, is_factor, may_be_sample_name
from riskrank.scores.table.columns import NamedColumns, columns_by_role, option_columns, parse_columns
from riskrank.scores.table.designs import NoiseDesign, fold_columns
from riskrank.scores.table.oriented_scores import ScoreTable
from riskrank.scores.table.scores import Scores, recode
from riskrank.scores.table.typed_rows import categories
from riskrank.scores.table.unassigned_columns import MAX_CLUSTER_SHARE, candidate_clusters, is_sorted_by_group

# Suffix of the column that holds the prefixes of sample names.
_SUFFIX = "_start"
# Number of names that rule out most separators.
_PROBED_NAMES = 1000
# SQL for the cluster's part of a sample name: before the last digits, the last or the first separator.
_BEFORE_DIGITS, _SEPARATORS = "RTRIM({0}, '0123456789')", "_-/:#"
_AT_SEPARATOR = ("LEFT({0}, LENGTH({0}) - STRPOS(REVERSE({0}), '{1}'))", "SPLIT_PART({0}, '{1}', 1)")
# Dependence is certain below this p-value: a good table is refused by chance once in 10,000 times.
LEVEL = 1e-4


def read_repeats(
    sources: Sequence[Source], options: ReadOptions
) -> tuple[ReadOptions, tuple[WarningText, ...]]:
    """Return options that read a column as repeats of samples, and a note about it.

    The column is recognised by its name. Together with the columns that have a role, it must identify the
    rows.
    """
    named = option_columns(options)
    if not options.tests or options.repeats != "error" or options.noise or fold_columns(sources, named):
        return options, ()
    taken = {*named.values(), *DEFAULT_ROLE_NAMES, *options.metric}
    for column in sources[0].columns:
        repeats = has_word(column, "run") and column not in taken
        if repeats and all(_has_repeat_numbers(source, named, column) for source in sources):
            note = WarningText(f"{column}: repeats of each sample", DESIGN)
            with suppress(UsageError):  # some commands keep no repeats
                return set_roles(options, {"draw": column}, repeats="draws"), (note,)
    return options, ()


def _has_repeat_numbers(source: Source, named: NamedColumns, column: str) -> bool:
    """Return True if a column numbers the rows of each model, sample, metric and task.

    At least one combination must have several rows. `named` maps roles to the columns that the user chose.
    """
    roles = columns_by_role(source, named, DEFAULT_ROLE_NAMES)
    cell = [roles[role] for role in ("model", "sample", "metric", "task") if role in roles]
    if column not in source.columns or not {*cell} <= {*source.columns}:
        return False
    frame = source.load([*cell, column])
    return frame.n_unique(cell) < frame.height == frame.n_unique([*cell, column])


def declare_dependence(scores: Scores) -> Scores:
    """Declare the clusters and random factors that column names suggest.

    Samples that share a document or user, for example, form clusters. A training seed or a rater may favour a
    model on all samples. Such columns become random factors, provided that the command compares means.
    """
    options, requested = scores.options, scores.notes.requested
    if not options.tests:
        return scores
    column = scores.notes.files[0].roles.draw
    if requested.repeats == "error" and options.repeats in ("draws", "mean") and column and is_factor(column):
        independent = f"if they are independent repeats: {option('repeats', 'draws')}"
        return _with_random_runs(
            scores, column, f"each {column} may favour a model on all samples", independent
        )
    if _dependence_is_declared(scores):
        return scores
    for column, labels in candidate_clusters(_without_baseline(scores), named=True):
        few = labels["cluster"].n_unique() < MIN_SAMPLES
        means = not (scores.has_role("task") or options.unpaired or scores.notes.baseline)
        roles = cluster_options([column], options, few=few and means)
        tasks = scores.frame.select(pl.col("sample").cast(pl.String), "task").unique()
        spans_tasks = labels.join(tasks, on="sample").group_by("cluster").agg(pl.col("task").n_unique())
        if options.paired_only or (few and "cluster" in roles) or spans_tasks["task"].max() != 1:
            continue
        text = f"{cluster_note(column)}; {option('cluster', NO_COLUMN)} treats samples as independent"
        (role,) = roles
        with suppress(UsageError):
            return _declare(scores, role, _expand_to_rows(scores, labels), text, roles)
    return scores


def _expand_to_rows(scores: Scores, labels: pl.DataFrame) -> pl.Series:
    """Return the cluster of each row. `labels` has the columns ``sample`` and ``cluster``."""
    samples = scores.frame.select(pl.col("sample").cast(pl.String))
    return samples.join(labels, on="sample", how="left", maintain_order="left")["cluster"]


def _with_random_runs(scores: Scores, column: str, reason: str, otherwise: str) -> Scores:
    """Treat runs as a random factor, so that differences in means generalise to other runs.

    If the command cannot do this, add a warning instead.

    Parameters
    ----------
    scores : Scores
    column : str
        Column of the runs.
    reason : str
        Why the runs may not be independent repeats, as the start of a sentence.
    otherwise : str
        Option for another treatment.
    """
    options = scores.options
    single = len(options.metric or scores.notes.all_metrics) == 1
    means = isinstance(options, GateReading) or (isinstance(options, RankReading) and single)
    if means and scores.notes.baseline is None and len(scores.models) > 1:
        text = f"{reason}, so means are compared over a random sample of {column}; {otherwise}"
        with suppress(UsageError):  # the option conflicts with others
            return _declare(scores, "noise", scores.frame["draw"], text, noise_options(column, options))
    text = "differences may be less certain than stated; riskrank rank and gate allow for this with"
    return scores.with_warnings(f"{reason}, so {text} {option('noise', column)}")


def _without_baseline(scores: Scores) -> Scores:
    """Return the scores without the rows of a baseline, which has no further columns."""
    if scores.notes.baseline is None:
        return scores
    *files, last = scores.notes.files
    notes = replace(scores.notes, files=tuple(files), rows=last.start)
    return replace(scores, frame=scores.frame.filter(pl.col("row") < last.start), notes=notes)


def _declare(scores: Scores, role: str, names: pl.Series, text: str, changes: Mapping[str, Any]) -> Scores:
    """Return the scores with a column of clusters or of levels of a random factor.

    Parameters
    ----------
    scores : Scores
    role : {"cluster", "noise"}
    names : Series
        Cluster or noise level of each row.
    text : str
        Note about the declaration.
    changes : mapping of str to object
        Changes of the options that state the declaration.
    """
    resolved, texts = replace(scores.notes.resolved, **changes), names.cast(pl.String)
    column = texts.cast(pl.Enum(texts.unique().drop_nulls().sort())).alias(role)
    notes = replace(
        scores.notes, resolved=resolved, warnings=(*scores.notes.warnings, WarningText(text, DESIGN))
    )
    frame = scores.frame.with_columns(column)
    return replace(scores, frame=frame, notes=notes, options=resolved.file_options)


def noise_options(column: str, options: ReadOptions) -> dict[str, Any]:
    """Return the options that treat the levels of a column as a random factor."""
    roles = parse_columns(options.columns).items()
    columns = ",".join(f"{role}={name}" for role, name in roles if role != "draw") or None
    return {"noise": (column,), "columns": columns, "repeats": "error"}


def _dependence_is_declared(scores: Scores) -> bool:
    """Return True if the options or the layout of the table state which samples are dependent."""
    names = ("cluster", "noise", "time", "folds", "corrects_judge")
    return any(getattr(scores.options, name) for name in names) or any(map(scores.has_role, names[:3]))


def find_clusters(scores: Scores, table: ScoreTable) -> tuple[Scores | None, tuple[str, ...]]:
    """Test if differences between models are correlated within clusters that are not declared.

    Returns
    -------
    declared : Scores or None
        Scores with the clusters declared if the p-value of a candidate is below `LEVEL`, otherwise None.
    proposals : tuple of str
        Proposals to declare clusters that sample names or columns suggest, with their effect.
    """
    options, grouped = scores.options, scores.has_role("task") or scores.notes.requested.unpaired
    grouped = bool(grouped or options.task or options.group_by or table.folds is not None)
    if grouped or _dependence_is_declared(scores) or not options.tests:
        return None, ()
    columns = candidate_clusters(scores) if len(table.models) > 1 else []
    candidates = [(name, labels, "") for name, labels in columns] + _clusters_by_name(scores, table)
    residuals_of = _unpaired_residuals if scores.options.unpaired else residuals
    differences = np.concatenate(residuals_of(table)).T if candidates else np.empty(0)
    proposals = []
    for column, labels, query in candidates:
        samples = pl.DataFrame({"sample": table.samples}).join(labels, on="sample", how="left")
        clusters = samples["cluster"].rank("dense").to_numpy().astype(np.int64) - 1
        p_value = len(candidates) * dependence.cluster_p_value(differences, clusters)
        factor, count = dependence.interval_widening(differences, clusters), int(clusters.max()) + 1
        suspected = p_value < dependence.SUSPECTED
        if not (suspected or (query and has_word(samples["cluster"][0], "belonging", "whole"))):
            continue
        unit = f"start of {column.removesuffix(_SUFFIX)}" if query else column
        roles = cluster_options([column], scores.options, few=count < MIN_SAMPLES)
        (role,), changes = roles, roles | ({"sql": query} if query else {})
        if p_value < LEVEL and not has_word(column, "topics"):
            text = f"samples with the same {unit} are correlated, so "
            if not scores.options.paired_only:
                note = f"{text}{cluster_note(unit)} (intervals about {factor:.1f} times as wide); "
                note += f"{option('cluster', NO_COLUMN)} treats samples as independent"
                with suppress(UsageError):  # the options conflict with others
                    return _declare(scores, role, _expand_to_rows(scores, labels), note, changes), ()
            proposals.append(f"{text}differences are less certain than stated; riskrank rank allows for this")
        elif not scores.options.paired_only:
            flags = option(role, column) + (f" {option('sql', query)}" if query else "")
            text = f"{count:,} values of {unit}, such as {samples['cluster'][0]}: if samples with the same "
            text += f"value depend on each other, {flags} makes intervals about {factor:.1f} times as wide"
            proposals.append(WarningText(text, "" if suspected else DESIGN))
    return None, tuple(proposals[:1])


def _unpaired_residuals(table: ScoreTable) -> list[Floats]:
    """Return the residuals from each model's mean, in units of the model's standard deviation.

    Returns
    -------
    list of ndarray, one per metric
        Each of shape (1, samples).
    """
    deviations = []
    for metric in range(len(table.metrics)):
        deviation = np.zeros(len(table.samples))
        for values, samples in zip(table.column(metric), table.row_samples, strict=True):
            deviation[samples] = (values - values.mean()) / (values.std() or 1.0)
        deviations.append(deviation[None])
    return deviations


def _clusters_by_name(scores: Scores, table: ScoreTable) -> list[tuple[str, pl.DataFrame, str]]:
    """Return candidate clusters of samples whose names share a prefix, such as doc3 in doc3_7.

    Returns
    -------
    list of (str, DataFrame, str)
        Name of the new column, its value for each sample, and the SQL query that adds it.
    """
    options = scores.options
    column = option_columns(options).get("sample", scores.notes.files[0].roles.sample)
    if len(table.models) < 2 or not column or "+" in column or options.sql or options.time:
        return []
    names, columns, seen = pl.DataFrame({column: table.samples}), list[tuple[str, pl.DataFrame, str]](), set()
    marks = [mark for mark in _SEPARATORS if mark in "".join(table.samples)]
    templates = [*(start.format("{0}", mark) for start in _AT_SEPARATOR for mark in marks), _BEFORE_DIGITS]
    cuts = [pl.sql_expr(sql := start.format(quote_column(column))).alias(sql) for start in templates]
    probe = names.gather_every(max(names.height // _PROBED_NAMES, 1)).select(cuts)
    cuts = [cut for cut, prefixes in zip(cuts, probe, strict=True) if prefixes.n_unique() > 1]
    for prefixes in names.select(cuts):
        partition = prefixes.rank("dense").to_numpy().tobytes()
        if partition not in seen and MAX_KINDS < prefixes.n_unique() <= MAX_CLUSTER_SHARE * names.height:
            query = f"SELECT *, {prefixes.name} AS {quote_column(column + _SUFFIX)} FROM scores"
            labels = pl.DataFrame({"sample": table.samples, "cluster": prefixes})
            columns.append((column + _SUFFIX, labels, query))
            seen.add(partition)
    return columns


def declare_systematic_runs(scores: Scores, values: Floats) -> Scores:
    """Treat runs as a random factor if one is significantly better or worse on all samples.

    The test is Cochran's Q of the observed scores. `values` holds the oriented scores of all rows.
    """
    options, column = scores.options, scores.notes.files[0].roles.draw
    if not options.tests or options.unpaired or options.repeats != "draws" or column is None:
        return scores
    model, metric, runs = (scores.codes(role) for role in ("model", "metric", "draw"))
    order, samples = np.lexsort((model, metric)), scores.codes("sample")
    stops = np.flatnonzero(np.diff(metric[order]) | np.diff(model[order])) + 1
    totals, values = np.zeros((len(scores.metrics), 2)), np.where(scores.imputed_mask(), np.nan, values)
    for rows in np.split(order, stops):
        totals[metric[rows[0]]] += dependence.cochran_q(values[rows], samples[rows], runs[rows])
    if not (len(totals) * special.chdtrc(*totals[:, ::-1].T) < LEVEL).any():
        return scores
    only = f"{option('repeats', 'mean')} compares these runs only"
    return _with_random_runs(scores, column, f"the values of {column} differ systematically", only)


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
    are_dates = choice is not None or _are_dates(scores.samples, column)
    if not timed and (not are_dates or scores.has_role("cluster")):
        return scores, ""
    if scores.options.unpaired or scores.has_role("task") or scores.options.corrects_judge:
        if choice is None:
            return scores, ""
        problem = f"{option('time', choice)} needs the same samples for all models and no tasks"
        conflict = "models with different samples" if scores.options.unpaired else "tasks or human labels"
        raise misplaced_option_error(
            problem, conflict, "time", f", or pool the tasks: {option('task', 'none')}"
        )
    unit = "cluster" if scores.has_role("cluster") else "sample"
    role = "time" if timed else "sample"
    names = categories(scores.frame[role])
    times = _parse_times(names)
    if times is None:
        ignored = option("time", NO_COLUMN)
        hint = f"name a column of numbers or of dates such as 2026-01-31, or ignore the order: {ignored}"
        flag = option("time", choice or column)
        raise InputError(f"{flag} has no times", found=listing(names.head(3)), hint=hint)
    of_unit = np.full(len(scores.names(unit)), np.inf)
    np.minimum.at(of_unit, scores.codes(unit), times[scores.codes(role)])
    first, counts = np.unique(of_unit, return_counts=True)
    if (counts > 1).any():
        both = [scores.names(unit)[at] for at in np.flatnonzero(of_unit == first[counts.argmax()])]
        problem = f"{option('time', choice or column)}: {unit}s {both[0]} and {both[1]} have the same time"
        hint = f"treat samples with the same time as a cluster: {option('cluster', choice or column)}"
        raise InputError(problem, found=f"{int((counts > 1).sum())} times with several {unit}s", hint=hint)
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
    """Replace samples by blocks of consecutive samples as the resampling units.

    The length of the blocks follows from the autocorrelation.

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
    count, options = int(table.clusters[0].max()) + 1, table.options
    n_cosines = min(int(dependence.cosine_count(row).min()) for row in residuals(table))
    block = dependence.series_blocks(count, max(n_cosines, 1))
    blocks = int(block[-1]) + 1
    free = f"use {option('time', NO_COLUMN)} if the order is irrelevant"
    note = f"{count} {unit} in order of {by}, {{}} as {blocks} blocks of neighbours; {free}"
    if options.tests and blocks < dependence.MIN_BLOCKS:
        independent = n_cosines == dependence.max_cosines(count)
        means = isinstance(options, RankReading | GateReading) and not table.has_repeats and unit == "samples"
        if independent and means and blocks >= MIN_SHARED:
            # Too few blocks to resample: Student's t test compares their means.
            noise = NoiseDesign.from_samples(table.score_array(), block)
            return replace(table, noise=noise, warnings=(*table.warnings, note.format("compared")))
        raise InputError(
            f"the {count} {unit} in order of {column} are too {'few' if independent else 'autocorrelated'} "
            "for a test",
            found=f"{blocks} blocks of {(block == 0).sum()} {unit}; a test needs {dependence.MIN_BLOCKS}",
            hint=free if independent else f"score many more {unit}: each one adds little information",
            suggestions=[("", {"time": NO_COLUMN}) if independent else (UNTESTED, None)],
        )
    note = note.format("resampled")
    return replace(
        table,
        units=table.clusters,
        clusters=tuple(block[codes] for codes in table.clusters),
        cluster_names=tuple(f"block {number + 1}" for number in range(blocks)),
        warnings=(*table.warnings, note),
    )


def residuals(table: ScoreTable) -> list[Floats]:
    """Return the differences between the scores of two models on each unit (sample or cluster).

    For more than two models, return the differences from the mean over models.

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
    """Return a warning if the observed scores are autocorrelated in file order, otherwise an empty string."""
    options = scores.options
    judged = options.corrects_judge or options.missing == "keep" or table.folds is not None
    settled = options.time is not None or options.unpaired or scores.has_role("cluster") or judged
    if settled or not options.tests or table.rows > _MAX_ROWS or len(table.models) < 2:
        return ""
    first = np.full(len(scores.samples), scores.frame.height, dtype=np.int64)
    np.minimum.at(first, scores.codes("sample"), scores.frame["row"].to_numpy().astype(np.int64))
    codes = pl.Series(table.samples, dtype=pl.String).cast(pl.Enum(scores.samples)).to_physical().to_numpy()
    order = np.argsort(first[codes], kind="stable")
    # Failures often come in blocks, so that imputed scores are autocorrelated.
    imputed = np.unique(scores.codes("sample")[scores.imputed_mask()])
    order = order[~np.isin(codes[order], imputed)]
    for at, metric in enumerate(table.metrics):
        # Scaling by a power of two is exact and prevents overflow in sums of large scores.
        exponent = max(int(np.frexp(np.abs(values).max())[1]) for values in table.column(at))
        scaled = [np.ldexp(values, -exponent) for values in table.column(at)]
        means = np.array([unit_scores(*pair)[order] for pair in zip(scaled, table.row_samples, strict=True)])
        if not dependence.is_autocorrelated(means, table.suite.task_codes[order] if table.suite else None):
            continue
        k, n = means.shape
        pairs = [means[i] - means[j] for i in range(k) for j in range(i)]
        effective = min(dependence.series_sample_size(pair) for pair in pairs[:200] if np.ptp(pair) > 0)
        rounded = max(1, int(float(f"{effective:.2g}")))
        if rounded < n:
            return (
                f"{metric.name} is autocorrelated in file order: the effective sample size of {n:,} samples "
                f"is about {rounded:,}. Ordered in time? {option('time', 'COL')}. Sorted by topic? "
                f"{option('cluster', 'COL')} or {option('task', 'COL')}. Neither: {option('time', NO_COLUMN)}"
            )
    return ""


def order_by_step(scores: Scores) -> Scores | None:
    """Order the samples by number if their names look like steps of a series.

    Consecutive numbers in the file are the evidence. Return None if the column name suggests independent
    samples, such as questions, or if the file is sorted by another column.
    """
    column = option_columns(scores.options).get("sample", scores.notes.files[0].roles.sample) or ""
    names = scores.frame.sort("row")["sample"].cast(pl.String).unique(maintain_order=True)
    steps = names.cast(pl.Int64, strict=False).diff()[1:]
    series = column and not may_be_sample_name(column) and not scores.has_role("task")
    if not series or not steps.eq_missing(1).all() or is_sorted_by_group(scores):
        return None
    return scores.with_options(time=column)
