"""One model's means on every metric against those of every other model (method §4, "What a verdict may say").

A portfolio of ranks forgets how bad a bad score is; the metrics themselves do not. Each contrast is a paired
(or unpaired) difference of means in the metric's own, oriented units, with the p-values of
:mod:`riskrank.engine.evidence.student` from whole clusters.

Models that rankings put first, while another is better by a test on one metric and worse on none.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.student import Student, p_above
from riskrank.engine.family import Answers, Family
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.cluster_means import TaskParts, sums_by
from riskrank.engine.sampling.degrees_of_freedom import kish
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Booleans, Floats


@dataclass(frozen=True)
class Contrasts:
    """All models against one on m metrics; the row of that model is 0, with p-values of 1.

    Attributes
    ----------
    against : int
        The model the others are held against.
    difference : ndarray, shape (k, m)
        Mean of the other minus its mean, larger is better.
    error, freedom : ndarray, shape (k, m)
        Standard errors and their degrees of freedom.
    answers : Answers
        Of "the other is better", each direction a family of (k - 1)·m contrasts; shapes (k, m).
    half : Answers
        The same at half the level.
    """

    against: int
    difference: Floats
    error: Floats
    freedom: Floats
    answers: Answers
    half: Answers

    @property
    def better(self) -> Booleans:
        """Where the other is significantly better, shape (k, m)."""
        return self.answers.shown

    @property
    def worse(self) -> Booleans:
        """Where the other is significantly worse, shape (k, m)."""
        return self.answers.refuted

    @property
    def strength(self) -> Floats:
        """How many standard errors apart, shape (k, m)."""
        return np.abs(self.difference) / np.maximum(self.error, 1e-300)

    def p_better(self, other: int) -> float:
        """One-sided p-value of the metric on which another's mean is most surely better."""
        return float(self.answers.p_adjusted[other].min())

    def visible(self, family: Family) -> Floats:
        """Differences that these tests would show four times out of five, shape (k, m)."""
        claims = (len(self.error) - 1) * self.error.shape[1]
        return Student(self.difference, self.error, self.freedom).visible(2 * family.level(claims))

    @property
    def throughout(self) -> NDArray[np.intp]:
        """Models as good on every metric in the sample, and significantly better on one at least."""
        asked = (self.difference >= 0).all(axis=1) & self.better.any(axis=1)
        return np.setdiff1d(np.flatnonzero(asked), [self.against])

    @property
    def worse_throughout(self) -> NDArray[np.intp]:
        """Models significantly worse on every metric at half the level, as another might have come first."""
        return np.flatnonzero(self.half.refuted.all(axis=1))

    @property
    def on_balance(self) -> NDArray[np.intp]:
        """Models significantly better on one metric at least, and significantly worse on none."""
        asked = self.better.any(axis=1) & ~self.worse.any(axis=1)
        return np.setdiff1d(np.flatnonzero(asked), [self.against])


@dataclass(frozen=True)
class _Units:
    """How far each unit of resampling moves a model's m means: ``parts``, shape (C, m), sum to 0.

    They tell as much as ``samples`` units of equal size. Of a suite ``suite`` holds them by task, and
    ``samples`` is not asked for.
    """

    parts: Floats
    mean: Floats
    samples: float
    suite: TaskParts | None = None


def contrasts(tables: ScoreTables, against: int, family: Family = Family()) -> Contrasts:
    """Hold every model's means against those of one model.

    Parameters
    ----------
    tables : ScoreTables
    against : int
        Number of that model.
    family : Family, optional
        Each direction is a family by itself.

    Returns
    -------
    Contrasts
    """
    design = None if tables.tasks is None else tables.tasks.present()
    both = enumerate(zip(tables.values, tables.clusters, strict=True))
    units = [_units(*arrays) if design is None else _of_suite(*arrays, design, i) for i, arrays in both]
    paired = tables.paired or (design is not None and design.random)
    k, m = len(units), len(tables.metrics)
    difference, error, skewness = np.zeros((3, k, m))
    better, worse, freedom = np.ones((3, k, m))
    for i in range(k):
        if i != against:
            apart, better[i], worse[i] = _contrast(units[i], units[against], paired=paired)
            difference[i], error[i] = apart.value, apart.error
            freedom[i], skewness[i] = apart.df, apart.skewness
    others = np.arange(k) != against
    asked = np.broadcast_to(others[:, None], (k, m))
    family = family.one_sided
    ends = Student(difference, error, freedom, skewness).interval
    evidence = Evidence.of(difference, better, worse, error=error, ends=ends)
    answers, half = (one.answer(evidence, asked) for one in (family, family.at(0.5)))
    return Contrasts(against, difference, error, freedom, answers, half)


def _units(values: Floats, cluster: NDArray) -> _Units:
    """Linear parts of a mean: unit c with sum S_c of n_c scores moves it by (S_c − mean·n_c)/n."""
    mean = values.mean(axis=0)
    _, numbers = np.unique(cluster, return_inverse=True)
    return _Units(sums_by(numbers, values - mean) / len(values), mean, kish(numbers))


def _of_suite(values: Floats, cluster: NDArray, design: TaskDesign, model: int) -> _Units:
    """The same of weighted means over tasks."""
    found = TaskParts.of(values, cluster, design, model)
    return _Units(found.parts, found.mean, float(found.counts.sum()), found)


def _contrast(other: _Units, reference: _Units, *, paired: bool) -> tuple[Student, Floats, Floats]:
    """Difference, and p-values of "not better" and of "not worse", shapes (m,)."""
    difference = other.mean - reference.mean
    sides = [other.parts - reference.parts] if paired else [other.parts, -reference.parts]
    scale = np.maximum(np.max([np.abs(side).max(axis=0) for side in sides], axis=0), np.finfo(float).tiny)
    variance, third = np.zeros_like(scale), np.zeros_like(scale)
    df: Floats | float = min(other.samples, reference.samples) - 1
    for unit, side in zip((other, reference), sides, strict=False):
        count = len(side)
        if unit.suite is None:
            variance += ((side / scale) ** 2).sum(axis=0) * count / (count - 1)
        else:
            variance += unit.suite.variances(side / scale).sum(axis=1)
            df = np.minimum(df, unit.suite.df(side / scale))
        third += ((side / scale) ** 3).sum(axis=0)
    error = np.sqrt(variance)
    # Signs of so many differing units fall like that by chance with this probability: no p-value is smaller.
    least = np.exp2(-_differing(difference, other, reference, sides))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        t = np.where(difference == 0, 0.0, difference / scale / error)
        skewness = np.where(error > 0, third / error**3, 0.0)
    finite = np.where(np.isinf(t), 0.0, t)
    found: list[Floats] = []
    for sign in (1, -1):
        p_value = np.where(np.isinf(t), sign * t < 0, p_above(sign * finite, sign * skewness, df))
        found.append(np.maximum(p_value, least))
    apart = Student(difference, error * scale, np.broadcast_to(df, error.shape), skewness)
    return apart, found[0], found[1]


def _differing(difference: Floats, other: _Units, reference: _Units, sides: list[Floats]) -> Floats:
    """Units in which paired models differ, or those of the smaller of two unpaired ones, shape (m,)."""
    if len(sides) > 1:
        return np.full(len(difference), float(min(map(len, sides))))
    if other.suite is not None and reference.suite is not None:
        own = other.suite.shares - reference.suite.shares
    else:
        own = difference / len(sides[0]) + sides[0]
    rounding = 1e-12 * (np.abs(sides[0]).max(axis=0) + np.abs(difference))
    return (np.abs(own) > rounding).sum(axis=0).astype(np.float64)


@dataclass(frozen=True)
class PassedOver:
    """A model that another betters on balance: significantly on some metrics, and is worse on none.

    Attributes
    ----------
    model, rival : int
    metrics : tuple of int
        Where the rival is significantly better.
    """

    model: int
    rival: int
    metrics: tuple[int, ...]


def passed_over(tables: ScoreTables, unbeaten: list[int], inference: Inference) -> tuple[PassedOver, ...]:
    """Those before the first that no other betters on balance; nobody where every one is bettered."""
    if len(tables.metrics) == 1:
        return ()  # a better mean of the one metric may be a worse tail
    found: list[PassedOver] = []
    for model in unbeaten:
        held = contrasts(tables, model, inference.family)
        rivals = [i for i in unbeaten if i in held.on_balance]
        if not rivals:
            return tuple(found)
        better = held.better[rivals[0]]
        found.append(PassedOver(model, rivals[0], tuple(np.flatnonzero(better).tolist())))
    return ()
