"""Contrasts of tail means: one model against all others on every metric (method §4).

A combined score is bounded, so it hides how bad the worst samples are in the units of a metric. Each contrast
is the difference between two tail means on one metric. It is tested like a hidden risk (see
:mod:`riskrank.engine.dominance.hidden_risk`); the family includes all metrics and all other models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.contrasts import Contrasts
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.metric_tails import MetricTails
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.dominance.sign_flips import correct_bias, joint_flip_p_values, tail_utility
from riskrank.engine.dominance.stopping import ClaimFamily, ResampleCounts
from riskrank.engine.sampling.degrees_of_freedom import Dof
from riskrank.engine.types import Booleans, Floats

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
