"""Contrasts of means and of tail means: one model against all others on every metric (method §4).

A rank-based portfolio is bounded, so it does not show how bad a bad score is. The original metrics do. Each
contrast is a paired or unpaired difference in the metric's own units, oriented so that larger is better.

The p-values of means come from :mod:`riskrank.engine.evidence.mean_differences`. Tail means are tested like a
hidden risk (see :mod:`riskrank.engine.dominance.hidden_risk`); the family includes all metrics and all other
models. The proportion of worst samples is the same as for a single column (:func:`.ranking.tail_level`).
Resample number b draws the same units for all metrics, as in the bootstrap of a single column.

`find_passed_over` lists top-ranked models for which another model is significantly better on some metric and
significantly worse on none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.dominance.ranking import tail_level
from riskrank.engine.dominance.sign_flips import correct_bias, joint_flip_p_values, tail_utility
from riskrank.engine.dominance.stopping import ClaimFamily, ResampleCounts
from riskrank.engine.dominance.violation import WEIGHTING_COST
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.family import Answers
from riskrank.engine.numeric import CommonScale
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.degrees_of_freedom import Dof
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.resamples import BLOCK, ResampleBlock, draw_blocks, make_blocks, unit_counts
from riskrank.engine.sampling.steps import Steps
from riskrank.engine.sampling.weighted_resamples import WeightedDesign
from riskrank.engine.types import Booleans, Floats, Integers


@dataclass(frozen=True)
class Contrasts:
    """Differences in means between all k models and a reference model on m metrics.

    The reference's own row contains differences of 0 and p-values of 1.

    Attributes
    ----------
    reference : int
        Index of the model that the others are compared with.
    difference : ndarray, shape (k, m)
        Mean of each model minus mean of the reference; larger is better.
    error : ndarray, shape (k, m)
        Standard errors of the differences.
    answers : Answers
        Test results for the claim that a model is better, shape (k, m): a family of (k - 1)·m two-sided
        contrasts.
    half_level : Answers
        The same results at half the significance level.
    """

    reference: int
    difference: Floats
    error: Floats
    answers: Answers
    half_level: Answers

    @property
    def better(self) -> Booleans:
        """True where the model is significantly better than the reference, shape (k, m)."""
        return self.answers.significant

    @property
    def worse(self) -> Booleans:
        """True where the model is significantly worse than the reference, shape (k, m)."""
        return self.answers.contradicted

    @property
    def absolute_t(self) -> Floats:
        """Absolute t statistics (differences divided by their standard errors), shape (k, m)."""
        return np.abs(self.difference) / np.maximum(self.error, 1e-300)

    def p_better(self, model: int) -> float:
        """Return the smallest adjusted p-value over all metrics for the claim that `model` is better.

        Metrics on which the model's mean is not larger than that of the reference count as 1.
        """
        return float(np.where(self.difference[model] > 0, self.answers.p_adjusted[model], 1.0).min())

    @property
    def better_throughout(self) -> NDArray[np.intp]:
        """Indices of models with means as good on every metric, and significantly better on at least one."""
        candidates = (self.difference >= 0).all(axis=1) & self.better.any(axis=1)
        return np.setdiff1d(np.flatnonzero(candidates), [self.reference])

    @property
    def worse_throughout(self) -> NDArray[np.intp]:
        """Indices of models whose means are significantly worse on every metric, at half the level.

        The level is halved because the leader was selected from the same samples.
        """
        return np.flatnonzero(self.half_level.contradicted.all(axis=1))

    @property
    def better_on_balance(self) -> NDArray[np.intp]:
        """Indices of models that are significantly better on some metric and significantly worse on none."""
        candidates = self.better.any(axis=1) & ~self.worse.any(axis=1)
        return np.setdiff1d(np.flatnonzero(candidates), [self.reference])


def contrasts(tables: ScoreTables, reference: int, inference: Inference = Inference()) -> Contrasts:
    """Compare the means of every model with those of a reference model.

    Parameters
    ----------
    tables : ScoreTables
        Scores of k models on all metrics.
    reference : int
        Index of the reference model.
    inference : Inference, optional
        Level and correction for multiple tests, resamples and seed.

    Returns
    -------
    Contrasts
    """
    k, m = len(tables.values), len(tables.metrics)
    columns = [tables.clustered_column(name) for name in tables.metrics]
    pairs = [MeanContrast.from_scores(scores, i, reference) for i in range(k) for scores in columns]
    flat = mean_evidence(pairs, resamples=inference.resamples, seed=inference.seed)
    names = ("estimate", "p_above", "p_below", "error")
    estimate, above, below, error = (getattr(flat, name).reshape(k, m) for name in names)

    def interval(level: float) -> tuple[Floats, Floats]:
        """Return the confidence limits of all differences at a two-sided level, shapes (k, m)."""
        low, high = flat.interval(level)
        return low.reshape(k, m), high.reshape(k, m)

    family, tested = replace(inference.family, sides=2), np.ones((k, m), dtype=bool)
    tested[reference] = False
    evidence = Evidence.build(estimate, above, below, error=error, interval=interval)
    answers, half = (level.answer(evidence, tested) for level in (family, family.scaled(0.5)))
    return Contrasts(reference, estimate, error, answers, half)


@dataclass(frozen=True)
class PassedOver:
    """A model for which a rival is significantly better on some metrics and significantly worse on none.

    Attributes
    ----------
    model, rival : int
        Indices of the two models.
    metrics : tuple of int
        Metrics on which the rival is significantly better.
    """

    model: int
    rival: int
    metrics: tuple[int, ...]


def find_passed_over(
    tables: ScoreTables, unbeaten: list[int], inference: Inference
) -> tuple[PassedOver, ...]:
    """Find models that should not be recommended, because a rival is better on balance.

    A rival is better on balance if it is significantly better on some metric and significantly worse on none.

    Parameters
    ----------
    tables : ScoreTables
        Scores of k models on all metrics.
    unbeaten : list of int
        Models in order of preference. A rival must also be one of them.
    inference : Inference
        Level and correction for multiple tests, resamples and seed.

    Returns
    -------
    tuple of PassedOver
        The models before the first one without such a rival. Empty if every model has such a rival, or if
        there is only one metric.
    """
    if len(tables.metrics) == 1:
        return ()  # a better mean of a single metric can come with a worse tail
    skipped: list[PassedOver] = []
    for model in unbeaten:
        comparison = contrasts(tables, model, inference)
        rivals = [i for i in unbeaten if i in comparison.better_on_balance]
        if not rivals:
            return tuple(skipped)
        better = comparison.better[rivals[0]]
        skipped.append(PassedOver(model, rivals[0], tuple(np.flatnonzero(better).tolist())))
    return ()


# Unit counts computed at once: enough to make the overhead of NumPy calls small.
_BATCH = 1 << 20

# Margin around the expected end of the tail, in standard deviations of the number of drawn scores.
_MARGIN = 5

# Function from the unit counts of every model, shapes (B, C), to the tail means, shape (B, k, m).
Tails = Callable[[list[Integers]], Floats]


class MetricTails:
    """Tail means of k models on m metrics, in the original sample and in resamples.

    Parameters
    ----------
    columns : sequence of m ClusteredScores
        One column per metric, all on the same samples.
    seed : int
        Entropy of the random streams.
    weighted : ndarray of bool, shape (m,)
        True for metrics with positive weight; only these can support a verdict.

    Attributes
    ----------
    columns : sequence of ClusteredScores
        Scores on each metric, all on the same samples.
    level : float
        Proportion of worst samples.
    sample : ndarray, shape (k, m)
        Tail means in the original sample; larger is better.
    weighted : ndarray of bool, shape (m,)
        True for metrics with positive weight.
    """

    @classmethod
    def from_tables(cls, tables: ScoreTables, inference: Inference) -> MetricTails | None:
        """Return the tail means of all metrics behind a portfolio.

        The result is None for a single metric, without resampling, and for the exact test of the paper.
        """
        if len(tables.metrics) == 1 or not inference.uses_resampling or inference.paper_exact:
            return None
        columns = [tables.clustered_column(name) for name in tables.metrics]
        return cls(columns, seed=inference.seed, weighted=tables.weights > 0)

    def __init__(self, columns: Sequence[ClusteredScores], *, seed: int, weighted: Booleans) -> None:
        """Compute the tail means in the original sample; nothing is resampled yet."""
        self.columns, self.level = columns, tail_level(columns[0])
        self.weighted, self.seed = weighted, seed
        self._tails = (_equal_weight_tails if columns[0].unweighted else _weighted_tails)(columns, self.level)
        ones = [np.ones((1, count), dtype=np.int64) for count in columns[0].cluster_counts]
        self.sample = self._tails(ones)[0]
        self._resampled = [np.empty((0, *self.sample.shape))]

    @property
    def work(self) -> float:
        """Number of score comparisons per resample; only the worst scores count if the weights are equal."""
        scores = len(self.columns) * sum(self.columns[0].sizes)
        return scores * (self.level if self.columns[0].unweighted else WEIGHTING_COST)

    def replicates(self, total: int) -> Floats:
        """Return the tail means in the first `total` resamples, shape (total, k, m)."""
        done = sum(map(len, self._resampled))
        if done < total:
            missing = make_blocks(total, self.seed)[done // BLOCK :]
            self._resampled += [self._tails(counts) for counts in _draw_unit_counts(self.columns[0], missing)]
            self._resampled = [np.concatenate(self._resampled)]
        return self._resampled[0][:total]


def _draw_unit_counts(scores: ClusteredScores, blocks: Sequence[ResampleBlock]) -> Iterator[list[Integers]]:
    """Draw the resamples of several blocks, and yield how often each unit is drawn, a few blocks at a time.

    Each item is a list with one array per model, of shape (resamples, units).
    """
    units = scores.cluster_counts[:1] if scores.joint_resamples else scores.cluster_counts
    step = max(_BATCH // (BLOCK * sum(units)), 1)
    for start in range(0, len(blocks), step):
        draws = draw_blocks(scores, blocks[start : start + step])
        # Bytes, unless a unit is drawn more often than they can count.
        counts = [count.astype(np.min_scalar_type(count.max())) for count in map(unit_counts, draws)]
        yield counts * scores.models if scores.joint_resamples else counts


def _weighted_tails(columns: Sequence[ClusteredScores], level: float) -> Tails:
    """Return a function that computes tail means of unequally weighted scores in resamples.

    `columns` holds one column per metric, `level` is the proportion of worst scores. The function maps the
    draw counts of each model's units, shapes (B, C), to tail means, shape (B, k, m).
    """
    scales = [CommonScale.fit(scores.values) for scores in columns]
    designs = [
        WeightedDesign(replace(scores, values=scale.apply_all(scores.values)))
        for scores, scale in zip(columns, scales, strict=True)
    ]

    def tails(counts: list[Integers]) -> Floats:
        """Return the tail means in B resamples, shape (B, k, m).

        `counts` holds the draw counts of each model's units, shapes (B, C).
        """
        results = []
        for scale, design in zip(scales, designs, strict=True):
            steps = zip(design.values, design.resample_weights(counts), strict=True)
            results.append(scale.undo(np.stack([Steps(*step).tail_means(level) for step in steps], axis=1)))
        return np.stack(results, axis=2)

    return tails


def _equal_weight_tails(columns: Sequence[ClusteredScores], level: float) -> Tails:
    """Return a function that computes tail means of equally weighted scores in resamples.

    See `_weighted_tails`.
    """
    first = columns[0]
    scales = [CommonScale.fit(scores.values) for scores in columns]
    worst = [
        [_SortedScores.from_scores(*row) for row in zip(scale.apply_all(c.values), c.clusters, strict=True)]
        for c, scale in zip(columns, scales, strict=True)
    ]
    sizes = [np.bincount(units) for units in first.clusters]

    def tails(counts: list[Integers]) -> Floats:
        """Return the tail means in B resamples, shape (B, k, m).

        `counts` holds the draw counts of each model's units, shapes (B, C).
        """
        # Units of equal size give resamples of equal size.
        totals = first.sizes if first.balanced else [np.vecdot(*x) for x in zip(counts, sizes, strict=True)]
        targets = [level * np.asarray(total, dtype=np.float64) for total in totals]
        rows = [zip(models, counts, targets, strict=True) for models in worst]
        means = [np.stack([x.tail_means(count, t) for x, count, t in metric], axis=1) for metric in rows]
        return np.stack([scale.undo(mean) for scale, mean in zip(scales, means, strict=True)], axis=2)

    return tails


@dataclass(frozen=True)
class _SortedScores:
    """Equally weighted scores of one model in ascending order, with their resampling units."""

    values: Floats
    units: Integers

    @classmethod
    def from_scores(cls, values: Floats, units: Integers) -> _SortedScores:
        """Sort the scores (`values`) of one model, together with the resampling unit of each score."""
        order = np.argsort(values, kind="stable")
        return cls(values[order], units[order])

    def tail_means(self, counts: Integers, targets: Floats) -> Floats:
        """Return the mean of the worst scores in each resample, shape (B,).

        `counts`, shape (B, C), is the number of times that each unit is drawn. `targets` holds the number of
        scores in the tail of each resample.
        """
        low, high = float(targets.min()), float(targets.max())
        # In almost every resample, scores before `start` are in the tail, and those from `end` on are not.
        guess = max(int(low - _MARGIN * np.sqrt(low)), 0), int(high + _MARGIN * np.sqrt(high)) + 1
        for start, end in (guess, (0, self.values.size)):
            drawn = counts.take(self.units[:end], axis=1, mode="clip")
            # Integers of 32 bits are summed fastest, but must not overflow.
            kind = np.min_scalar_type(max(int(drawn.max()) * end, 1 << 16))
            before = drawn[:, :start].sum(axis=1, keepdims=True, dtype=kind)
            reached = np.cumsum(np.hstack((before, drawn[:, start:])), axis=1, dtype=kind)
            if (before[:, 0] <= targets).all() and (reached[:, -1] >= targets).all():
                break
        within = np.minimum(reached, np.expand_dims(targets, -1))
        shares = drawn.astype(np.float64)
        np.subtract(within[:, 1:], within[:, :-1], out=shares[:, start:])
        return np.einsum("bd,d->b", shares, self.values[:end]) / targets


# Sums of the same numbers in a different order differ by a few units in the last place.
_ROUNDING = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class TailContrasts:
    """Differences in tail means between all k models and a reference model on m metrics.

    The reference's own row is meaningless.

    Attributes
    ----------
    reference : int
        Index of the model that the others are compared with.
    level : float
        Proportion of worst samples.
    tails : ndarray, shape (k, m)
        Tail means in the sample; larger is better.
    replicates : ndarray, shape (B, k, m)
        Tail means in each resample.
    p_milder : ndarray, shape (k, m)
        P-values for the claim that the model's tail is better, adjusted for the (k - 1)·m contrasts.
    milder : ndarray of bool, shape (k, m)
        True where the model's tail is significantly better.
    hidden : ndarray of bool, shape (k, m)
        True where the model's tail is significantly better, but its mean is not.
    undecided : ndarray of bool, shape (k, m)
        True where there are too few resamples to decide the claim.
    advantages : ndarray of bool, shape (k, m)
        True where the reference has a significantly better tail or mean than the model, and neither is
        significantly worse.
    means_ahead : ndarray of bool, shape (k,)
        True if the reference's mean is significantly better than the model's on every metric, regardless of
        tails. A better tail of the model is then a trade-off.
    """

    reference: int
    level: float
    tails: Floats
    replicates: Floats
    p_milder: Floats
    milder: Booleans
    hidden: Booleans
    undecided: Booleans
    advantages: Booleans
    means_ahead: Booleans

    @property
    def milder_models(self) -> NDArray[np.intp]:
        """Indices of models with a significantly better tail over which the reference has no advantage."""
        return np.flatnonzero(self.milder.any(axis=1) & ~self.advantages.any(axis=1) & ~self.means_ahead)

    @property
    def trade_offs(self) -> Booleans:
        """Mask of the significantly better tails that the means of the reference outweigh, shape (k, m).

        The reference then has significantly better means on every metric, but no other advantage over the
        model.
        """
        return self.milder & (self.means_ahead & ~self.advantages.any(axis=1))[:, None]

    @property
    def undecided_models(self) -> NDArray[np.intp]:
        """Indices of models that might be found to have significantly better tails with more resamples."""
        candidates = self.undecided.any(axis=1) & ~self.milder.any(axis=1)
        return np.flatnonzero(candidates & ~self.advantages.any(axis=1) & ~self.means_ahead)


def tail_contrasts(tails: MetricTails, means: Contrasts, inference: Inference) -> TailContrasts:
    """Compare the tail means of every model with those of a reference model.

    Parameters
    ----------
    tails : MetricTails
        Tail means of k models on m metrics, in the sample and in resamples.
    means : Contrasts
        Contrasts of means against the same reference model.
    inference : Inference
        Test settings; resampling must be enabled.

    Returns
    -------
    TailContrasts
    """
    k, m = tails.sample.shape
    rivals = np.delete(np.arange(k), means.reference)
    samples = _contrast_samples(tails, means.reference, rivals)
    claims, pairs = len(rivals) * m, [(means.reference, i) for i in rivals.tolist()]
    level = inference.family.interval_level(claims)
    cases = [(scores, tail_utility(tails.level)) for scores in tails.columns]
    flipped = joint_flip_p_values(cases, pairs, level=level, seed=tails.seed)
    better = _Direction(tails, means.reference, samples, inference, 1, flipped[:, rivals, means.reference])
    worse = _Direction(tails, means.reference, samples, inference, -1, flipped[:, means.reference, rivals])
    rounds = inference.round_totals(claims, tails.work, fewest_samples(samples))
    resampled = tails.replicates(0)
    for total in rounds:
        if better.family.closed.all():
            break
        resampled = tails.replicates(total)
        better.update(correct_bias(tails.columns[0], tails.sample, resampled), last=total == rounds[-1])
    milder = better.as_table(better.family.dominates)
    undecided = better.as_table(~better.family.decided)
    if milder.any() or undecided.any() or means.better_throughout.size:
        worse.update(correct_bias(tails.columns[0], tails.sample, resampled), last=True)
    behind_in_mean = means.worse
    return TailContrasts(
        means.reference,
        tails.level,
        tails.sample,
        resampled,
        better.as_table(better.family.p_adjusted, 1),
        milder,
        milder & ~means.better,
        undecided,
        (worse.as_table(worse.family.dominates) & ~means.better)
        | (behind_in_mean & ~milder & tails.weighted),
        np.asarray((behind_in_mean | ~tails.weighted).all(axis=1)),
    )


class _Direction:
    """Tests of all contrasts in one direction.

    The claim is that the model's tail is better if the sign is 1, and that it is worse if the sign is −1.

    Attributes
    ----------
    family : ClaimFamily
        Tests by model, then metric.
    """

    def __init__(
        self,
        tails: MetricTails,
        reference: int,
        samples: Floats | Dof,
        inference: Inference,
        sign: int,
        flipped: Floats,
    ) -> None:
        """Prepare the tests.

        Parameters
        ----------
        tails : MetricTails
            Tail means of k models on m metrics.
        reference : int
            Index of the reference model.
        samples : ndarray or Dof, shape ((k − 1)·m,)
            Number of independent samples of each contrast, or degrees of freedom.
        inference : Inference
            Test settings.
        sign : {1, -1}
            1 for "the tail is better", −1 for "the tail is worse".
        flipped : ndarray, shape (m, k − 1)
            Lower bounds on the p-values from sign flips.
        """
        self._tails, self._reference, self._sign = tails, reference, sign
        self._rivals = rivals = np.delete(np.arange(len(tails.sample)), reference)
        self._slack = _ROUNDING * np.abs(tails.sample).max(axis=0)
        above = self._is_claim_true(tails.sample[rivals], tails.sample[reference]) & tails.weighted
        self.family = ClaimFamily(
            samples,
            # No claim is significant if the sample contradicts it or the metric has no weight.
            np.where(above, flipped.T, 1.0).ravel(),
            family=inference.family,
            max_resamples=inference.planned_resamples(above.size, fewest_samples(samples)),
        )

    def update(self, resampled: Floats, *, last: bool) -> None:
        """Stop testing the contrasts that the resampled tail means decide, or all of them in the last round.

        `resampled` has shape (B, k, m).
        """
        reference = resampled[:, self._reference]
        claims = [self._is_claim_true(resampled[:, i], reference) for i in self._rivals]
        crossings = [np.count_nonzero(~claim, axis=0) for claim in claims]
        self.family.update(ResampleCounts(len(resampled), np.concatenate(crossings)), last=last)

    def as_table(self, values: NDArray[Any], fill: float = 0) -> NDArray[Any]:
        """Arrange one value per contrast in shape (k, m), with `fill` in the row of the reference model."""
        table = np.full(self._tails.sample.shape, fill, dtype=values.dtype)
        table[self._rivals] = values.reshape(len(self._rivals), -1)
        return table

    def _is_claim_true(self, rival: Floats, reference: Floats) -> Booleans:
        """Return a mask of the metrics on which the claim holds for a rival, shape (..., m).

        `rival` and `reference` hold the tail means of both models, shape (..., m).
        """
        # Near the largest number the sum overflows to infinity, which still compares correctly.
        with np.errstate(over="ignore"):
            return self._sign * rival > self._sign * reference + self._slack


def _contrast_samples(tails: MetricTails, reference: int, rivals: NDArray[np.intp]) -> Floats | Dof:
    """Return the number of independent samples (or degrees of freedom) of each contrast of tail means.

    Contrasts are differences of the models `rivals` from the reference. They are ordered by model and then by
    metric.
    """
    columns = [pair_samples(scores)[reference, rivals] for scores in tails.columns]

    def flatten(values: Sequence[Floats]) -> Floats:
        """Concatenate one array per metric, in the order of models and then metrics."""
        return np.stack(values, axis=1).ravel()

    dofs = [column for column in columns if isinstance(column, Dof)]
    if dofs:
        return Dof(flatten([dof.df for dof in dofs]), flatten([dof.variance_ratio for dof in dofs]))
    return flatten([column for column in columns if not isinstance(column, Dof)])
