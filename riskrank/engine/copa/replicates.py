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
        return tuple(Costs.of(-cost, successes, units) for cost, successes, units in parts)

    @property
    def is_sampled(self) -> Booleans:
        """The models whose value would be another with other samples, shape (N,)."""
        mask = np.zeros(len(self.values), dtype=bool)
        mask[self.models] = True
        return mask

    def comparison(self, first: int, second: int) -> Comparison:
        """Two of the models `scores` are of, by their number there."""
        assert self.scores is not None
        scores = [self.scores.values[first], self.scores.values[second]]
        limits = self.limits or (float(min(map(np.min, scores))), float(max(map(np.max, scores))))
        return Comparison.of(self.scores, first, second, self.level, limits, bounded=self.limits is not None)

    def score_variants(self, model: int) -> tuple[SideScores, SideScores, SideScores]:
        """A model's scores as they are, with one unit more that is bad, and with one that is good.

        Of whole tasks that are drawn there is no unit more, as in a gate.
        """
        if self.costs:
            costs = self.costs[model]
            ratio = _RatioScores(-costs.costs, costs.units, denominators=costs.successes)
            return ratio, ratio, ratio  # nothing is added where t decides
        # Alone no score is another model's: what is added is the worst and the best that this one may have.
        alone = replace(self.comparison(model, model), paired=False)
        return comparison.new, comparison.against().new, comparison.in_favour().new

    def independent(self) -> Floats:
        """Independent units behind each of those models; of a tail mean those in its tail."""
        assert self.scores is not None
        sizes = np.maximum(self.scores.independent, 2.0)
        if self.level is None:
            return sizes
        return np.clip(np.rint(sizes * self.level), 2.0, sizes)


@dataclass(frozen=True, kw_only=True)
class _RatioScores(SideScores):
    """Costs that are divided by successes, not by their number."""

    denominators: Floats

    @property
    def sizes(self) -> Floats:  # type: ignore[override]
        return np.asarray(np.bincount(self.clusters, self.denominators), dtype=np.float64)


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

    def interval(self, objective: ObjectiveScores, column: int, confidence: float) -> tuple[Floats, Floats]:
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
        n_resamples = len(self.plain)
        for model, costs in zip(objective.models.tolist(), objective.costs, strict=bool(objective.costs)):
            high[model], low[model] = (-limit for limit in costs.interval(1 - confidence))
        if objective.scores is not None and not objective.costs:
            tail_shares = expanded_share((1 - confidence) / 2, objective.independent())
            for model, tail_share in zip(objective.models.tolist(), tail_shares.tolist(), strict=True):
                index = int(tail_share * (n_resamples + 1) + 1e-9) - 1
                extremes = np.sort(self.low[:, model, column]), np.sort(self.high[:, model, column])
                low[model], high[model] = (
                    (extremes[0][index], extremes[1][-1 - index]) if index >= 0 else (np.nan,) * 2
                )
        return low, high


def resample_objectives(
    objectives: Sequence[ObjectiveScores],
    units: Sequence[int],
    *,
    shared_units: bool,
    resamples: int,
    seed: int,
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
    values = np.stack([objective.values for objective in objectives], axis=1)
    arrays = tuple(np.broadcast_to(values, shape).copy() for _ in range(3))
    jobs = [
        (int(model), k, objective.units[i], objective.level, objective.score_variants(i))
        for k, objective in enumerate(objectives)
        for i, model in enumerate(objective.models)
    ]
    start = 0
    for weights in _exponential_weights(units, shared_units=shared_units, resamples=resamples, seed=seed):
        rows = slice(start, start + len(weights[0]))
        start = rows.stop
        for model, k, model_units, level, variants in jobs:
            unit_weights, extra_weight = _unit_weights(weights[0 if shared_units else model], model_units)
            # Means over units that are drawn within their tasks, if there are any, have sums to share.
            is_mean = level is None and not variants[0].tasks.random
            statistic = (_mean_replicates if is_mean else partial(_statistic_replicates, level=level))(
                unit_weights, extra_weight, variants
            )
            for target, value in zip(arrays, statistic, strict=True):
                target[rows, model, k] = value
    return ObjectiveReplicates(*arrays)


def _unit_weights(weights: Floats, units: Integers) -> tuple[Floats, Floats]:
    """Weights of a model's units, and of the one that is added to them, which has the last column."""
    contiguous = units.size == weights.shape[1] - 1 and np.all(np.diff(units) == 1)
    return weights[:, : units.size] if contiguous else weights[:, units], weights[:, -1]


def _mean_replicates(
    unit_weights: Floats, extra_weight: Floats, variants: Sequence[SideScores]
) -> list[Floats]:
    """Means of one model's scores, and with either unit more: the sums over its own units are the same."""
    plain = variants[0]
    weights, heaviest = plain.tasks.weights, plain.tasks.heaviest
    bounds = np.searchsorted(plain.tasks.of_unit, np.arange(weights.size + 1))
    sums, sizes = plain.sums, plain.sizes.astype(np.float64)
    means = [np.zeros(len(unit_weights)) for _ in variants]
    for task, weight in enumerate(weights.tolist()):
        part = slice(bounds[task], bounds[task + 1])
        total, count = (weighted_sums(unit_weights[:, part], of_unit[part]) for of_unit in (sums, sizes))
        for value, variant in zip(means, variants, strict=True):
            if task == heaviest and variant is not plain:
                value += (
                    weight
                    * (total + extra_weight * variant.sums[-1])
                    / (count + extra_weight * variant.sizes[-1])
                )
            else:
                value += weight * total / count
    return means


def _statistic_replicates(
    unit_weights: Floats, extra_weight: Floats, variants: Sequence[SideScores], level: float | None
) -> list[Floats]:
    """The same of every statistic and design."""
    all_weights = np.column_stack([unit_weights, extra_weight])
    return [statistics(variant, all_weights[:, : len(variant.sizes)], level) for variant in variants]


def _exponential_weights(
    units: Sequence[int], *, shared_units: bool, resamples: int, seed: int
) -> Iterator[list[Floats]]:
    """Weights of the units and of one more, a column each, for all models or a table a model."""
    sizes = [max(units) + 1] if shared_units else [count + 1 for count in units]
    streams, step = blocks(resamples, seed), ceil(max(_WEIGHTS // sum(sizes), 1) / BLOCK)
    for start in range(0, len(streams), step):
        batch = [(np.random.default_rng(stream), count) for stream, count in streams[start : start + step]]
        weights = [[rng.standard_exponential((count, size)) for size in sizes] for rng, count in batch]
        yield [np.concatenate(parts) for parts in zip(*weights, strict=True)]
