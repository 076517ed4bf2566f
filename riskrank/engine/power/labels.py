"""How many labels a gate on means needs where a judge scores all samples (method §12).

Data sets are drawn from a pilot's labelled samples, people's scores and the judge's together: n of them with
labels, the others of N without. Each is tested as a gate tests it, by Student's t in the place of resamples.

With A the variance of people's difference and G what the judge explains of it, the corrected difference
of n labels has the variance (A − G)/n + G/N. Other sizes, those of resamples of the pilot among them, follow
from that and from the power simulated at the size found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, inf, sqrt

import numpy as np
from scipy.special import ndtr, ndtri, stdtr

from riskrank.engine.evidence.student import MeanDifference
from riskrank.engine.gates.caution import beyond
from riskrank.engine.judges.correction import Correction, for_differences, stacked
from riskrank.engine.power.required_size import RequiredSize, SizeInterval, corrected_ends, find_size
from riskrank.engine.power.simulation import PowerCurve, verdicts_of
from riskrank.engine.sampling.design import FEWEST_LABELS
from riskrank.engine.sampling.freedom import satterthwaite
from riskrank.engine.types import Booleans, Floats

# Resamples of the pilot.
_RESAMPLES = 400


@dataclass(frozen=True)
class LabelClaim:
    """A claim of a gate on means.

    Attributes
    ----------
    new, old : int
        Models by number.
    boundary : float
        The claim is that new minus old, larger is better, lies above it.
    level : float
        Two-sided.
    reach : float
        How far two scores can lie apart.
    bounded : bool
        Whether that is known, and not only seen.
    """

    new: int
    old: int
    boundary: float
    level: float
    reach: float
    bounded: bool

    def shown(self, corrections: Sequence[Correction]) -> bool:
        """Whether a gate passes: with one labelled sample more that speaks against the claim."""
        new, old = corrections[self.new], corrections[self.old]
        parts = [own - other for own, other in zip(new.parts, old.parts, strict=True)]
        errors = np.append(parts[0], beyond(parts[0], -self.reach))
        estimate = float(errors.mean() + parts[1].mean()) - self.boundary
        freedom = satterthwaite(*_variances(*parts))
        error = sqrt(_variances(errors, parts[1])[0].sum())
        p = float(estimate <= 0) if error == 0 else float(stdtr(float(freedom.df) - 1, -estimate / error))
        if not self.bounded:
            p = max(p, _difference(parts, float(freedom.df) + 1).johnson_p_value(self.boundary))
        return 2 * p <= self.level


def _variances(errors: Floats, others: Floats) -> tuple[Floats, Floats]:
    parts = (errors, others)
    return np.array([own.var(ddof=1) / own.size for own in parts]), np.array([own.size for own in parts])


def _difference(parts: Sequence[Floats], samples: float) -> MeanDifference:
    """The corrected difference with its cumulants."""
    error = sqrt(_variances(*parts)[0].sum())
    third = sum(float(np.sum(((own - own.mean()) / own.size) ** 3)) for own in parts)
    mean = float(sum(own.mean() for own in parts))
    return MeanDifference(mean, error, third / error**3 if error > 0 else 0.0, samples)


@dataclass(frozen=True)
class LabelPilot:
    """Samples that people and a judge scored, of k models, taken for all there are.

    Attributes
    ----------
    human, judge : ndarray, shape (k, n)
        People's have the corrected means; both vary as their unbiased variances say, after the fit of λ.
    samples : int
        Samples N that the judge scored, or will have scored.
    claim : LabelClaim
    """

    human: Floats
    judge: Floats
    samples: int
    claim: LabelClaim

    @classmethod
    def of(cls, corrections: Sequence[Correction], claim: LabelClaim) -> LabelPilot:
        """A pilot as its corrections have it."""
        n, total = corrections[0].labelled, len(corrections[0].judge)
        human, judge = stacked(corrections)
        means = [one.mean(axis=1, keepdims=True) for one in (human, judge, judge[:, :n])]
        corrected = means[0] + np.array([[one.power] for one in corrections]) * (means[1] - means[2])
        wider = sqrt(n / (n - 2))
        judge = means[1] + wider * (judge[:, :n] - means[2])
        return cls(corrected + wider * (human - means[0]), judge, total, claim)

    def __call__(self, size: int, stream: np.random.SeedSequence) -> list[bool]:
        """Draw a table with so many labels, and ask a gate."""
        return [self.claim.shown(for_differences(self.drawn(np.random.default_rng(stream), size)))]

    def drawn(self, rng: np.random.Generator, labels: int) -> list[Correction]:
        """A table with so many labels."""
        chosen = rng.integers(0, self.human.shape[1], self.samples)
        return Correction.of_models(self.human[:, chosen[:labels]], self.judge[:, chosen])

    @property
    def need(self) -> LabelNeed:
        """What the claim's difference needs, by the variance of its corrected estimate."""
        found = for_differences(Correction.of_models(self.human, self.judge))
        new, old = found[self.claim.new], found[self.claim.old]
        people = new.human - old.human
        judged = new.power * new.judge - old.power * old.judge
        alone = float(people.var())
        gain = float(2 * np.mean((people - people.mean()) * judged) - judged.var())
        effect = float(people.mean()) - self.claim.boundary
        return LabelNeed(effect, alone, min(max(gain, 0.0), alone), self.samples)


@dataclass(frozen=True)
class LabelNeed:
    """What a difference needs.

    Attributes
    ----------
    effect : float
        How far it lies above its boundary.
    alone : float
        Variance A of people's difference on a sample.
    gain : float
        What the judge explains of it, G.
    samples : int
        N.
    """

    effect: float
    alone: float
    gain: float
    samples: int

    def variance(self, labels: float) -> float:
        """Of the corrected difference."""
        return (self.alone - self.gain) / labels + self.gain / self.samples

    def height(self, labels: int, power: float) -> float:
        """Standard errors from the boundary at which a gate passes, by its power at a size."""
        deviation = sqrt(self.variance(labels))
        return (self.effect / deviation if deviation > 0 else 0.0) - float(ndtri(power))

    def labels(self, height: float, target: float) -> float:
        """Labels that give a power; infinite where no number does."""
        return self._size(height, target, self.gain, self.gain / self.samples)

    def without_judge(self, height: float, target: float) -> float:
        """The same of labels alone."""
        return self._size(height, target, 0.0, 0.0)

    def endless(self, height: float, target: float) -> float:
        """The same where the judge scores samples without end."""
        return self._size(height, target, self.gain, 0.0)

    def _size(self, height: float, target: float, gain: float, kept: float) -> float:
        errors = height + float(ndtri(target))
        if self.effect <= 0:
            return inf
        allowed = (self.effect / errors) ** 2 - kept if errors > 0 else inf
        return (self.alone - gain) / allowed if allowed > 0 else inf


@dataclass
class LabelSearch:
    """Powers simulated at some numbers of labels, and the number that has one.

    Attributes
    ----------
    pilot : LabelPilot
    repeats : int
        Tables a number.
    seed : int
    """

    pilot: LabelPilot
    repeats: int
    seed: int
    _met: dict[int, Booleans] = field(default_factory=dict)

    def curve(self, sizes: Sequence[int]) -> PowerCurve:
        """Powers at some numbers."""
        for size in {*sizes} - {*self._met}:
            self._met[size] = verdicts_of(self.pilot, size, self.repeats, seed=self.seed)
        return PowerCurve.of(sizes, [self._met[size] for size in sizes])

    def required(self, sizes: Sequence[int], *, target: float, smallest: int, limit: int) -> RequiredSize:
        """The labels that give a power, by the variance and by gates on whole tables."""
        need, nominal = self.pilot.need, -float(ndtri(self.pilot.claim.level / 2))

        def power(size: int, height: float) -> float:
            return float(ndtr(need.height(size, 0.5) - nominal - height))

        def look(size: int, height: float) -> float:
            curve = self.curve([size])
            shown, error = float(curve.together[0]), float(curve.together_error[0])
            if abs(shown - power(size, height)) <= 2 * error:
                return height
            shares = (self.repeats * shown + 0.5) / (self.repeats + 1)
            return height + float(ndtri(power(size, height)) - ndtri(shares))

        size, confirmed = None, False
        if need.effect > 0:
            size, _, confirmed = find_size(
                power, look, target=target, smallest=smallest, limit=limit, otherwise=limit
            )
        at = max(sizes) if need.effect <= 0 else size or limit
        self.curve([at])
        found = self.curve(sorted(self._met))
        place = found.sizes.tolist().index(at)
        reached = float(found.together[place]), float(found.together_error[place])
        return RequiredSize(size, target, *reached, confirmed, found.sizes, found.together)


def labels_interval(
    corrections: Sequence[Correction],
    claim: LabelClaim,
    found: RequiredSize,
    height: float,
    *,
    limit: int,
    seed: int,
) -> SizeInterval:
    """Labels that resamples of a pilot suggest.

    Parameters
    ----------
    corrections : sequence of k Correction
        The pilot.
    claim : LabelClaim
    found : RequiredSize
        What the search found on the pilot itself.
    height : float
        Of the gate, in standard errors.
    limit : int
        Largest number of labels there can be.
    seed : int

    Returns
    -------
    SizeInterval
        It holds the number found.
    """
    n, total = corrections[0].labelled, len(corrections[0].judge)
    own = LabelPilot.of(corrections, claim).need.labels(height, found.target)
    # No size is 0: this stream is nobody else's.
    rng = np.random.default_rng(np.random.SeedSequence([seed, 0]))
    human, judge = stacked(corrections)
    suggested = []
    for _ in range(_RESAMPLES):
        chosen = np.concatenate((rng.integers(0, n, n), rng.integers(n, total, total - n)))
        again = for_differences(Correction.of_models(human[:, chosen[:n]], judge[:, chosen]))
        suggested.append(LabelPilot.of(again, claim).need.labels(height, found.target))
    ends = corrected_ends(np.array(suggested), own, n - 1)
    if found.size is not None:
        ends = min(ends[0], found.size), max(ends[1], found.size)
    low, high = (None if end > limit else max(ceil(end), FEWEST_LABELS) for end in ends)
    return SizeInterval(low, high, limit)
