"""Joint resampling of all objectives and models (method §7).

Each resampling unit gets an exponential weight (Rubin's Bayesian bootstrap, as in `gate`). The weight of a
unit is the same for all objectives, and for all models if they share samples.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import ceil

import numpy as np

from riskrank.engine.evidence.cost_per_success import Costs
from riskrank.engine.gates.replicates import resampled_statistics
from riskrank.engine.gates.side import SideScores
from riskrank.engine.gates.worst_case_sample import Comparison
from riskrank.engine.matrix_products import weighted_sums
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
        Scores of at least two models; None for values that do not depend on samples, such as prices.
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

    def comparison(self, first: int, second: int) -> Comparison:
        """Return the comparison of two models, given by their positions in `scores`."""
        assert self.scores is not None
        scores = [self.scores.values[first], self.scores.values[second]]
        limits = self.limits or (float(min(map(np.min, scores))), float(max(map(np.max, scores))))
        return Comparison.from_scores(
            self.scores, first, second, self.level, limits, limits_known=self.limits is not None
        )

    def score_variants(self, model: int) -> tuple[SideScores, SideScores, SideScores]:
        """Return a model's scores as observed, with one bad unit added, and with one good unit added.

        No unit is added if whole tasks are resampled, as in `gate`.

        Parameters
        ----------
        model : int
            Position of the model in `scores`.
        """
        if self.costs:
            costs = self.costs[model]
            ratio = _RatioScores(-costs.costs, costs.units, denominators=costs.successes)
            return ratio, ratio, ratio  # Student's t needs no added unit
        # An unpaired comparison of the model with itself adds its own worst and best possible score.
        comparison = replace(self.comparison(model, model), paired=False)
        return comparison.new, comparison.with_adverse_sample().new, comparison.with_favourable_sample().new

    def effective_sizes(self) -> Floats:
        """Return the effective sample size of each model in `scores`, or of its tail for a tail mean."""
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
        The same with one added unit, as bad or as good as possible (`engine.gates.worst_case_sample`).
    """

    plain: Floats
    low: Floats
    high: Floats

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
        if objective.scores is not None and not objective.costs:
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
            unit_weights, extra_weight = _unit_weights(weights[0 if shared_units else model], model_units)
            # Means share sums between the variants unless whole tasks are resampled.
            is_mean = level is None and not variants[0].tasks.random
            statistic = (_mean_replicates if is_mean else partial(_statistic_replicates, level=level))(
                unit_weights, extra_weight, variants
            )
            for target, value in zip(arrays, statistic, strict=True):
                target[rows, model, k] = value
    return ObjectiveReplicates(*arrays)


def _unit_weights(weights: Floats, units: Integers) -> tuple[Floats, Floats]:
    """Return the weights of a model's units, and the weight of the added unit (the last column)."""
    contiguous = units.size == weights.shape[1] - 1 and np.all(np.diff(units) == 1)
    return weights[:, : units.size] if contiguous else weights[:, units], weights[:, -1]


def _mean_replicates(
    unit_weights: Floats, extra_weight: Floats, variants: Sequence[SideScores]
) -> list[Floats]:
    """Return replicates of a model's mean for each variant of its scores.

    The variants share the sums over the model's own units, so these are computed once.

    Parameters
    ----------
    unit_weights : ndarray, shape (B, units)
    extra_weight : ndarray, shape (B,)
        Weight of the added unit.
    variants : sequence of SideScores
        The scores as observed, then with one unit added.
    """
    plain = variants[0]
    weights, heaviest = plain.tasks.weights, plain.tasks.heaviest_task
    bounds = np.searchsorted(plain.tasks.unit_tasks, np.arange(weights.size + 1))
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
    """Return replicates of any statistic and design for each variant of the scores."""
    all_weights = np.column_stack([unit_weights, extra_weight])
    return [
        resampled_statistics(variant, all_weights[:, : len(variant.sizes)], level) for variant in variants
    ]


def _exponential_weights(
    units: Sequence[int], *, shared_units: bool, resamples: int, seed: int
) -> Iterator[list[Floats]]:
    """Yield exponential weights of the units and of one added unit, in batches of resamples.

    Each batch is a list of arrays with one column per unit: one array for all models if they share units,
    else one array per model.
    """
    sizes = [max(units) + 1] if shared_units else [count + 1 for count in units]
    resample_blocks, step = make_blocks(resamples, seed), ceil(max(_WEIGHTS // sum(sizes), 1) / BLOCK)
    for start in range(0, len(resample_blocks), step):
        batch = [(block.generator(), block.count) for block in resample_blocks[start : start + step]]
        weights = [[rng.standard_exponential((count, size)) for size in sizes] for rng, count in batch]
        yield [np.concatenate(parts) for parts in zip(*weights, strict=True)]
