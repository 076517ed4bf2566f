"""Number of human labels required by a gate on means with a judge, in closed form (method §12).

Let A be the variance of the human score difference, and G the part of it that the judge explains. With n
labels among N samples, the corrected difference has the variance V = (A − G)/n + G/N. A gate tests it by
Student's t, after adding one sample against the claim. This sample lies a distance g below the mean, so it
shifts the estimate by h = g/(n + 1) and adds h² to its variance. For an effect δ, the gate passes with a
probability of about Φ((δ − h − c √(V + h²))/√V), where c is the quantile of Student's t.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtr, stdtrit

from riskrank.engine.bisection import smallest_size
from riskrank.engine.judges.correction import Correction
from riskrank.engine.sampling.design import MIN_LABELS

# Larger numbers of labels count as infinite.
_MAX_LABELS = 10**9


@dataclass(frozen=True)
class LabelNeed:
    """Quantities that determine the power of a claim about the difference of two models' means.

    Attributes
    ----------
    effect : float
        Distance δ of the difference above the boundary of the claim.
    variance : float
        Variance A of the human score difference per sample.
    gain : float
        Part G of this variance that the judge explains.
    judge_variance : float
        Variance of the judge's score difference, with scores multiplied by λ.
    samples : float
        Number N of samples that the judge scored.
    level : float
        Two-sided significance level α.
    """

    effect: float
    variance: float
    gain: float
    judge_variance: float
    samples: float
    level: float

    @classmethod
    def from_pilot(cls, new: Correction, old: Correction, *, boundary: float, level: float) -> LabelNeed:
        """Estimate these quantities from a pilot with human and judge scores.

        Parameters
        ----------
        new, old : Correction
            Corrected scores of both models; with λ = 0 the judge is ignored.
        boundary : float
            Claimed lower limit of the mean of `new` minus the mean of `old`.
        level : float
            Two-sided significance level α.
        """
        n = new.n_labelled
        human = new.human - old.human
        judge = new.judge_weight * new.judge[:n] - old.judge_weight * old.judge[:n]
        # Two degrees of freedom less, for the mean and for λ.
        covariance = np.cov(human, judge) * (n - 1) / (n - 2)
        variance, judged = np.diagonal(covariance).tolist()
        gain = min(max(float(2 * covariance[0, 1]) - judged, 0.0), variance)
        effect = new.mean - old.mean - boundary
        return cls(effect, variance, gain, judged, len(new.judge), level)

    def power(self, labels: int) -> float:
        """Return the probability that a gate with this number of labels passes."""
        share = max(1 - labels / self.samples, 0.0)
        variance, judged = (
            (self.variance - share * self.gain) / labels,
            share * self.judge_variance / self.samples,
        )
        spread, df = sqrt(variance), labels - 2.0
        if share > 0 and spread > 0:
            # Satterthwaite's degrees of freedom, for samples with and without labels; one less for λ.
            squares = (variance - judged) ** 2 / (labels - 1) + judged**2 / max(self.samples - labels - 1, 1)
            df = variance**2 / squares - 1
        above = self.effect + float(stdtrit(df, self.level / 2)) * spread
        return float(ndtr(above / spread)) if spread > 0 else float(above > 0)

    def required_labels(self, target: float, limit: int = _MAX_LABELS) -> int | None:
        """Return the smallest number of labels that reaches the target power; None if above the limit."""
        if self.effect <= 0:
            return None
        return smallest_size(lambda labels: self.power(labels) >= target, MIN_LABELS, limit)
