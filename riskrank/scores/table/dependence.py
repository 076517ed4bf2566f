"""Rows that are no independent ones: samples of wholes within which models differ alike, and runs that do."""

from dataclasses import replace

import numpy as np
import polars as pl
import scipy  # loads its functions when they are first used

from riskrank.engine.sampling.design import FEWEST_LEVELS, FEWEST_SAMPLES
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, option
from riskrank.options.baseline import GateReading
from riskrank.options.judges import NO_COLUMN
from riskrank.options.reading import RankReading, ReadOptions
from riskrank.scores.files.sql_names import quoted_column
from riskrank.scores.layouts.grouping_columns import MOST_KINDS, as_drawn
from riskrank.scores.layouts.layout import UnlikeRunsError
from riskrank.scores.names.vocabulary import names_clusters, has_word
from riskrank.scores.table.columns import named_roles, parse_columns
from riskrank.scores.table.oriented_scores import ScoreTable
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.time_order import residuals
from riskrank.scores.table.unassigned_columns import FEW_WHOLES, unforeseen_wholes

# Differences depend on a whole if none of so many random orders of samples parts them as far: few, where
# its name says that samples belong to it.
_ORDERS, _OF_NAMED = 999, 19
# What the column is called that names begin with, behind that of the names.
_START = "_start"
# Names that settle of most marks that nothing begins before them.
_LOOK = 1000
# Scores that are looked at, and the share of them that one whole may have.
_MOST_SCORES, _LARGEST = 100_000, 1 / 9
# Where the name of a whole ends in that of a sample, as SQL: before the last digits, a mark, the first mark.
_DIGITS, _MARKS = "RTRIM({0}, '0123456789')", "_-/:#"
_AT_MARK = ("LEFT({0}, LENGTH({0}) - STRPOS(REVERSE({0}), '{1}'))", "SPLIT_PART({0}, '{1}', 1)")
# Runs are unlike below these p-values. What a test misses inflates the next one's errors: its level is high
# where means can be compared instead, and nobody asked for draws. A column called draw says that it is one.
_OF_MEANS, _ELSE, _SAID = 0.3, 0.05, "draw"


def require_independence(scores: Scores, table: ScoreTable) -> None:
    """Refuse tests of samples whose differences are alike within the wholes that a column names.

    Raises
    ------
    InputError
        If a permutation test shows it, and nobody said what the column is.
    """
    asked = scores.options
    said = asked.cluster or asked.task or asked.group_by or asked.corrects_judge
    said = said or scores.notes.given.unpaired
    if said or not asked.tests or scores.has("cluster") or scores.has("task") or table.folds is not None:
        return
    named = unforeseen_wholes(scores) if len(table.models) > 1 else []
    found = [(name, of_sample, "") for name, of_sample in named] + _by_names(scores, table)
    apart = _of_own_samples if asked.unpaired else residuals
    differences = np.concatenate(apart(table)).T if found else np.empty(0)
    for column, of_sample, query in found:
        own = pl.DataFrame({"sample": table.samples}).join(of_sample, on="sample", how="left")
        whole = own["whole"].rank("dense").to_numpy().astype(np.int64)
        orders = (_OF_NAMED if names_clusters(column) and not query else _ORDERS) * len(found)
        if alike_within(differences, whole, orders):
            raise _alike(column, query, asked, own, orders)


def _of_own_samples(table: ScoreTable) -> list[Floats]:
    """Of every metric how far samples lie from the mean of the one model that has them, in its deviations."""
    found = []
    for at in range(len(table.metrics)):
        away = np.zeros(len(table.samples))
        for values, samples in zip(table.column(at), table.row_samples, strict=True):
            away[samples] = (values - values.mean()) / (values.std() or 1.0)
        found.append(away[None])
    return found


def _alike(column: str, query: str, asked: ReadOptions, samples: pl.DataFrame, orders: int) -> InputError:
    """Samples that are alike within wholes, which are drawn, or are noise of means where they are few."""
    each, count = f"start of {column.removesuffix(_START)}" if query else column, samples["whole"].n_unique()
    drawn = as_drawn([column], asked, few=count < FEWEST_SAMPLES)
    said = " ".join([*(option(role, column) for role in drawn), *([option("sql", query)] if query else [])])
    does, able = f"draws each {each} whole", not asked.paired_only  # gsd draws single samples
    if "noise" in drawn:
        does = f"compares means, as the {count} of {each} are a sample of others like them"
    return InputError(
        f"samples of one {each} are alike, and cannot be tested as {samples.height:,} samples",
        found=f"{count:,} values of {each}: models differ more between them than "
        f"in each of {orders:,} random orders of the samples",
        hint=(f"{said} {does}; " if able else "") + "if it only says of what kind samples are, "
        f"{option('cluster', NO_COLUMN)} draws single samples",
        ways=[
            *([("", drawn | ({"sql": query} if query else {}))] if able else []),
            *([] if query else [("", {"cluster": NO_COLUMN})]),
        ],
    )


def _by_names(scores: Scores, table: ScoreTable) -> list[tuple[str, pl.DataFrame, str]]:
    """Wholes that names of samples begin with, as doc3_7 with doc3: a column for them, and the query."""
    asked = scores.options
    column = named_roles(asked).get("sample", scores.notes.files[0].roles.sample)
    if len(table.models) < 2 or not column or "+" in column or asked.sql or asked.time:
        return []
    names, found, seen = pl.DataFrame({column: table.samples}), list[tuple[str, pl.DataFrame, str]](), set()
    marks = [mark for mark in _MARKS if mark in "".join(table.samples)]
    starts = [_DIGITS, *(start.format("{0}", mark) for start in _AT_MARK for mark in marks)]
    cut = [pl.sql_expr(start := one.format(quoted_column(column))).alias(start) for one in starts]
    some = names.gather_every(max(names.height // _LOOK, 1)).select(cut)
    cut = [one for one, wholes in zip(cut, some, strict=True) if wholes.n_unique() > 1]
    for whole in names.select(cut):
        parts = whole.rank("dense").to_numpy().tobytes()
        if parts not in seen and MOST_KINDS < whole.n_unique() <= FEW_WHOLES * names.height:
            query = f"SELECT *, {whole.name} AS {quoted_column(column + _START)} FROM scores"
            known = pl.DataFrame({"sample": table.samples, "whole": whole})
            found.append((column + _START, known, query))
            seen.add(parts)
    return found


def require_like_runs(scores: Scores, values: Floats) -> None:
    """Refuse runs as draws of each sample, where some runs of a model are better than others on all of them.

    Raises
    ------
    InputError
        If a test shows it.
    """
    asked, column = scores.options, scores.notes.files[0].roles.draw
    if not asked.tests or asked.unpaired or asked.repeats != "draws" or column in (None, _SAID):
        return
    model, metric, runs = (scores.codes(role) for role in ("model", "metric", "draw"))
    order, samples = np.lexsort((model, metric)), scores.codes("sample")
    ends = np.flatnonzero(np.diff(metric[order]) | np.diff(model[order])) + 1
    found = np.zeros((len(scores.metrics), 2))
    for own in np.split(order, ends):
        found[metric[own[0]]] += unlike_runs(values[own], samples[own], runs[own])
    few = 0 < int(found[:, 1].max()) < (FEWEST_LEVELS - 1) * len(scores.models)
    of_means, said = isinstance(asked, RankReading | GateReading), scores.notes.given.repeats == "draws"
    level = _OF_MEANS if of_means and not few and not said else _ELSE
    unlike = bool((len(found) * scipy.special.chdtrc(*found[:, ::-1].T) < level).any())
    of_two = few and of_means and not said and not has_word(column, "anew")
    if not unlike and not of_two:
        return
    others = {role: name for role, name in parse_columns(asked.columns).items() if role != "draw"}
    columns = ",".join(f"{role}={name}" for role, name in others.items()) or None
    ways, means = [], option("noise", column)
    hint = f"riskrank rank and gate take them as a sample of others like them: {means}"
    if few:
        hint = f"run {FEWEST_LEVELS} or more: fewer do not tell how others would do"
        of_means = of_means and unlike
        hint += f"; {means} compares means of these alone" if of_means else ""
    if of_means:
        ways = [("", replace(scores.notes.asked, noise=(column,), columns=columns, repeats="error"))]
    seen = f"{np.unique(runs).size} values of {column}"
    what = f"runs of a {column} may be better or worse on all samples, and two do not tell"
    if unlike:
        what = f"runs of a {column} are better or worse on all samples, and cannot be drawn sample by sample"
        seen += ": means lie further apart than those of like runs"
    raise UnlikeRunsError(what, found=seen, hint=hint, ways=ways)


def unlike_runs(values: Floats, sample: Integers, run: Integers) -> Floats:
    """Cochran's Q of runs over samples that have all of them once, and its degrees of freedom; else zeros."""
    (own, sample), (_, run) = (np.unique(one, return_inverse=True) for one in (sample, run))
    count = int(run.max()) + 1
    grid = np.full((own.size, count), np.nan)
    grid[sample, run] = values
    away = grid[np.isfinite(grid).all(axis=1)]
    away = away - away.mean(axis=1, keepdims=True)
    spread = float((away**2).sum())
    if count < 2 or spread == 0:
        return np.zeros(2)
    return np.array([(count - 1) * float((away.sum(axis=0) ** 2).sum()) / spread, count - 1.0])


def alike_within(differences: Floats, whole: Integers, orders: int) -> bool:
    """Whether means of wholes lie further apart than in each of so many random orders of the samples.

    Parameters
    ----------
    differences : ndarray, shape (samples, differences)
    whole : ndarray, shape (samples,)
        Numbers of what samples belong to.
    orders : int
    """
    order = np.argsort(whole, kind="stable")
    starts = np.flatnonzero(np.diff(whole[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    most = max(_MOST_SCORES // differences.shape[1], 1)
    kept = order[place < max(most * _LARGEST, 2)][:most]
    starts = np.flatnonzero(np.diff(whole[kept], prepend=-1))
    sizes = np.diff(starts, append=len(kept))[:, None]
    part = differences[kept] / np.abs(differences).max().clip(np.finfo(float).tiny)
    part = part - part.mean(axis=0)
    spread = np.sqrt((part**2).sum(axis=0))
    part = part[:, spread > 0] / spread[spread > 0]

    def apart(rows: Floats) -> float:
        return float((np.add.reduceat(rows, starts) ** 2 / sizes).sum(axis=0).max(initial=0))

    found, rng = apart(part) * (1 - 1e-9), np.random.default_rng(0)
    return part.size > 0 and all(apart(rng.permutation(part)) < found for _ in range(orders))
