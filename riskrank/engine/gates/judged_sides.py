"""One model's scores in a gate, when judge scores are calibrated on human labels (method §12).

A calibrated mean is the mean of the human scores minus λ' times the judge's mean on the same samples, plus
λ' times the judge's mean on the other samples. These are two tasks of a suite, with residuals in place of
scores. A calibrated tail needs the weights of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from riskrank.engine.gates.side import SideScores, SideTasks
from riskrank.engine.judges.correction import MIN_UNLABELLED
from riskrank.engine.judges.tails import JudgedRows
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.steps import StepMaker, Steps, make_monotone, to_weight_units
from riskrank.engine.types import Booleans, Floats

# An additional sample has a human score, which must have more weight than a judge score.
_UNLABELLED_WEIGHT = 0.5


def calibration_residuals(scores: ClusteredScores, model: int) -> tuple[SideScores, float]:
    """Return the residuals whose weighted mean is a model's calibrated mean, and their scale.

    Returns
    -------
    side : SideScores
        Residuals of the labelled samples (task 0) and judge scores of the others (task 1).
    scale : float
        Factor by which residuals exceed human scores.
    """
    rows, strata = JudgedRows.from_scores(scores, model), scores.strata
    counts = strata.counts(model)
    second = _UNLABELLED_WEIGHT * min(1.0, counts[1] / counts[0])
    weights = np.array([1 - second, second])
    sums = np.bincount(scores.clusters[model], rows.values * rows.signed)
    task = strata.cluster_tasks[model]
    # The judge's mean over the labelled samples cancels; without it, residuals have the human scores' scale.
    judged = rows.labelled & ~rows.human
    offset = -float(rows.values[judged] @ rows.signed[judged])
    values = (sums * counts[task] + np.array([offset, -offset])[task]) / weights[task]
    side = SideScores(values, np.arange(values.size), SideTasks(task, weights))
    return side, float(1 / weights[0])


@dataclass(frozen=True)
class LabelledPair:
    """Human labels for two models.

    Attributes
    ----------
    labels : int
        Number of samples with human labels, n.
    samples : int
        Number of samples with judge scores, N.
    label_variance : float
        Variance of the mean difference, estimated from the human scores alone.
    """

    labels: int
    samples: int
    label_variance: float

    @classmethod
    def from_scores(cls, scores: ClusteredScores, new: int, old: int) -> LabelledPair:
        """Summarise the human labels of two models, given by index."""
        rows = (JudgedRows.from_scores(scores, model) for model in (new, old))
        first, second = (judged.values[judged.human] for judged in rows)
        counts = scores.strata.counts(new)
        labels = int(counts[0])
        return cls(labels, int(counts.sum()), float((first - second).var(ddof=1)) / labels)

    @property
    def max_labels(self) -> int:
        """Largest possible number of labels, which leaves a minimum of samples to the judge."""
        return self.samples - MIN_UNLABELLED

    def irreducible_proportion(self, variance: float) -> float:
        """Return the proportion of the calibrated difference's variance that labelling all samples leaves.

        The variance is (A − G)/n + G/N. The second term remains; A/n is the variance of the labels alone.
        """
        if variance <= 0:
            return 0.0
        return min((self.label_variance - variance) / (self.samples / self.labels - 1) / variance, 1.0)


@dataclass(frozen=True)
class TailSide(SideScores):
    """Human and judge scores, with the factors by which they enter a calibrated tail mean.

    Attributes ---------- factors : ndarray, shape (n,)
        1 for human scores, −λ' for judge scores of the same samples, λ' for other judge scores.
    is_human : ndarray of bool, shape (n,)
        True for human scores.
    """

    factors: Floats = field(kw_only=True)
    is_human: Booleans = field(kw_only=True)

    @classmethod
    def from_scores(cls, scores: ClusteredScores, model: int) -> TailSide:
        """Create the side of one model, given by index."""
        rows, strata = JudgedRows.from_scores(scores, model), scores.strata
        tasks = SideTasks(strata.cluster_tasks[model], np.ones(2))
        shares = rows.signed * strata.counts(model)[strata.cluster_tasks[model][scores.clusters[model]]]
        return cls(rows.values, scores.clusters[model], tasks, factors=shares, is_human=rows.human)

    @property
    def observed(self) -> Floats:
        """Human scores only."""
        return self.values[self.is_human]

    def worst_quantile(self, proportion: float) -> float:
        """Return the quantile of the human scores at the given proportion."""
        return float(np.quantile(self.observed, proportion, method="inverted_cdf"))

    def with_unit(self, score: float) -> TailSide:
        """Return a copy with an added sample: the given human score and the judge's median score."""
        judge = (self.tasks.unit_tasks[self.clusters] == 0) & ~self.is_human
        unit = int(self.clusters[-1]) + 1
        return replace(
            self,
            values=np.append(self.values, [score, float(np.median(self.values[judge]))]),
            clusters=np.append(self.clusters, [unit, unit]),
            tasks=replace(self.tasks, unit_tasks=np.append(self.tasks.unit_tasks, 0)),
            factors=np.append(self.factors, [1.0, float(self.factors[judge][0])]),
            is_human=np.append(self.is_human, [True, False]),
        )

    def tails(self, unit_weights: Floats, level: float) -> Floats:
        """Return the tail mean of each resample, given unit weights of shape (B, C)."""
        weights = self.tasks.weigh(unit_weights, np.ones(unit_weights.shape[1]))
        maker = StepMaker.from_scores(self.values, self.clusters)
        order = np.argsort(self.values, kind="stable")
        rows = to_weight_units(weights.take(maker.units, axis=1) * self.factors[order])
        if maker.starts is not None:
            rows = np.add.reduceat(rows, maker.starts, axis=1)
        return Steps(maker.values, make_monotone(maker.values, np.cumsum(rows, axis=1))).tail_means(level)
