"""Joint resampling of all objectives and models (method §7).

Each resampling unit gets an exponential weight (Rubin's Bayesian bootstrap, as in `gate`). The weight of a
unit is the same for all objectives, and for all models if they share samples.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil

import numpy as np

from riskrank.engine.evidence.cost_per_success import Costs
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.gates.replicates import Comparison, resampled_statistics
from riskrank.engine.gates.side import SideScores
from riskrank.engine.sampling.degrees_of_freedom import unexpanded_p_value
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK, make_blocks
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class ObjectiveScores:
    """Values of N models on one objective, with the scores they are computed from (method §7).

    Attributes
    ----------
    values : ndarray, shape (N,)
        Value of each model, larger is better; minus infinity for a model without a value.
    scores : ClusteredScores or None
        Scores of at least two models; None if the values do not depend on samples, such as prices.
    models : ndarray of int
        Indices of the models in `scores`, among the N models.
    units : tuple of ndarray of int
        For each model in `scores`, the index of each resampling unit in the whole table.
    level : float or None
        Proportion of the worst scores that is averaged; None for the mean of all scores.
    limits : (float, float), or None
        The worst and the best possible score. None if unknown; then the extremes of the two compared models
        are used.
    margin : float
        Non-inferiority margin: largest deficit at which a model still counts as good as another.
    successes : ClusteredScores or None
        Successes, for a cost per success; `scores` are then the negated costs.
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
        """Costs and successes of each model in `scores`; empty unless the objective is a cost per success."""
        if self.scores is None or self.successes is None:
            return ()
        parts = zip(self.scores.values, self.successes.values, self.scores.clusters, strict=True)
        return tuple(Costs.from_rows(-cost, successes, units) for cost, successes, units in parts)

    @property
    def is_sampled(self) -> Booleans:
        """Mask of the models whose value depends on samples, shape (N,)."""
        mask = np.zeros(len(self.values), dtype=bool)
        mask[self.models] = True
        return mask

    @property
    def is_mean(self) -> bool:
        """True if the values are means of scores."""
        return self.scores is not None and self.level is None and self.successes is None

    def mean_evidence(self, boundary: float, seed: int) -> Evidence:
        """Return evidence that the mean of each model in `scores` is above a boundary."""
        assert self.scores is not None
        means = [MeanContrast.from_mean(self.scores, model) for model in range(len(self.models))]
        return mean_evidence(means, boundary, seed=seed)

    def score_variants(self, model: int) -> tuple[SideScores, ...]:
        """Return a model's scores as observed and, for a tail mean, with one bad or one good unit added.

        No unit is added if whole tasks are resampled, as in `gate`.

        Parameters
        ----------
        model : int
            Position of the model in `scores`.
        """
        if self.costs:
            costs = self.costs[model]
            ratio = _RatioScores(-costs.costs, costs.units, denominators=costs.successes)
            return (ratio,)
        assert self.scores is not None
        if self.level is None:
            return (SideScores.from_scores(self.scores, model),)
        scores = self.scores.values[model]
        limits = self.limits or (float(scores.min()), float(scores.max()))
        comparison = Comparison.from_scores(self.scores, model, model, self.level, limits)
        return comparison.new, comparison.with_adverse_sample().new, comparison.with_favourable_sample().new

    def effective_sizes(self) -> Floats:
        """Return the effective sample size of each model in `scores`; for tail means, that of the tail."""
        assert self.scores is not None
        sizes = np.maximum(self.scores.effective_sizes, 2.0)
        if self.level is None:
            return sizes
        return np.clip(np.rint(sizes * self.level), 2.0, sizes)


@dataclass(frozen=True, kw_only=True)
class _RatioScores(SideScores):
    """Costs divided by the number of successes instead of the number of scores."""

    denominators: Floats

    @property
    def sizes(self) -> Floats:  # type: ignore[override]
        """Denominator of each cluster: its sum of successes."""
        return np.asarray(np.bincount(self.clusters, self.denominators), dtype=np.float64)


# Largest number of weights generated at once: 16 MB of doubles.
_WEIGHTS = 1 << 21


@dataclass(frozen=True, eq=False)
class ObjectiveReplicates:
    """Values of N models on K objectives in B resamples.

    Attributes
    ----------
    plain : ndarray, shape (B, N, K)
        Replicates, larger is better; constant for objectives that do not depend on samples.
    low, high : ndarray, shape (B, N, K)
        Replicates of tail means after adding one unit that is as bad (`low`) or as good (`high`) as possible;
        see `engine.gates.replicates`.
    seed : int
        Seed of the resamples of means.
    """

    plain: Floats
    low: Floats
    high: Floats
    seed: int = 0

    def interval(self, objective: ObjectiveScores, column: int, confidence: float) -> tuple[Floats, Floats]:
        """Return the lower and upper limits of each model's value, shapes (N,).

        Intervals are pointwise, not simultaneous. Limits are NaN if there are too few replicates.

        Parameters
        ----------
        objective : ObjectiveScores
        column : int
            Column of the objective in the replicates.
        confidence : float
            Coverage of each interval.
        """
        low, high = objective.values.copy(), objective.values.copy()
        n_resamples = len(self.plain)
        for model, costs in zip(objective.models.tolist(), objective.costs, strict=bool(objective.costs)):
            high[model], low[model] = (-limit for limit in costs.interval(1 - confidence))
        if objective.is_mean:
            low[objective.models], high[objective.models] = objective.mean_evidence(0.0, self.seed).interval(
                1 - confidence
            )
        elif objective.scores is not None and not objective.costs:
            tail_shares = unexpanded_p_value((1 - confidence) / 2, objective.effective_sizes())
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
        Number of resampling units of each model in the whole table.
    shared_units : bool
        Whether a unit index denotes the same unit for all models.
    resamples : int
        Number of resamples, B.
    seed : int
        Entropy of the random streams.

    Returns
    -------
    ObjectiveReplicates
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
            # The weights of the model's units, then that of the added unit.
            unit_weights = weights[0 if shared_units else model][:, [*model_units, -1]]
            for target, variant in zip(arrays, variants, strict=False):
                target[rows, model, k] = resampled_statistics(
                    variant, unit_weights[:, : len(variant.sizes)], level
                )
    return ObjectiveReplicates(arrays[0], arrays[1], arrays[2], seed)


def _exponential_weights(
    units: Sequence[int], *, shared_units: bool, resamples: int, seed: int
) -> Iterator[list[Floats]]:
    """Yield exponential weights of the units and of one added unit, in batches of resamples.

    Each batch is a list of arrays with one row per resample and one column per unit. The list holds a single
    array if all models share their units, otherwise one array per model.
    """
    sizes = [max(units) + 1] if shared_units else [count + 1 for count in units]
    resample_blocks, step = make_blocks(resamples, seed), ceil(max(_WEIGHTS // sum(sizes), 1) / BLOCK)
    for start in range(0, len(resample_blocks), step):
        batch = [(block.generator(), block.count) for block in resample_blocks[start : start + step]]
        weights = [[rng.standard_exponential((count, size)) for size in sizes] for rng, count in batch]
        yield [np.concatenate(parts) for parts in zip(*weights, strict=True)]
