"""Tests of independence: samples correlated within clusters, and repeats that are not exchangeable."""

from dataclasses import replace

import numpy as np
import polars as pl
import scipy  # loads its functions when they are first used

from riskrank.engine.sampling.design import MIN_LEVELS, MIN_SAMPLES
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, option
from riskrank.options.baseline import GateReading
from riskrank.options.judges import NO_COLUMN
from riskrank.options.reading import RankReading, ReadOptions
from riskrank.scores.files.sql_names import quote_column
from riskrank.scores.layouts.grouping_columns import MAX_KINDS, cluster_options
from riskrank.scores.layouts.layout import NotExchangeableError
from riskrank.scores.names.vocabulary import has_word, names_clusters
from riskrank.scores.table.columns import option_columns, parse_columns
from riskrank.scores.table.oriented_scores import ScoreTable
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.time_order import residuals
from riskrank.scores.table.unassigned_columns import MAX_CLUSTER_SHARE, candidate_clusters

# Number of permutations that must all give smaller differences; fewer suffice if the name suggests clusters.
_N_PERM, _N_PERM_NAMED = 999, 19
# Suffix of the column that holds the prefixes of sample names.
_SUFFIX = "_start"
# Number of names that rule out most separators.
_PROBED_NAMES = 1000
# Number of scores that are tested, and the largest share of one cluster.
_MAX_SCORES, _MAX_SHARE = 100_000, 1 / 9
# SQL for the cluster's part of a sample name: before the last digits, the last or the first separator.
_BEFORE_DIGITS, _SEPARATORS = "RTRIM({0}, '0123456789')", "_-/:#"
_AT_SEPARATOR = ("LEFT({0}, LENGTH({0}) - STRPOS(REVERSE({0}), '{1}'))", "SPLIT_PART({0}, '{1}', 1)")
# Runs are not exchangeable below these p-values. Runs that wrongly pass inflate the error of later tests.
# The level is therefore high if means can be compared instead and the user did not ask for repeats.
# A column called draw is always a repeat.
_MEANS_LEVEL, _LEVEL, _DRAW = 0.3, 0.05, "draw"


def require_independence(scores: Scores, table: ScoreTable) -> None:
    """Check that differences between models are not correlated within undeclared clusters.

    The null hypothesis of the permutation test is that the differences are exchangeable across samples. No
    test is performed if the user declared clusters, tasks, groups, a judge or unpaired models.

    Raises
    ------
    InputError
        If the permutation test is significant for any candidate column.
    """
    options = scores.options
    chosen = options.cluster or options.task or options.group_by or options.corrects_judge
    chosen = chosen or scores.notes.requested.unpaired
    if (
        chosen
        or not options.tests
        or scores.has_role("cluster")
        or scores.has_role("task")
        or table.folds is not None
    ):
        return
    named = candidate_clusters(scores) if len(table.models) > 1 else []
    candidates = [(name, of_sample, "") for name, of_sample in named] + _clusters_by_name(scores, table)
    residuals_of = _unpaired_residuals if options.unpaired else residuals
    differences = np.concatenate(residuals_of(table)).T if candidates else np.empty(0)
    for column, of_sample, query in candidates:
        samples = pl.DataFrame({"sample": table.samples}).join(of_sample, on="sample", how="left")
        clusters = samples["whole"].rank("dense").to_numpy().astype(np.int64)
        n_perm = (_N_PERM_NAMED if names_clusters(column) and not query else _N_PERM) * len(candidates)
        if clusters_differ(differences, clusters, n_perm):
            raise _correlation_error(column, query, options, samples, n_perm)


def _unpaired_residuals(table: ScoreTable) -> list[Floats]:
    """Return standardised residuals about each model's mean, one array of shape (1, samples) per metric."""
    deviations = []
    for metric in range(len(table.metrics)):
        deviation = np.zeros(len(table.samples))
        for values, samples in zip(table.column(metric), table.row_samples, strict=True):
            deviation[samples] = (values - values.mean()) / (values.std() or 1.0)
        deviations.append(deviation[None])
    return deviations


def _correlation_error(
    column: str, query: str, options: ReadOptions, samples: pl.DataFrame, n_perm: int
) -> InputError:
    """Return the error for correlated samples, with options that declare the clusters.

    If there are few clusters, the options declare them as a noise source instead.
    """
    unit, count = f"start of {column.removesuffix(_SUFFIX)}" if query else column, samples["whole"].n_unique()
    roles = cluster_options([column], options, few=count < MIN_SAMPLES)
    flags = " ".join([*(option(role, column) for role in roles), *([option("sql", query)] if query else [])])
    effect, can_resample = f"resamples each {unit} as a unit", not options.paired_only  # not in gsd
    if "noise" in roles:
        effect = f"compares means and treats the {count} values of {unit} as a random sample"
    return InputError(
        f"samples with the same {unit} are correlated, not {samples.height:,} independent samples",
        found=f"{count:,} values of {unit}; the models differ more between these than "
        f"in each of {n_perm:,} random orders of the samples",
        hint=(f"{flags} {effect}; " if can_resample else "") + f"if {unit} is only a category, "
        f"{option('cluster', NO_COLUMN)} treats samples as independent",
        suggestions=[
            *([("", roles | ({"sql": query} if query else {}))] if can_resample else []),
            *([] if query else [("", {"cluster": NO_COLUMN})]),
        ],
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
    templates = [_BEFORE_DIGITS, *(start.format("{0}", mark) for start in _AT_SEPARATOR for mark in marks)]
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
    """Check that runs used as repeats do not differ systematically (Cochran's Q test).

    Raises
    ------
    NotExchangeableError
        If the test is significant, or there are too few runs to decide.
    """
    options, column = scores.options, scores.notes.files[0].roles.draw
    if not options.tests or options.unpaired or options.repeats != "draws" or column in (None, _DRAW):
        return
    model, metric, runs = (scores.codes(role) for role in ("model", "metric", "draw"))
    order, samples = np.lexsort((model, metric)), scores.codes("sample")
    stops = np.flatnonzero(np.diff(metric[order]) | np.diff(model[order])) + 1
    totals = np.zeros((len(scores.metrics), 2))
    for rows in np.split(order, stops):
        totals[metric[rows[0]]] += cochran_q(values[rows], samples[rows], runs[rows])
    few = 0 < int(totals[:, 1].max()) < (MIN_LEVELS - 1) * len(scores.models)
    means, named = isinstance(options, RankReading | GateReading), scores.notes.requested.repeats == "draws"
    level = _MEANS_LEVEL if means and not few and not named else _LEVEL
    differ = bool((len(totals) * scipy.special.chdtrc(*totals[:, ::-1].T) < level).any())
    too_few = few and means and not named and not has_word(column, "anew")
    if not differ and not too_few:
        return
    roles = {role: name for role, name in parse_columns(options.columns).items() if role != "draw"}
    columns = ",".join(f"{role}={name}" for role, name in roles.items()) or None
    fixes, means_option = [], option("noise", column)
    hint = f"riskrank rank and gate can treat the runs as a random sample: {means_option}"
    if few:
        hint = f"use {MIN_LEVELS} or more runs: fewer do not generalise to other runs"
        means = means and differ
        hint += f"; {means_option} compares the means of these runs only" if means else ""
    if means:
        fixes = [("", replace(scores.notes.resolved, noise=(column,), columns=columns, repeats="error"))]
    evidence = f"{np.unique(runs).size} values of {column}"
    text = f"the values of {column} may differ systematically, and two values are too few to test this"
    if differ:
        text = f"the values of {column} differ systematically, so they are not exchangeable repeats"
        evidence += "; their means differ more than exchangeable repeats would"
    raise NotExchangeableError(text, found=evidence, hint=hint, suggestions=fixes)


def cochran_q(values: Floats, sample: Integers, run: Integers) -> Floats:
    """Return Cochran's Q statistic and its degrees of freedom for samples scored in every run.

    Both are 0 if fewer than two runs can be compared, or no sample varies between runs.

    Parameters
    ----------
    values : ndarray, shape (rows,)
    sample, run : ndarray of int, shape (rows,)
        Codes of each row's sample and run.
    """
    (distinct, sample), (_, run) = (np.unique(codes, return_inverse=True) for codes in (sample, run))
    count = int(run.max()) + 1
    grid = np.full((distinct.size, count), np.nan)
    grid[sample, run] = values
    deviations = grid[np.isfinite(grid).all(axis=1)]
    deviations = deviations - deviations.mean(axis=1, keepdims=True)
    spread = float((deviations**2).sum())
    if count < 2 or spread == 0:
        return np.zeros(2)
    return np.array([(count - 1) * float((deviations.sum(axis=0) ** 2).sum()) / spread, count - 1.0])


def clusters_differ(differences: Floats, clusters: Integers, n_perm: int) -> bool:
    """Return True if cluster means vary more than in every random permutation of the samples.

    Parameters
    ----------
    differences : ndarray, shape (samples, differences)
    clusters : ndarray, shape (samples,)
        Cluster number of each sample.
    n_perm : int
        Number of permutations.
    """
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    position = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    limit = max(_MAX_SCORES // differences.shape[1], 1)
    used = order[position < max(limit * _MAX_SHARE, 2)][:limit]
    starts = np.flatnonzero(np.diff(clusters[used], prepend=-1))
    sizes = np.diff(starts, append=len(used))[:, None]
    scores = differences[used] / np.abs(differences).max().clip(np.finfo(float).tiny)
    scores = scores - scores.mean(axis=0)
    scale = np.sqrt((scores**2).sum(axis=0))
    scores = scores[:, scale > 0] / scale[scale > 0]

    def between(rows: Floats) -> float:
        """Return the largest between-cluster sum of squares of any difference."""
        return float((np.add.reduceat(rows, starts) ** 2 / sizes).sum(axis=0).max(initial=0))

    observed, rng = between(scores) * (1 - 1e-9), np.random.default_rng(0)
    return scores.size > 0 and all(between(rng.permutation(scores)) < observed for _ in range(n_perm))
