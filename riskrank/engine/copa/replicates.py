"""Objectives drawn again: one resample of the samples for all models and objectives (method §7).

Each unit of resampling weighs as much as an exponential number says (Rubin's Bayesian bootstrap, as in
gates), and the same for every objective it has a score of, and for every model where they share samples.

An objective of several models with the scores behind it, from which its doubt is known (method §7).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import ceil

import numpy as np

from riskrank.engine.evidence.cost_per_success import Costs
from riskrank.engine.gates.replicates import statistics
from riskrank.engine.gates.side import SideScores
from riskrank.engine.gates.worst_case_sample import Comparison
from riskrank.engine.matrix_products import weighted_sums
from riskrank.engine.sampling.degrees_of_freedom import expanded_share
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK, blocks
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class ObjectiveScores:
    """One objective of N models.

    Attributes
    ----------
    values : ndarray, shape (N,)
        Larger is better; minus infinity where a model has none, which is then the worst.
    scores : ClusteredScores or None
        Of the models that have some, at least two; None where values do not vary with samples, as prices.
    models : ndarray of int
        Which of the N models `scores` are of.
    units : tuple of ndarray of int
        Number in the whole table of each unit of resampling of each of those models.
    level : float or None
        Share of the worst scores whose mean the objective is; None for the mean of all.
    limits : (float, float), or None
        The worst and the best score there can be; None where nobody knows, and those of the models that are
        compared stand for them: a large model's costs say nothing of two small ones.
    margin : float
        Up to what another model counts as as good.
    successes : ClusteredScores or None
        Of a cost per success; `scores` are then the costs, turned around.
    """

    values: Floats
    scores: ClusteredScores | None = None
    models: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    units: tuple[Integers, ...] = ()
    level: float | None = None
    limits: tuple[float, float] | None = None
    margin: float = 0.0
    successes: ClusteredScores | None = None

    @cached_property
    def costs(self) -> tuple[Costs, ...]:
        """Costs and successes of each of those models; empty of other objectives."""
        if self.scores is None or self.successes is None:
            return ()
        parts = zip(self.scores.values, self.successes.values, self.scores.clusters, strict=True)
        return tuple(Costs.of(-own, successes, units) for own, successes, units in parts)

    @property
    def varies(self) -> Booleans:
        """The models whose value would be another with other samples, shape (N,)."""
        found = np.zeros(len(self.values), dtype=bool)
        found[self.models] = True
        return found

    def comparison(self, first: int, second: int) -> Comparison:
        """Two of the models `scores` are of, by their number there."""
        assert self.scores is not None
        both = [self.scores.values[first], self.scores.values[second]]
        ends = self.limits or (float(min(map(np.min, both))), float(max(map(np.max, both))))
        return Comparison.of(self.scores, first, second, self.level, ends, bounded=self.limits is not None)

    def sides(self, model: int) -> tuple[SideScores, SideScores, SideScores]:
        """A model's scores as they are, with one unit more that is bad, and with one that is good.

        Of whole tasks that are drawn there is no unit more, as in a gate.
        """
        if self.costs:
            one = self.costs[model]
            ratio = _RatioSide(-one.costs, one.units, over=one.successes)
            return ratio, ratio, ratio  # nothing is added where t decides
        # Alone no score is another model's: what is added is the worst and the best that this one may have.
        alone = replace(self.comparison(model, model), paired=False)
        return alone.new, alone.against().new, alone.in_favour().new

    def independent(self) -> Floats:
        """Independent units behind each of those models; of a tail mean those in its tail."""
        assert self.scores is not None
        each = np.maximum(self.scores.independent, 2.0)
        if self.level is None:
            return each
        return np.clip(np.rint(each * self.level), 2.0, each)


@dataclass(frozen=True, kw_only=True)
class _RatioSide(SideScores):
    """Costs that are divided by successes, not by their number."""

    over: Floats

    @property
    def sizes(self) -> Floats:  # type: ignore[override]
        return np.asarray(np.bincount(self.clusters, self.over), dtype=np.float64)


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
        for model, costs in zip(objective.models.tolist(), objective.costs, strict=bool(objective.costs)):
            high[model], low[model] = (-end for end in costs.interval(1 - level))
        if objective.scores is not None and not objective.costs:
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
            own, added = _of_units(drawn[0 if together else model], numbers)
            # Means over units that are drawn within their tasks, if there are any, have sums to share.
            is_mean = level is None and not sides[0].tasks.random
            each = (_means if is_mean else partial(_any, level=level))(own, added, sides)
            for into, value in zip(found, each, strict=True):
                into[rows, model, k] = value
    return ObjectiveReplicates(*found)


def _of_units(drawn: Floats, numbers: Integers) -> tuple[Floats, Floats]:
    """Weights of a model's units, and of the one that is added to them, which has the last column."""
    whole = numbers.size == drawn.shape[1] - 1 and np.all(np.diff(numbers) == 1)
    return drawn[:, : numbers.size] if whole else drawn[:, numbers], drawn[:, -1]


def _means(own: Floats, added: Floats, sides: Sequence[SideScores]) -> list[Floats]:
    """Means of one model's scores, and with either unit more: the sums over its own units are the same."""
    plain = sides[0]
    weights, heaviest = plain.tasks.weights, plain.tasks.heaviest
    bounds = np.searchsorted(plain.tasks.of_unit, np.arange(weights.size + 1))
    sums, sizes = plain.sums, plain.sizes.astype(np.float64)
    found = [np.zeros(len(own)) for _ in sides]
    for task, weight in enumerate(weights.tolist()):
        part = slice(bounds[task], bounds[task + 1])
        total, count = (weighted_sums(own[:, part], of_unit[part]) for of_unit in (sums, sizes))
        for value, side in zip(found, sides, strict=True):
            if task == heaviest and side is not plain:
                value += weight * (total + added * side.sums[-1]) / (count + added * side.sizes[-1])
            else:
                value += weight * total / count
    return found


def _any(own: Floats, added: Floats, sides: Sequence[SideScores], level: float | None) -> list[Floats]:
    """The same of every statistic and design."""
    more = np.column_stack([own, added])
    return [statistics(side, more[:, : len(side.sizes)], level) for side in sides]


def _weights(units: Sequence[int], *, together: bool, resamples: int, seed: int) -> Iterator[list[Floats]]:
    """Weights of the units and of one more, a column each, for all models or a table a model."""
    sizes = [max(units) + 1] if together else [count + 1 for count in units]
    streams, step = blocks(resamples, seed), ceil(max(_WEIGHTS // sum(sizes), 1) / BLOCK)
    for start in range(0, len(streams), step):
        own = [(np.random.default_rng(stream), count) for stream, count in streams[start : start + step]]
        drawn = [[rng.standard_exponential((count, size)) for size in sizes] for rng, count in own]
        yield [np.concatenate(parts) for parts in zip(*drawn, strict=True)]
