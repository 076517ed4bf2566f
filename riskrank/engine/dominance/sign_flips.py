"""Exact lower bounds on p-values: sign flips and relabellings of a mean utility (method §4, rule 4).

The bootstrap of a violation ratio or of a tail is too liberal if few samples carry most of the spread.
Suppose that one model has three disasters and the other has none. Nearly all resamples contain a disaster,
although all three belong to the same model with probability 1/4 if the models are exchangeable.

Every claim of dominance implies an inequality of mean utilities E u(a) ≥ E u(b). If the models are
exchangeable, swapping the scores of both models on a unit changes neither the pooled distribution nor the
utility u. The distribution of the mean difference under all swaps is therefore exact. For unpaired models,
the pooled units are dealt to the models at random, within tasks.

The tail mean of a small sample is biased towards mild values. For unpaired models, the bias is even larger in
resamples, because these cannot contain failures that were never observed. Therefore each of their replicates
is shifted by twice the average bias of the resamples (method §4, "Tails").

References
----------
V. Bentkus and D. Dzindzalieta (2015). A tight Gaussian bound for weighted sums of Rademacher random
variables. Bernoulli 21(2), 1231-1237. doi:10.3150/14-BEJ603
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil

import numpy as np

from riskrank.engine.evidence.mean_differences import is_binary
from riskrank.engine.family import Family
from riskrank.engine.numeric import CommonScale
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.special import ndtr
from riskrank.engine.types import Booleans, Floats, Integers

# Function of ascending pooled scores and their cumulative weights that returns the utilities.
Utility = Callable[[Floats, Floats], Floats]

# Scores of k models, and the utility whose mean is compared.
Case = tuple[ClusteredScores, Utility]

# All flips of at most 13 units are enumerated; otherwise, flips are drawn at random.
MAX_ENUMERATED = 13

# Number of random flips: at least _MIN_FLIPS, and at least _FLIPS divided by the smallest level of the
# family, but flips times units must not exceed _LIMIT.
_MIN_FLIPS, _FLIPS, _LIMIT = 10_000, 10, 1 << 25

# A pair is decided after the first _FIRST flips if at least _ENOUGH of them exceed its mean difference.
_FIRST, _ENOUGH = 1000, 100

# Largest relative error of normal p-values that replace random flips.
_ERROR = 0.02

# No sum of random signs has a larger tail probability than a normal variable times this factor.
_GAUSSIAN_BOUND = 1 / (4 * ndtr(-np.sqrt(2)))

# Sums of the same numbers in a different order differ by less, relative to the sum of absolute values.
_ROUNDING = 1e-11

# Number of flips × units per batch.
_BATCH = 1 << 21


def mean_utility(order: int) -> Utility:
    """Return a utility function whose mean is larger for a model that dominates in the given order.

    For order 1 it is u(x) = x. For order 2 it has the derivative u′(x) = 1 − F(x), where F is the CDF of the
    pooled scores. The function takes sorted pooled scores and their cumulative weights.
    """

    def integrated(values: Floats, cumulated: Floats) -> Floats:
        """Return the utility of each value, the integral of 1 − F up to it.

        `values` holds the sorted pooled scores, and `cumulated` their distribution function F.
        """
        return np.concatenate(([0.0], np.cumsum((1 - cumulated[:-1]) * np.diff(values))))

    return integrated if order == 2 else _identity


def _identity(values: Floats, _: Floats) -> Floats:
    """Return the scores themselves, which are the utility for first-order dominance."""
    return values


def tail_utility(level: float) -> Utility:
    """Return a utility function whose mean is a tail mean: u(x) = min(x − q, 0)/p.

    Here p is the given level, and q is the quantile of the pooled scores at this level. The function takes
    sorted pooled scores and their cumulative weights.
    """

    def shortfall(values: Floats, cumulated: Floats) -> Floats:
        """Return the utility min(x − q, 0)/p of each value.

        `values` holds the sorted pooled scores, and `cumulated` their distribution function.
        """
        quantile = values[min(int(np.searchsorted(cumulated, level * (1 - _ROUNDING))), values.size - 1)]
        return np.minimum(values - quantile, 0.0) / level

    return shortfall


def flip_p_values(
    scores: ClusteredScores, pairs: Sequence[tuple[int, int]], utility: Utility, *, level: float, seed: int
) -> Floats:
    """Return p-values for the null hypothesis "the mean utility of i is not larger than that of j".

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    pairs : sequence of (int, int)
        Pairs to test; both directions are tested.
    utility : Utility
        Function that maps sorted pooled scores and their cumulative weights to utilities.
    level : float
        Smallest level of the family, which determines the number of flips.
    seed : int
        Seed of the random flips.

    Returns
    -------
    ndarray, shape (k, k)
        P-values; 1 for pairs that are not tested.
    """
    return joint_flip_p_values([(scores, utility)], pairs, level=level, seed=seed)[0]


def joint_flip_p_values(
    cases: Sequence[Case], pairs: Sequence[tuple[int, int]], *, level: float, seed: int
) -> Floats:
    """Return sign-flip p-values for several columns or utilities, with the same flips for all.

    Parameters
    ----------
    cases : sequence of c (ClusteredScores, Utility)
        Scores of k models, and the utility whose mean is compared.
    pairs, level, seed
        See :func:`flip_p_values`.

    Returns
    -------
    ndarray, shape (c, k, k)
        The same p-values as those of separate calls of :func:`flip_p_values`.
    """
    p_values = np.ones((len(cases), cases[0][0].models, cases[0][0].models))
    for members, shape, sums, observed in _group_pairs(cases, pairs):
        binary = np.array([is_binary([cases[at][0].values[i] for i in pair]) for at, *pair in members])
        at, first, second = np.transpose(members)
        both = _one_sided_p_values(shape, sums, observed, binary, level, seed)
        p_values[at, first, second], p_values[at, second, first] = both
    return p_values


def flip_count(units: int, level: float) -> int:
    """Return the number of random flips of `units` units, if `level` is the smallest level of the family."""
    return max(min(max(_MIN_FLIPS, ceil(_FLIPS / level)), _LIMIT // units), _FIRST)


def binary_p_values(scores: ClusteredScores, family: Family, seed: int) -> Floats:
    """Return two-sided p-values for the null hypothesis of equal means, for binary scores.

    Returns
    -------
    ndarray, shape (k, k)
        All 0 if the scores are not binary.
    """
    k = scores.models
    if not is_binary(scores.values):
        return np.zeros((k, k))
    pairs, level = [*combinations(range(k), 2)], family.interval_level(k * (k - 1))
    p_values = flip_p_values(scores, pairs, mean_utility(1), level=level, seed=seed)
    return np.minimum(2 * np.minimum(p_values, p_values.T), 1.0)


def standardised_differences(
    scores: ClusteredScores, pairs: Sequence[tuple[int, int]], utility: Utility
) -> Floats:
    """Return the differences in mean utility, divided by their standard errors under random flips.

    The result has shape (k, k), with i minus j at ``[i, j]``. It is 0 for pairs that are not given.
    """
    z = np.zeros((scores.models, scores.models))
    for members, shape, sums, observed in _group_pairs([(scores, utility)], pairs):
        _, first, second = np.transpose(members)
        z[first, second] = _standardise(shape, sums, observed)[0]
    return z - z.T


def _group_pairs(
    cases: Sequence[Case], pairs: Sequence[tuple[int, int]]
) -> Iterator[tuple[list[tuple[int, int, int]], _UnitSums, Floats, Floats]]:
    """Group the pairs of models of all cases to which the same random sign flips can be applied.

    In each pair, the model with the smaller index comes first.

    Yields
    ------
    list of P tuples (int, int, int)
        Case and models.
    _UnitSums
        Sums of the first pair, whose tasks are those of all pairs of the group.
    ndarray, shape (U, P)
        Sums by unit.
    ndarray, shape (P,)
        Observed sums.
    """
    groups: dict[bytes, list[tuple[tuple[int, int, int], _UnitSums]]] = {}
    for case, (scores, utility) in enumerate(cases):
        scaled = replace(scores, values=CommonScale.fit(scores.values).apply_all(scores.values))
        orders = [np.argsort(x, kind="stable") for x in scaled.values if utility is not _identity]
        for i, j in sorted({(min(pair), max(pair)) for pair in pairs}):
            unit = _unit_sums(scaled, (i, j), utility, orders)
            groups.setdefault(unit.task.tobytes() + unit.first.tobytes(), []).append(((case, i, j), unit))
    for group in groups.values():
        members, units = zip(*group, strict=True)
        sums = np.stack([unit.sums for unit in units], axis=1)
        yield list(members), units[0], sums, np.array([unit.observed for unit in units])


@dataclass(frozen=True)
class _UnitSums:
    """Contributions of the units of two models to the difference of their mean utilities.

    A flip selects units at random and sums their contributions. Models that share units select each unit with
    probability 1/2. Otherwise, a flip deals units to the first model, within tasks.

    Attributes
    ----------
    sums : ndarray, shape (U,)
        Contribution of each unit.
    observed : float
        Sum over all units if the models share units, otherwise over the units of the first model.
    task : ndarray of int, shape (U,)
        Task of each unit; all 0 if models share units.
    first : ndarray of int, shape (T,)
        Number of units dealt to the first model in each task; 0 if models share units.
    """

    sums: Floats
    observed: float
    task: Integers
    first: Integers


def _unit_sums(
    scores: ClusteredScores, pair: tuple[int, int], utility: Utility, orders: Sequence[Integers]
) -> _UnitSums:
    """Compute the contribution of every unit to the difference of two models' mean utilities.

    `pair` holds the indices of the models. `orders` has the indices that sort the scores of each model; it
    may be empty for the identity.
    """
    strata = scores.strata
    tasks = [strata.cluster_tasks[model] for model in pair]
    weights = [scores.weights[model] for model in pair]
    if not scores.joint_resamples and not scores.judged:
        # The pooled distribution must not change if units are dealt to the other model.
        rows = [task[scores.clusters[model]] for task, model in zip(tasks, pair, strict=True)]
        totals = np.bincount(np.concatenate(rows), minlength=strata.tasks)
        weights = [strata.weights[row] / totals[row] for row in rows]
    values, weight = np.concatenate([scores.values[model] for model in pair]), np.concatenate(weights)
    weight = weight / weight.sum()
    utilities = values.copy()
    if utility is not _identity:
        order = np.concatenate((orders[pair[0]], scores.sizes[pair[0]] + orders[pair[1]]))
        # A stable sort merges two sorted halves without sorting them.
        order = order[np.argsort(values[order], kind="stable")]
        utilities[order] = utility(values[order], np.cumsum(weight[order]))
    # Units may differ in total weight.
    utilities -= np.einsum("i,i->", weight, utilities)
    parts = zip(pair, np.split(utilities, [scores.sizes[pair[0]]]), strict=True)
    sides = [
        np.bincount(scores.clusters[model], part * scores.mean_weights[model]).astype(np.float64)
        for model, part in parts
    ]
    if scores.joint_resamples:
        difference = sides[0] - sides[1]
        if scores.judged:
            # Models may have different judge weights, which shift both strata in opposite directions.
            labels, effect = scores.n_labelled, difference.sum()
            difference -= (np.bincount(tasks[0], difference) / strata.counts(pair[0]))[tasks[0]]
            difference[:labels] += effect / labels
        none = np.zeros(difference.size, dtype=np.int64)
        return _UnitSums(difference, float(difference.sum()), none, none[:1])
    counts = [np.maximum(strata.counts(model), 1) for model in pair]
    task = np.concatenate(tasks)
    sums = np.concatenate([side * n[t] for side, n, t in zip(sides, counts, tasks, strict=True)])
    present = np.bincount(task, minlength=strata.tasks)
    sums -= (np.bincount(task, sums, minlength=strata.tasks) / np.maximum(present, 1))[task]
    sums *= (1 / counts[0] + 1 / counts[1])[task]
    return _UnitSums(sums, float(sums[: tasks[0].size].sum()), task, strata.counts(pair[0]))


def _one_sided_p_values(
    shape: _UnitSums, sums: Floats, observed: Floats, binary: Booleans, level: float, seed: int
) -> tuple[Floats, Floats]:
    """Return one-sided p-values in both directions for P pairs that share flips, shapes (P,).

    A p-value is the proportion of flips whose sum is at least (or at most) the observed sum. The sums of
    binary scores have few distinct values. Their p-value is the larger one of the mid-p-value, which counts
    ties half, and the p-value of the score test.

    Parameters
    ----------
    shape : _UnitSums
        Tasks of the units, and number of units dealt to the first model in each task.
    sums : ndarray, shape (U, P)
        Contribution of each unit to each pair's difference.
    observed : ndarray, shape (P,)
        Observed sums.
    binary : ndarray of bool, shape (P,)
        True for pairs with binary scores.
    level : float
        Smallest level of the family, which determines the number of flips.
    seed : int
        Seed of the random flips.
    """
    scale = np.abs(sums).sum(axis=0)
    z, error = _standardise(shape, sums, observed)
    normal = ndtr([-z, z])
    exhaustive = not shape.first.any() and len(sums) <= MAX_ENUMERATED
    total = 2 ** len(sums) if exhaustive else flip_count(len(sums), level)
    counts, (ties, done) = np.zeros((2, len(observed))), np.zeros((2, len(observed)))
    bound = np.inf if shape.first.any() else _GAUSSIAN_BOUND * normal
    remaining = np.flatnonzero((error > _ERROR) & (np.min(bound, axis=0) > level / _FLIPS) | exhaustive)
    rng = np.random.default_rng([seed, 21])
    for stage in (total,) if exhaustive else (_FIRST, total - _FIRST):
        for selected in _random_flips(shape, stage if remaining.size else 0, rng):
            excess = selected @ sums[:, remaining] - observed[remaining]
            slack = _ROUNDING * scale[remaining]
            larger, smaller = (np.count_nonzero(side >= -slack, axis=0) for side in (excess, -excess))
            counts[:, remaining] += larger, smaller
            ties[remaining] += larger + smaller - len(selected)
            done[remaining] += len(selected)
        remaining = remaining[counts.min(axis=0)[remaining] < _ENOUGH]
    half = 0.5 * binary
    shares = (counts - half * ties + (0 if exhaustive else 1 - half)) / np.maximum(done + (not exhaustive), 1)
    if not exhaustive:
        shares = np.where(done > 0, np.minimum(shares, bound), np.where(error > _ERROR, bound, normal))
    shares = np.where(binary, np.maximum(shares, normal), shares)
    # Models with equal mean utilities are never separated.
    return tuple(np.where(np.abs(observed) <= _ROUNDING * scale, 1.0, np.minimum(shares, 1.0)))


def _standardise(shape: _UnitSums, sums: Floats, observed: Floats) -> tuple[Floats, Floats]:
    """Divide the observed sums of P pairs by their standard errors under random flips, shape (P,).

    The parameters are those of `_one_sided_p_values`. Also return the relative error of normal tail
    probabilities, shape (P,), which is estimated from the Edgeworth expansion.
    """
    moments = np.zeros((3, sums.shape[1]))
    mean = 0.5 * sums.sum(axis=0) if not shape.first.any() else 0.0
    for task, n in enumerate(shape.first.tolist()):
        part = sums[shape.task == task] if shape.first.size > 1 else sums
        total = len(part)
        share, correction = (n / total, total / max(total - 1, 1)) if n else (0.5, 1.0)
        variance = share * (1 - share)
        factors = (variance * correction, variance * (1 - 2 * share), variance * (1 - 6 * variance))
        squares = part**2  # a third or fourth power takes ten times as long as a product
        powers = squares, squares * part, squares**2
        moments += [factor * power.sum(axis=0) for factor, power in zip(factors, powers, strict=True)]
    spread = np.sqrt(np.where(moments[0] > 0, moments[0], 1.0))
    z = (observed - mean) / spread
    size = np.maximum(np.abs(z), 1.0)
    return z, np.abs(moments[1]) / spread**3 * size**3 / 6 + np.abs(moments[2]) / spread**4 * size**4 / 24


def _random_flips(shape: _UnitSums, total: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield `total` flips in batches of shape (B, U): 1 for each selected unit and 0 for the others.

    `shape` holds the tasks of the U units, and the number of units to select in each task. All flips of a few
    shared units are enumerated; otherwise, flips are random.
    """
    units = shape.task.size
    step = max(_BATCH // units, 1)
    for start in range(0, total, step):
        count = min(step, total - start)
        if shape.first.any():
            selected = np.zeros((count, units))
            for task, n in enumerate(shape.first.tolist()):
                columns = np.flatnonzero(shape.task == task)
                keys = rng.random((count, columns.size))
                if 0 < n < columns.size:
                    selected[:, columns] = keys <= np.partition(keys, n - 1, axis=1)[:, n - 1 : n]
                else:
                    selected[:, columns] = n > 0
            yield selected
        elif units <= MAX_ENUMERATED:
            yield (np.arange(start, start + count)[:, None] >> np.arange(units) & 1).astype(np.float64)
        else:
            words = rng.integers(0, 1 << 64, (count, -(-units // 64)), dtype=np.uint64)
            yield np.unpackbits(words.view(np.uint8), axis=1)[:, :units].astype(np.float64)


def correct_bias(scores: ClusteredScores, estimate: Floats, replicates: Floats) -> Floats:
    """Subtract twice the mean bias from bootstrap replicates, shape (B, ...).

    `estimate` holds the estimates from the sample, shape (...). The replicates are returned unchanged if the
    models share resamples.
    """
    if scores.joint_resamples:
        return replicates
    # A mean can overflow to infinity, which still compares correctly.
    with np.errstate(over="ignore", invalid="ignore"):
        return replicates - 2 * (replicates.mean(axis=0) - estimate)


def flipped_tail_p_values(
    scores: ClusteredScores, pairs: Sequence[tuple[int, int]], tail: float, *, level: float, seed: int
) -> Floats:
    """Return sign-flip p-values for the null hypothesis "the tail of i is not worse than that of j".

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    pairs : sequence of (int, int)
        Pairs to test, in both directions.
    tail : float
        Proportion of worst samples.
    level : float
        Smallest level of the family.
    seed : int
        Seed of the random flips.

    Returns
    -------
    ndarray, shape (k, k)
        P-values; 1 for pairs that are not tested.
    """
    return flip_p_values(scores, pairs, tail_utility(tail), level=level, seed=seed).T


def permutation_test(
    scores: ClusteredScores,
    pair: tuple[int, int],
    level: float | None,
    boundary: float,
    *,
    draws: int,
    seed: int,
) -> Callable[[int], float] | None:
    """Return a permutation test of the difference between the tail means of two models, or None.

    The claim is that the tail mean of the first model exceeds that of the second by more than `boundary`.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    pair : (int, int)
        Indices of the two models.
    level : float or None
        Proportion of worst scores in the tail; None for means.
    boundary : float
        Claimed difference.
    draws : int
        Number of resamples of the other tests, which determines the number of random relabellings.
    seed : int
        Seed of the random relabellings.

    Returns
    -------
    callable or None
        Function that returns the one-sided p-value for this claim (argument 1) or for the opposite claim
        (argument −1). None for means, and for models that share resamples.
    """
    if level is None or scores.joint_resamples:
        return None

    def p_value(side: int) -> float:
        """Return the p-value of the claim (`side` 1) or of the opposite claim (−1)."""
        values = list(scores.values)
        values[pair[0]] = values[pair[0]] - boundary
        better, worse = pair[::side]
        shifted = replace(scores, values=tuple(values))
        p_values = flipped_tail_p_values(shifted, [pair], level, level=10 / draws, seed=seed)
        return float(p_values[worse, better])

    return p_value
