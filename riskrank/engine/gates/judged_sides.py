"""One model's side of a gate where a judge's scores are corrected by people's (method §12).

A corrected mean is the mean of people's scores less λ' of the judge's on the same samples, and λ' times the
judge's mean on the others: two tasks of a suite, whose residuals take the place of scores. A corrected tail
needs the weights of every row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from riskrank.engine.gates.side import SideScores, SideTasks
from riskrank.engine.judges.correction import FEWEST_OTHERS
from riskrank.engine.judges.tails import JudgedRows
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.steps import StepMaker, Steps, proper, units_of
from riskrank.engine.types import Booleans, Floats

# A sample more is one that people scored: it has to move the mean more than one that they did not.
_LESS = 0.5


def mean_side(scores: ClusteredScores, model: int) -> tuple[SideScores, float]:
    """Residuals in the place of scores, and how much larger they are than people's scores."""
    own, strata = JudgedRows.of(scores, model), scores.strata
    counts = strata.counts(model)
    second = _LESS * min(1.0, counts[1] / counts[0])
    weights = np.array([1 - second, second])
    sums = np.bincount(scores.clusters[model], own.values * own.signed)
    task = strata.of_cluster[model]
    # The judge's mean over the labelled samples cancels; without it residuals lie where people's scores do.
    judged = own.labelled & ~own.people
    offset = -float(own.values[judged] @ own.signed[judged])
    values = (sums * counts[task] + np.array([offset, -offset])[task]) / weights[task]
    side = SideScores(values, np.arange(values.size), SideTasks(task, weights))
    return side, float(1 / weights[0])


@dataclass(frozen=True)
class LabelledPair:
    """What people scored of two models.

    Attributes
    ----------
    labels : int
        Samples that people scored, n.
    samples : int
        Those that the judge scored, N.
    alone : float
        Variance of people's mean difference, which the labels alone leave.
    """

    labels: int
    samples: int
    alone: float

    @classmethod
    def of(cls, scores: ClusteredScores, new: int, old: int) -> LabelledPair:
        """Those of two models by number."""
        rows = (JudgedRows.of(scores, model) for model in (new, old))
        first, second = (own.values[own.people] for own in rows)
        counts = scores.strata.counts(new)
        labels = int(counts[0])
        return cls(labels, int(counts.sum()), float((first - second).var(ddof=1)) / labels)

    @property
    def most(self) -> int:
        """Labels there can be beside a judge."""
        return self.samples - FEWEST_OTHERS

    def kept(self, variance: float) -> float:
        """Share of the corrected difference's variance that labels of all samples would not take away.

        Of (A − G)/n + G/N it is the second part; A/n is what the labels alone leave.
        """
        if variance <= 0:
            return 0.0
        return min((self.alone - variance) / (self.samples / self.labels - 1) / variance, 1.0)


@dataclass(frozen=True)
class TailSide(SideScores):
    """People's and the judge's scores with what each weighs beside the weight of its sample.

    Attributes
    ----------
    shares : ndarray, shape (n,)
        1 of people's scores, −λ' of the judge's of the same samples, λ' of its others.
    people : ndarray of bool, shape (n,)
    """

    shares: Floats = field(kw_only=True)
    people: Booleans = field(kw_only=True)

    @classmethod
    def of(cls, scores: ClusteredScores, model: int) -> TailSide:
        """One model's side."""
        own, strata = JudgedRows.of(scores, model), scores.strata
        tasks = SideTasks(strata.of_cluster[model], np.ones(2))
        shares = own.signed * strata.counts(model)[strata.of_cluster[model][scores.clusters[model]]]
        return cls(own.values, scores.clusters[model], tasks, shares=shares, people=own.people)

    @property
    def seen(self) -> Floats:
        """Scores that people gave."""
        return self.values[self.people]

    def worst_share(self, share: float) -> float:
        """Quantile of the scores that people gave."""
        return float(np.quantile(self.seen, share, method="inverted_cdf"))

    def with_unit(self, score: float) -> TailSide:
        """Add a sample that people scored, and of which the judge says what it usually does."""
        judge = (self.tasks.of_unit[self.clusters] == 0) & ~self.people
        unit = int(self.clusters[-1]) + 1
        return replace(
            self,
            values=np.append(self.values, [score, float(np.median(self.values[judge]))]),
            clusters=np.append(self.clusters, [unit, unit]),
            tasks=replace(self.tasks, of_unit=np.append(self.tasks.of_unit, 0)),
            shares=np.append(self.shares, [1.0, float(self.shares[judge][0])]),
            people=np.append(self.people, [True, False]),
        )

    def tails(self, drawn: Floats, level: float) -> Floats:
        """Mean of the worst share in resamples of weights `drawn`, shape (B, C)."""
        weights = self.tasks.weigh(drawn, np.ones(drawn.shape[1]))
        maker = StepMaker.of(self.values, self.clusters)
        order = np.argsort(self.values, kind="stable")
        rows = units_of(weights.take(maker.units, axis=1) * self.shares[order])
        if maker.starts is not None:
            rows = np.add.reduceat(rows, maker.starts, axis=1)
        return Steps(maker.values, proper(maker.values, np.cumsum(rows, axis=1))).tail_means(level)
