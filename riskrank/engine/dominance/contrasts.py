"""Contrasts of means: one model against all others on every metric (method §4, "What a verdict may say").

A rank-based portfolio does not show how bad a bad score is, but the original metrics do. Each contrast is a
paired or unpaired difference of means in the metric's own units, oriented so that larger is better. Its
p-values come from :mod:`riskrank.engine.evidence.mean_differences`.

`find_passed_over` lists top-ranked models for which another model is significantly better on some metric and
significantly worse on none.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.evidence.evidence import Evidence
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.family import Answers
from riskrank.engine.portfolio.score_tables import ScoreTables
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
