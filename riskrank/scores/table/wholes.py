"""Rows that are no independent ones: samples of wholes within which models differ alike, and runs that do."""

from dataclasses import replace

import numpy as np
import polars as pl
import scipy  # loads its functions when they are first used

from riskrank.asked.baseline import GateReading
from riskrank.asked.judges import NO_COLUMN
from riskrank.asked.reading import RankReading
from riskrank.engine.sampling.design import FEWEST_LEVELS
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, option
from riskrank.scores.table.columns import parse_columns
from riskrank.scores.table.further_columns import unforeseen_wholes
from riskrank.scores.table.oriented import ScoreTable
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.shapes.reading import UnlikeRunsError
from riskrank.scores.table.times import residuals

# Differences depend on a whole if none of so many random orders of the samples parts them as far.
_ORDERS = 999
# Scores that are looked at, and the share of them that one whole may have.
_MOST_SCORES, _LARGEST = 100_000, 1 / 9
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
    said = asked.cluster or asked.task or asked.group_by or asked.unpaired or asked.corrects_judge
    if said or not asked.tests or scores.has("cluster") or scores.has("task") or table.folds is not None:
        return
    found = unforeseen_wholes(scores) if len(table.models) > 1 else []
    differences = np.concatenate(residuals(table)).T if found else np.empty(0)
    for column, of_sample in found:
        own = pl.DataFrame({"sample": table.samples}).join(of_sample, on="sample", how="left")
        whole = own["whole"].rank("dense").to_numpy().astype(np.int64)
        if alike_within(differences, whole, _ORDERS * len(found)):
            ways = {value: option("cluster", value) for value in (column, NO_COLUMN)}
            raise InputError(
                f"samples of one {column} are alike, and cannot be tested as {len(table.samples):,} samples",
                found=f"{own['whole'].n_unique():,} values of {column}: models differ more between them than "
                f"in each of {_ORDERS * len(found):,} random orders of the samples",
                hint=f"{ways[column]} draws each {column} whole; if it only says of what kind samples are, "
                f"{ways[NO_COLUMN]} draws single samples",
                ways=[(way, {"cluster": value}) for value, way in ways.items()],
            )


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
    few = int(found[:, 1].max()) < (FEWEST_LEVELS - 1) * len(scores.models)
    of_means = isinstance(asked, RankReading | GateReading) and not few
    level = _OF_MEANS if of_means and scores.notes.given.repeats != "draws" else _ELSE
    if not (len(found) * scipy.special.chdtrc(*found[:, ::-1].T) < level).any():
        return
    others = {role: name for role, name in parse_columns(asked.columns).items() if role != "draw"}
    columns = ",".join(f"{role}={name}" for role, name in others.items()) or None
    ways = []
    if of_means:
        ways = [("", replace(scores.notes.asked, noise=(column,), columns=columns, repeats="error"))]
    raise UnlikeRunsError(
        f"runs of a {column} are better or worse on all samples, and cannot be drawn sample by sample",
        found=f"{np.unique(runs).size} values of {column}: means lie further apart than those of like runs",
        hint=f"run {FEWEST_LEVELS} or more: fewer do not tell how others would do"
        if few
        else f"riskrank rank and gate take them as a sample of others like them: {option('noise', column)}",
        ways=ways,
    )


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
