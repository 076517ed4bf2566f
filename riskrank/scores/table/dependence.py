"""Tests of independence: samples correlated within clusters, and repeats that are not exchangeable."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import scipy  # loads its subpackages on first use

from riskrank.engine.sampling.dependence import SUSPECTED, cluster_p_value, cochran_q, widening
from riskrank.engine.sampling.design import MIN_SAMPLES
from riskrank.engine.types import Floats
from riskrank.errors import InputError, UsageError, option
from riskrank.options.baseline import GateReading
from riskrank.options.reading import NO_COLUMN, RankReading, ReadOptions
from riskrank.scores.files.query import quote_column
from riskrank.scores.files.source import Source
from riskrank.scores.layouts.grouping_columns import MAX_KINDS, cluster_note, cluster_options
from riskrank.scores.layouts.layout import DESIGN, WarningText, set_roles
from riskrank.scores.names.vocabulary import DEFAULT_ROLE_NAMES, has_word, is_factor
from riskrank.scores.table.columns import NamedColumns, columns_by_role, option_columns, parse_columns
from riskrank.scores.table.designs import fold_columns
from riskrank.scores.table.oriented_scores import ScoreTable
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.time_order import residuals
from riskrank.scores.table.unassigned_columns import MAX_CLUSTER_SHARE, candidate_clusters

# Suffix of the column that holds the prefixes of sample names.
_SUFFIX = "_start"
# Number of names that rule out most separators.
_PROBED_NAMES = 1000
# SQL for the cluster's part of a sample name: before the last digits, the last or the first separator.
_BEFORE_DIGITS, _SEPARATORS = "RTRIM({0}, '0123456789')", "_-/:#"
_AT_SEPARATOR = ("LEFT({0}, LENGTH({0}) - STRPOS(REVERSE({0}), '{1}'))", "SPLIT_PART({0}, '{1}', 1)")
LEVEL = 1e-4
"""Dependence is certain below this p-value: a good table is refused by chance once in 10,000 times."""


def read_repeats(
    sources: Sequence[Source], options: ReadOptions
) -> tuple[ReadOptions, tuple[WarningText, ...]]:
    """Return options that read a column of repeats, and a note about it.

    The column is recognised by its name. Together with the columns that have a role, it must identify the
    rows.
    """
    named = option_columns(options)
    if not options.tests or options.repeats != "error" or options.noise or fold_columns(sources, named):
        return options, ()
    taken = {*named.values(), *DEFAULT_ROLE_NAMES, *options.metric}
    for column in sources[0].columns:
        repeats = has_word(column, "run") and column not in taken
        if repeats and all(_numbers_repeats(source, named, column) for source in sources):
            note = WarningText(f"{column}: repeats of each sample", DESIGN)
            with suppress(UsageError):  # some commands keep no repeats
                return set_roles(options, {"draw": column}, repeats="draws"), (note,)
    return options, ()


def _numbers_repeats(source: Source, named: NamedColumns, column: str) -> bool:
    """Return True if a column numbers the rows of each (model, sample, metric, task) cell.

    At least one cell must have several rows.
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
        single = len(options.metric or scores.notes.all_metrics) == 1
        means = isinstance(options, GateReading) or (isinstance(options, RankReading) and single)
        if means and scores.notes.baseline is None:
            text = f"each {column} may favour a model on all samples, so means are compared over a random "
            text += f"sample of {column}; if they are independent repeats: {option('repeats', 'draws')}"
            with suppress(UsageError):  # the option conflicts with others
                return _declare(scores, "noise", scores.frame["draw"], text, _as_noise(column, options))
        return scores.with_warnings(
            f"if each {column} favours a model on all samples, differences are less certain than stated; "
            f"riskrank rank or gate allows for this: {option('noise', column)}"
        )
    if _dependence_is_declared(scores):
        return scores
    for column, of_sample in candidate_clusters(scores, named=True):
        few = of_sample["whole"].n_unique() < MIN_SAMPLES
        roles = cluster_options([column], options, few=few)
        if options.paired_only or (few and "cluster" in roles):
            continue
        names = scores.frame.select(pl.col("sample").cast(pl.String)).join(
            of_sample, on="sample", how="left", maintain_order="left"
        )["whole"]
        text = f"{cluster_note(column)}; {option('cluster', NO_COLUMN)} treats samples as independent"
        with suppress(UsageError):
            (role,) = roles
            return _declare(scores, role, names, text, roles)
    return scores


def _declare(scores: Scores, role: str, names: pl.Series, text: str, changes: Mapping[str, Any]) -> Scores:
    """Declare a column of clusters or noise levels.

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


def _as_noise(column: str, options: ReadOptions) -> dict[str, Any]:
    """Return the options that treat the levels of a column as a random factor."""
    roles = parse_columns(options.columns).items()
    columns = ",".join(f"{role}={name}" for role, name in roles if role != "draw") or None
    return {"noise": (column,), "columns": columns, "repeats": "error"}


def _dependence_is_declared(scores: Scores) -> bool:
    """Return True if the options or the layout of the table state which samples are dependent."""
    options = scores.options
    chosen = (options.cluster, options.task, options.group_by, options.noise, options.time, options.folds)
    roles = map(scores.has_role, ("cluster", "task", "noise", "time"))
    return any((*chosen, *roles, options.corrects_judge, scores.notes.requested.unpaired))


def require_independence(scores: Scores, table: ScoreTable) -> tuple[str, ...]:
    """Check that differences between models are not significantly correlated in undeclared clusters.

    Returns
    -------
    tuple of str
        Proposals to declare clusters that sample names or columns suggest, with their effect.

    Raises
    ------
    InputError
        If the p-value of any candidate is below `LEVEL`.
    """
    if _dependence_is_declared(scores) or not scores.options.tests or table.folds is not None:
        return ()
    columns = candidate_clusters(scores) if len(table.models) > 1 else []
    candidates = [(name, of_sample, "") for name, of_sample in columns] + _clusters_by_name(scores, table)
    residuals_of = _unpaired_residuals if scores.options.unpaired else residuals
    differences = np.concatenate(residuals_of(table)).T if candidates else np.empty(0)
    proposals = []
    for column, of_sample, query in candidates:
        samples = pl.DataFrame({"sample": table.samples}).join(of_sample, on="sample", how="left")
        clusters = samples["whole"].rank("dense").to_numpy().astype(np.int64) - 1
        p_value = len(candidates) * cluster_p_value(differences, clusters)
        factor = widening(differences, clusters)
        if p_value < LEVEL and not has_word(column, "topics"):
            raise _correlation_error(column, query, scores.options, samples, factor)
        suspected = p_value < SUSPECTED
        if suspected or (query and has_word(samples["whole"][0], "belonging", "whole")):
            flags, unit, _ = _cluster_flags(column, query, scores.options, samples)
            text = (
                f"{clusters.max() + 1:,} values of {unit}, such as {samples['whole'][0]}: if samples that "
                f"share one depend on each other, {flags} makes intervals about {factor:.1f} times as wide"
            )
            proposals.append(WarningText(text, "" if suspected else DESIGN))
    return () if scores.options.paired_only else tuple(proposals[:1])


def _unpaired_residuals(table: ScoreTable) -> list[Floats]:
    """Return standardised residuals about each model's mean.

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


def _cluster_flags(
    column: str, query: str, options: ReadOptions, samples: pl.DataFrame
) -> tuple[str, str, dict[str, Any]]:
    """Return the options that declare a cluster column, as text and as changes of the options.

    If there are few clusters, the column is declared as a noise source.

    Returns
    -------
    flags : str
        The options as text.
    unit : str
        Description of a cluster for messages.
    changes : dict of str to object
        Values of the options.
    """
    unit = f"start of {column.removesuffix(_SUFFIX)}" if query else column
    roles = cluster_options([column], options, few=samples["whole"].n_unique() < MIN_SAMPLES)
    flags = " ".join([*(option(role, column) for role in roles), *([option("sql", query)] if query else [])])
    return flags, unit, roles | ({"sql": query} if query else {})


def _correlation_error(
    column: str, query: str, options: ReadOptions, samples: pl.DataFrame, factor: float
) -> InputError:
    """Return the error for correlated samples, with options that declare the clusters."""
    flags, unit, changes = _cluster_flags(column, query, options, samples)
    count = samples["whole"].n_unique()
    effect, can_resample = f"resamples each {unit} as a unit", not options.paired_only  # False for gsd
    if "noise" in changes:
        effect = f"compares means and treats the {count} values of {unit} as a random sample"
    return InputError(
        f"samples with the same {unit} are correlated, not {samples.height:,} independent samples",
        found=f"{count:,} values of {unit}; independent samples would differ as much between these in one of "
        f"{1 / LEVEL:,.0f} tables",
        hint=(f"{flags} {effect} (intervals about {factor:.1f} times as wide); " if can_resample else "")
        + f"if {unit} is only a category, {option('cluster', NO_COLUMN)} treats samples as independent",
        suggestions=[("", changes)] * can_resample + [("", {"cluster": NO_COLUMN})] * (not query),
    )


def _clusters_by_name(scores: Scores, table: ScoreTable) -> list[tuple[str, pl.DataFrame, str]]:
    """Return clusters that a common prefix in sample names suggests, such as doc3 in doc3_7.

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
            labels = pl.DataFrame({"sample": table.samples, "whole": prefixes})
            columns.append((column + _SUFFIX, labels, query))
            seen.add(partition)
    return columns


def require_exchangeable_runs(scores: Scores, values: Floats) -> None:
    """Check that no run is significantly better or worse on all samples (Cochran's Q test).

    Raises
    ------
    InputError
        If the p-value is below `LEVEL`.
    """
    options, column = scores.options, scores.notes.files[0].roles.draw
    if not options.tests or options.unpaired or options.repeats != "draws" or column is None:
        return
    model, metric, runs = (scores.codes(role) for role in ("model", "metric", "draw"))
    order, samples = np.lexsort((model, metric)), scores.codes("sample")
    stops = np.flatnonzero(np.diff(metric[order]) | np.diff(model[order])) + 1
    totals = np.zeros((len(scores.metrics), 2))
    for rows in np.split(order, stops):
        totals[metric[rows[0]]] += cochran_q(values[rows], samples[rows], runs[rows])
    if not (len(totals) * scipy.special.chdtrc(*totals[:, ::-1].T) < LEVEL).any():
        return
    changes: list[dict[str, object]] = [{"repeats": "mean"}]
    if isinstance(options, RankReading | GateReading):
        changes.insert(0, _as_noise(column, options))
    count = np.unique(runs).size
    raise InputError(
        f"the values of {column} differ systematically, so they are not exchangeable repeats",
        found=f"{count} values of {column}; the means of exchangeable repeats would differ as much in one of "
        f"{1 / LEVEL:,.0f} tables",
        hint=f"riskrank rank and gate can treat the runs as a random sample: {option('noise', column)}; "
        f"{option('repeats', 'mean')} compares the means of these {count} runs only",
        suggestions=[("", change) for change in changes],
    )
