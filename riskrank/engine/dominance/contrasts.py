"""Contrasts of means: one model against all others on every metric (method §4, "What a verdict may say").

A rank-based portfolio hides how bad a bad score is; the original metrics do not. Each contrast is a paired or
unpaired difference of means in the metric's own units, oriented so that larger is better. Its p-values come
from :mod:`riskrank.engine.evidence.student` on whole clusters.

`find_passed_over` lists top-ranked models for which another model is significantly better on some metric and
significantly worse on none.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.student import Student, p_above
from riskrank.engine.family import Answers, Family
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.cluster_means import TaskParts, group_sums
from riskrank.engine.sampling.degrees_of_freedom import kish_size
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Booleans, Floats


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
    error, freedom : ndarray, shape (k, m)
        Standard errors of the differences, and their degrees of freedom.
    answers : Answers
        Test results for the claim that a model is better, shape (k, m). Each direction is a family of (k -
        1)·m contrasts.
    half_level : Answers
        The same results at half the significance level.
    """

    reference: int
    difference: Floats
    error: Floats
    freedom: Floats
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
        """Return the smallest p-value over all metrics for the claim that a model's mean is better."""
        return float(self.answers.p_adjusted[model].min())

    def detectable_differences(self, family: Family) -> Floats:
        """Return the minimum detectable differences at 80 % power, shape (k, m)."""
        claims = (len(self.error) - 1) * self.error.shape[1]
        return Student(self.difference, self.error, self.freedom).detectable_difference(
            2 * family.interval_level(claims)
        )

    @property
    def better_throughout(self) -> NDArray[np.intp]:
        """Models with a mean at least as good on every metric and significantly better on at least one."""
        candidates = (self.difference >= 0).all(axis=1) & self.better.any(axis=1)
        return np.setdiff1d(np.flatnonzero(candidates), [self.reference])

    @property
    def worse_throughout(self) -> NDArray[np.intp]:
        """Models significantly worse on every metric, at half the level because the leader was selected."""
        return np.flatnonzero(self.half_level.contradicted.all(axis=1))

    @property
    def better_on_balance(self) -> NDArray[np.intp]:
        """Models significantly better on at least one metric and significantly worse on none."""
        candidates = self.better.any(axis=1) & ~self.worse.any(axis=1)
        return np.setdiff1d(np.flatnonzero(candidates), [self.reference])


@dataclass(frozen=True)
class _MeanParts:
    """Contribution of each resampling unit to a model's means on m metrics.

    The columns of ``parts``, shape (C, m), sum to 0. ``samples`` is the effective number of units. For a
    suite, ``suite`` holds the contributions by task, and ``samples`` is not used.
    """

    parts: Floats
    mean: Floats
    samples: float
    suite: TaskParts | None = None


def contrasts(tables: ScoreTables, reference: int, family: Family = Family()) -> Contrasts:
    """Compare the means of every model with those of a reference model.

    Parameters
    ----------
    tables : ScoreTables
    reference : int
        Index of the reference model.
    family : Family, optional
        Level and correction for multiple tests; each direction is a separate family.

    Returns
    -------
    Contrasts
    """
    design = None if tables.tasks is None else tables.tasks.drop_empty()
    models = enumerate(zip(tables.values, tables.clusters, strict=True))
    units = [_mean_parts(*data) if design is None else _suite_parts(*data, design, i) for i, data in models]
    paired = tables.paired or (design is not None and design.random)
    k, m = len(units), len(tables.metrics)
    difference, error, skewness = np.zeros((3, k, m))
    better, worse, freedom = np.ones((3, k, m))
    for i in range(k):
        if i != reference:
            student, better[i], worse[i] = _contrast(units[i], units[reference], paired=paired)
            difference[i], error[i] = student.value, student.error
            freedom[i], skewness[i] = student.df, student.skewness
    compared = np.arange(k) != reference
    tested = np.broadcast_to(compared[:, None], (k, m))
    family = family.one_sided
    interval = Student(difference, error, freedom, skewness).interval
    evidence = Evidence.build(difference, better, worse, error=error, interval=interval)
    answers, half = (level.answer(evidence, tested) for level in (family, family.scaled(0.5)))
    return Contrasts(reference, difference, error, freedom, answers, half)


def _mean_parts(values: Floats, cluster: NDArray) -> _MeanParts:
    """Return each unit's linear contribution to a mean, (S_c − mean·n_c)/n for n_c scores of sum S_c."""
    mean = values.mean(axis=0)
    _, numbers = np.unique(cluster, return_inverse=True)
    return _MeanParts(group_sums(numbers, values - mean) / len(values), mean, kish_size(numbers))


def _suite_parts(values: Floats, cluster: NDArray, design: TaskDesign, model: int) -> _MeanParts:
    """Return the linear contributions of the resampling units to the weighted means over tasks."""
    parts = TaskParts.from_scores(values, cluster, design, model)
    return _MeanParts(parts.parts, parts.mean, float(parts.counts.sum()), parts)


def _contrast(model: _MeanParts, reference: _MeanParts, *, paired: bool) -> tuple[Student, Floats, Floats]:
    """Return the differences and the p-values for the null hypotheses "not better" and "not worse".

    All have shape (m,).
    """
    difference = model.mean - reference.mean
    sides = [model.parts - reference.parts] if paired else [model.parts, -reference.parts]
    scale = np.maximum(np.max([np.abs(side).max(axis=0) for side in sides], axis=0), np.finfo(float).tiny)
    variance, third = np.zeros_like(scale), np.zeros_like(scale)
    df: Floats | float = min(model.samples, reference.samples) - 1
    for unit, side in zip((model, reference), sides, strict=False):
        count = len(side)
        if unit.suite is None:
            variance += ((side / scale) ** 2).sum(axis=0) * count / (count - 1)
        else:
            variance += unit.suite.variances(side / scale).sum(axis=1)
            df = np.minimum(df, unit.suite.df(side / scale))
        third += ((side / scale) ** 3).sum(axis=0)
    error = np.sqrt(variance)
    # No p-value is below the probability that all differing units have the same sign by chance.
    least = np.exp2(-_n_differing(difference, model, reference, sides))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        t = np.where(difference == 0, 0.0, difference / scale / error)
        skewness = np.where(error > 0, third / error**3, 0.0)
    finite = np.where(np.isinf(t), 0.0, t)
    p_values: list[Floats] = []
    for sign in (1, -1):
        p_value = np.where(np.isinf(t), sign * t < 0, p_above(sign * finite, sign * skewness, df))
        p_values.append(np.maximum(p_value, least))
    student = Student(difference, error * scale, np.broadcast_to(df, error.shape), skewness)
    return student, p_values[0], p_values[1]


def _n_differing(difference: Floats, model: _MeanParts, reference: _MeanParts, sides: list[Floats]) -> Floats:
    """Return the number of informative units per metric, shape (m,).

    For paired models, these are the units on which the models differ. For unpaired models, they are those of
    the model with fewer.
    """
    if len(sides) > 1:
        return np.full(len(difference), float(min(map(len, sides))))
    if model.suite is not None and reference.suite is not None:
        effect = model.suite.shares - reference.suite.shares
    else:
        effect = difference / len(sides[0]) + sides[0]
    rounding = 1e-12 * (np.abs(sides[0]).max(axis=0) + np.abs(difference))
    return (np.abs(effect) > rounding).sum(axis=0).astype(np.float64)


@dataclass(frozen=True)
class PassedOver:
    """A model for which a rival is significantly better on some metrics and significantly worse on none.

    Attributes
    ----------
    model, rival : int
    metrics : tuple of int
        Metrics on which the rival is significantly better.
    """

    model: int
    rival: int
    metrics: tuple[int, ...]


def find_passed_over(
    tables: ScoreTables, unbeaten: list[int], inference: Inference
) -> tuple[PassedOver, ...]:
    """Return the unbeaten models that precede the first one without a rival that is better on balance.

    The result is empty if every model has such a rival.
    """
    if len(tables.metrics) == 1:
        return ()  # a better mean of a single metric can come with a worse tail
    skipped: list[PassedOver] = []
    for model in unbeaten:
        comparison = contrasts(tables, model, inference.family)
        rivals = [i for i in unbeaten if i in comparison.better_on_balance]
        if not rivals:
            return tuple(skipped)
        better = comparison.better[rivals[0]]
        skipped.append(PassedOver(model, rivals[0], tuple(np.flatnonzero(better).tolist())))
    return ()
