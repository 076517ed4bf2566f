"""Tuning of the judge weights λ for tail means (method §12).

A judge may be less informative about the worst samples than about the mean. For a judge that mistakes good
answers for bad ones, the λ that is optimal for the mean is too large. Intervals for tail means are then wider
than those from labels alone. With Q the quantile function, the influence of a score x on the mean of the
worst proportion p is min(x, Q(p))/p, up to a constant. λ is therefore tuned for these values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.judges.correction import Correction, tune_for_differences
from riskrank.engine.portfolio.quantiles import tail_value_at_risk
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Booleans, Floats


@dataclass(frozen=True)
class JudgedRows:
    """Rows of one model in a column with judge scores, with the origin of each score.

    Attributes
    ----------
    values, signed : ndarray, shape (n,)
        Scores and their signed weights.
    labelled : ndarray of bool, shape (n,)
        True for scores of labelled samples, whether by humans or by the judge.
    human : ndarray of bool, shape (n,)
        True for human scores.
    """

    values: Floats
    signed: Floats
    labelled: Booleans
    human: Booleans

    @classmethod
    def from_scores(cls, scores: ClusteredScores, model: int) -> JudgedRows:
        """Extract the scores of the model with index `model`, with their signed weights."""
        labelled = scores.strata.cluster_tasks[model][scores.clusters[model]] == 0
        signed = scores.mean_weights[model]
        return cls(scores.values[model], signed, labelled, labelled & (signed > 0))


def tune_for_tail(scores: ClusteredScores, level: float) -> ClusteredScores:
    """Return the scores with judge weights tuned for the tail mean; without a judge, return them unchanged.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    level : float
        Proportion p of worst scores.
    """
    if not scores.judged:
        return scores
    models = [JudgedRows.from_scores(scores, model) for model in range(scores.models)]
    truncated = []
    for rows in models:
        human, labelled = rows.values[rows.human], rows.values[rows.labelled & ~rows.human]
        judge = np.concatenate((labelled, rows.values[~rows.labelled]))
        # The influence of a score on the tail mean is that of the score truncated at the quantile.
        edge = float(np.quantile(human, level, method="inverted_cdf"))
        truncated.append(Correction.fit(np.minimum(human, edge), np.minimum(judge, edge)))
    signed = []
    for rows, fit in zip(models, tune_for_differences(truncated), strict=True):
        n = int(rows.human.sum())
        total = rows.values.size - n
        weights = np.full(rows.values.size, fit.judge_weight / total)
        weights[rows.labelled] = fit.judge_weight * (1 / total - 1 / n)
        weights[rows.human] = 1 / n
        signed.append(weights)
    return replace(scores, strata=replace(scores.strata, signed=tuple(signed)))


def judged_tail_means(scores: ClusteredScores, levels: Floats) -> Floats:
    """Return the tail means of each model, with judge weights tuned for each tail proportion.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    levels : ndarray, shape (l,)
        Proportions of worst scores, in (0, 1].

    Returns
    -------
    ndarray, shape (k, l)
    """
    means = []
    for level in levels.tolist():
        tuned = tune_for_tail(scores, level)
        models = zip(tuned.values, tuned.weights, strict=True)
        means.append([tail_value_at_risk(values, level, weights) for values, weights in models])
    return np.array(means, dtype=np.float64).T
