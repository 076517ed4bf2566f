"""Objectives drawn again: one resample of the samples for all models and objectives (method §7).

Each unit of resampling weighs as much as an exponential number says (Rubin's Bayesian bootstrap, as in
gates), and the same for every objective it has a score of, and for every model where they share samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.copa.objective_scores import ObjectiveScores
from riskrank.engine.gates.replicates import statistics
from riskrank.engine.gates.side import Side
from riskrank.engine.sampling.expanded_percentile import expanded_share
from riskrank.engine.sampling.resamples import blocks
from riskrank.engine.types import Floats, Integers

# Weights made at once: 16 MB of doubles.
_WEIGHTS = 1 << 21


@dataclass(frozen=True, eq=False)
class ObjectiveReplicates:
    """N models by K objectives in B resamples.

    Attributes
    ----------
    plain : ndarray, shape (B, N, K)
        Larger is better; objectives that do not vary are themselves.
    low, high : ndarray, shape (B, N, K)
        The same with one unit more, as bad or as good as there can be (`engine.gates.caution`).
    """

    plain: Floats
    low: Floats
    high: Floats

    def interval(self, objective: ObjectiveScores, column: int, level: float) -> tuple[Floats, Floats]:
        """Ends of each model's value, each by itself, shapes (N,); NaN where replicates are too few to say.

        Parameters
        ----------
        objective : ObjectiveScores
        column : int
            Its number.
        level : float
            Coverage wanted.
        """
        low, high = objective.values.copy(), objective.values.copy()
        count = len(self.plain)
        if objective.scores is not None:
            shares = expanded_share((1 - level) / 2, objective.independent())
            for model, share in zip(objective.models.tolist(), shares.tolist(), strict=True):
                beyond = int(share * (count + 1) + 1e-9) - 1
                ends = np.sort(self.low[:, model, column]), np.sort(self.high[:, model, column])
                low[model], high[model] = (
                    (ends[0][beyond], ends[1][-1 - beyond]) if beyond >= 0 else (np.nan,) * 2
                )
        return low, high


def replicates(
    objectives: Sequence[ObjectiveScores], units: Sequence[int], *, together: bool, resamples: int, seed: int
) -> ObjectiveReplicates:
    """Resample all objectives of all models.

    Parameters
    ----------
    objectives : sequence of K ObjectiveScores
    units : sequence of N int
        Units of resampling of each model in the whole table.
    together : bool
        Whether unit u is the same for all models.
    resamples : int
        B.
    seed : int
        Entropy of the random streams.
    """
    shape = (resamples, len(units), len(objectives))
    values = np.stack([one.values for one in objectives], axis=1)
    found = tuple(np.broadcast_to(values, shape).copy() for _ in range(3))
    parts = [
        (int(model), k, one.units[at], one.level, one.sides(at))
        for k, one in enumerate(objectives)
        for at, model in enumerate(one.models)
    ]
    start = 0
    for drawn in _weights(units, together=together, resamples=resamples, seed=seed):
        rows = slice(start, start + len(drawn[0]))
        start = rows.stop
        for model, k, numbers, level, sides in parts:
            own = drawn[0 if together else model]
            for into, side in zip(found, sides, strict=True):
                into[rows, model, k] = statistics(side, _of_units(own, numbers, side), level)
    return ObjectiveReplicates(*found)


def _of_units(drawn: Floats, numbers: Integers, side: Side) -> Floats:
    """Weights of a model's units; what was added to them has the last column."""
    added = len(side.sizes) - numbers.size
    columns = np.concatenate([numbers, np.full(added, drawn.shape[1] - 1)])
    whole = columns.size == drawn.shape[1] - 1 + added and np.all(np.diff(columns[: numbers.size]) == 1)
    return drawn[:, : columns.size] if whole else drawn[:, columns]


def _weights(units: Sequence[int], *, together: bool, resamples: int, seed: int) -> Iterator[list[Floats]]:
    """Weights of the units and of one more, a column each, for all models or a table a model."""
    sizes = [max(units) + 1] if together else [count + 1 for count in units]
    kept: list[list[Floats]] = []
    most = max(_WEIGHTS // sum(sizes), 1)
    for stream, count in blocks(resamples, seed):
        rng = np.random.default_rng(stream)
        kept.append([rng.standard_exponential((count, size)) for size in sizes])
        if sum(len(one[0]) for one in kept) >= most:
            yield [np.concatenate(parts) for parts in zip(*kept, strict=True)]
            kept = []
    if kept:
        yield [np.concatenate(parts) for parts in zip(*kept, strict=True)]
