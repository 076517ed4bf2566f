"""Samples that a column nobody named puts into wholes, within which models differ alike."""

import numpy as np
import polars as pl

from riskrank.asked.judges import NO_COLUMN
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, option
from riskrank.scores.table.further_columns import unforeseen_wholes
from riskrank.scores.table.oriented import ScoreTable
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.times import residuals

# Differences depend on a whole if none of so many random orders of the samples parts them as far.
_ORDERS = 999
# Scores that are looked at, and the share of them that one whole may have.
_MOST_SCORES, _LARGEST = 100_000, 1 / 9


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
