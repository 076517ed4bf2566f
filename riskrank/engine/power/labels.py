"""Labels that a gate on means needs where a judge scores all samples, in closed form (method §12).

With A the variance of people's difference and G what the judge explains of it, the corrected difference of n
labels among N samples has the variance V = (A − G)/n + G/N. A gate decides it by Student's t, with one sample
more that speaks against the claim. That sample lies a distance g below the mean: it moves the estimate by
h = g/(n + 1) and adds h² to its variance. Of an effect δ the gate passes with a probability near
Φ((δ − h − c √(V + h²))/√V), where c is the quantile of Student's t.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtr, stdtrit

from riskrank.engine.bisection import least_size
from riskrank.engine.gates.worst_case_sample import beyond
from riskrank.engine.judges.correction import Correction
from riskrank.engine.sampling.design import FEWEST_LABELS
from riskrank.engine.types import Floats

# Numbers of labels that nobody will ever have.
_ENDLESS = 10**9


@dataclass(frozen=True)
class LabelNeed:
    """What decides the power of a claim about the difference of two models' means.

    Attributes
    ----------
    effect : float
        Distance δ of the difference above its boundary.
    variance : float
        Variance A of people's difference on a sample.
    gain : float
        Part G of it that the judge explains.
    judged : float
        Variance of the judge's difference, times λ.
    gap : float
        Distance g of the sample that a gate adds.
    samples : float
        Samples N that the judge scores.
    level : float
        Two-sided.
    """

    effect: float
    variance: float
    gain: float
    judged: float
    gap: float
    samples: float
    level: float

    @classmethod
    def of(
        cls, new: Correction, old: Correction, *, boundary: float, level: float, reach: float
    ) -> LabelNeed:
        """Estimate it from a pilot that people and the judge scored.

        Parameters
        ----------
        new, old : Correction
            Corrected scores of both models; without the judge if their λ is 0.
        boundary : float
            The claim is that the mean of `new` minus that of `old` lies above it.
        level : float
        reach : float
            Largest distance of two scores.
        """
        n = new.labelled
        people = new.human - old.human
        judge = new.power * new.judge[:n] - old.power * old.judge[:n]
        # Two degrees of freedom less: the mean and the fit of λ.
        covariance = np.cov(people, judge) * (n - 1) / (n - 2)
        variance, judged = np.diagonal(covariance).tolist()
        gain = min(max(float(2 * covariance[0, 1]) - judged, 0.0), variance)
        errors: Floats = new.parts[0] - old.parts[0]
        gap = float(errors.mean()) - beyond(errors, -reach)
        effect = new.mean - old.mean - boundary
        return cls(effect, variance, gain, judged, gap, len(new.judge), level)

    def power(self, labels: int) -> float:
        """Return the probability that a gate passes with so many labels."""
        rest = max(1 - labels / self.samples, 0.0)
        variance, others = (self.variance - rest * self.gain) / labels, rest * self.judged / self.samples
        spread, step, df = sqrt(variance), self.gap / (labels + 1), labels - 2.0
        if rest > 0 and spread > 0:
            # Satterthwaite's, of samples with and without labels; one less for λ.
            squares = (variance - others) ** 2 / (labels - 1) + others**2 / max(self.samples - labels - 1, 1)
            df = variance**2 / squares - 1
        above = self.effect - step + float(stdtrit(df, self.level / 2)) * sqrt(spread**2 + step**2)
        return float(ndtr(above / spread)) if spread > 0 else float(above > 0)

    def labels(self, target: float, limit: int = _ENDLESS) -> int | None:
        """Return the fewest labels that have a power; None if those up to the limit do not."""
        if self.effect <= 0:
            return None
        return least_size(lambda labels: self.power(labels) >= target, FEWEST_LABELS, limit)
