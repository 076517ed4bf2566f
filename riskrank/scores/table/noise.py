"""Scores whose noise comes from several named sources, laid out by sample and level (method §15)."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from riskrank.asked.reading import SHARED
from riskrank.engine.evidence.crossed import FEWEST_LEVELS
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, UsageError, option
from riskrank.scores.table.scores import Scores

ITEM = "item"
"""The samples, as a source of noise."""

_JOINT = re.compile(r"(?<!\\)\+")


@dataclass(frozen=True, eq=False)
class NoiseDesign:
    """Scores by model and by combination of a sample and a level of every source.

    Attributes
    ----------
    factors : dict of str to ndarray of int, shapes (N,)
        Level of each combination, by source; items first, then those that are drawn.
    levels : dict of str to int
        Of every source that was named.
    values : ndarray, shape (k, N, m)
        Larger is better; NaN where a model has no score.
    """

    factors: dict[str, Integers]
    levels: dict[str, int]
    values: Floats

    @classmethod
    def of_samples(cls, draws: Floats, units: Integers) -> NoiseDesign:
        """Samples of some units, of which every model has some: by model, sample, draw (one) and metric."""
        return cls({ITEM: units}, {}, draws[:, :, 0])

    def differences(self, one: int, other: int, metric: int) -> tuple[Floats, Booleans]:
        """Differences of two models on what both were scored on, and which combinations these are."""
        apart = self.values[one, :, metric] - self.values[other, :, metric]
        shared = np.isfinite(apart)
        return apart[shared], shared

    def counts(self, metric: int = 0) -> Integers:
        """Combinations that both models of each pair were scored on, shape (k, k)."""
        there = np.isfinite(self.values[:, :, metric]).astype(np.int64)
        return there @ there.T

    @property
    def shared(self) -> bool:
        """Whether samples are all that varies, and each pair is compared on those both have."""
        return not self.levels

    @property
    def fixed(self) -> list[str]:
        """Sources of too few levels to be a sample of others: they are averaged."""
        return [name for name, count in self.levels.items() if count < FEWEST_LEVELS]

    @property
    def few(self) -> list[str]:
        """Sources that are drawn, of few levels."""
        return [name for name, count in self.levels.items() if FEWEST_LEVELS <= count < FEWEST_LEVELS + 2]


def refuse_more(scores: Scores, time: str = "") -> None:
    """Refuse tasks and an order of time where samples and sources of noise are all that varies.

    Raises
    ------
    UsageError
    """
    named = ",".join(scores.options.noise)
    asked = option("noise", named) if named else option("missing", SHARED)
    if time:
        raise UsageError(
            f"{asked} knows no order of time",
            found=f"samples in the order of {time}",
            hint=f"{option('time', 'none')} says that their order means nothing",
        )
    if scores.has("task"):
        raise UsageError(
            f"{asked} knows no tasks",
            found="samples and the sources that are named are all that varies",
            hint=f"leave the tasks out: {option('task', 'none')}, or compare on one with {option('where')}",
        )


def noise_design(scores: Scores, values: Floats) -> NoiseDesign:
    """Scores by sample and level, averaged over whatever else varies.

    Parameters
    ----------
    scores : Scores
    values : ndarray, shape (rows,)
        Oriented, NaN where there is none.

    Raises
    ------
    InputError
        If a source has one level, or one of its own for every sample.
    """
    names, of_samples = scores.names("noise"), scores.codes("sample")
    parts = [_JOINT.split(name) for name in names]
    codes = scores.codes("noise")
    columns, levels = {}, {}
    for at, source in enumerate(scores.options.noise):
        _, numbers = np.unique([part[at] for part in parts], return_inverse=True)
        columns[source] = _paired(numbers[codes], scores.codes("model"))
        levels[source] = np.unique(columns[source]).size
        met = np.unique(np.stack([of_samples, columns[source]]), axis=1)
        _refuse_no_source(source, levels[source], met.shape[1], scores)
    _, codes = np.unique(np.stack([*columns.values()]), axis=1, return_inverse=True)
    joint = of_samples * (int(codes.max()) + 1) + codes.ravel()
    used, row = np.unique(joint, return_inverse=True)
    k, m, n = len(scores.models), len(scores.metrics), used.size
    cell = (scores.codes("model") * n + row) * m + scores.codes("metric")
    valid = ~np.isnan(values)
    counts = np.bincount(cell[valid], minlength=k * n * m)
    sums = np.bincount(cell[valid], values[valid], minlength=k * n * m)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (sums / np.where(counts > 0, counts, np.nan)).reshape(k, n, m)
    first = np.zeros(n, dtype=np.int64)
    first[row[::-1]] = np.arange(row.size)[::-1]
    factors = {ITEM: of_samples[first]}
    factors |= {name: own[first] for name, own in columns.items() if levels[name] >= FEWEST_LEVELS}
    return NoiseDesign(factors, levels, found)


def _paired(levels: Integers, model: Integers) -> Integers:
    """Levels, numbered anew where every model has its own: independent ones may be paired in any order."""
    own = np.unique(np.stack([model, levels]), axis=1)
    if len(np.unique(own[1])) < own.shape[1]:
        return levels
    place = np.zeros(int(levels.max()) + 1, dtype=np.int64)
    place[own[1]] = np.arange(own.shape[1]) - np.searchsorted(own[0], own[0])
    return place[levels]


def _refuse_no_source(name: str, levels: int, pairs: int, scores: Scores) -> None:
    samples = len(scores.samples)
    if levels == 1 or (levels >= samples and pairs <= levels):
        raise InputError(
            f"{option('noise', name)} is no source of noise beside the samples",
            found=f"{levels} value{'s' if levels > 1 else ''} on {samples} samples",
            hint="name a column of which every sample has several values: judges, wordings, seeds",
        )
