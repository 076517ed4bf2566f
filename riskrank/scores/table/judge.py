"""A judge's scores of all samples and people's of some, as a table keeps them (method §12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riskrank.engine.judges.correction import Correction
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Judged:
    """A judge's scores of all samples of every model, corrected by people's.

    Attributes
    ----------
    human, judge : str
        Names of the metrics.
    labelled : ndarray of int64, shape (n,)
        Samples that people scored, the same of every model.
    others : ndarray of int64, shape (N − n,)
        Samples that only the judge scored.
    corrections : tuple of Correction
        By model; oriented, the judge's scores on people's scale.
    raw : tuple of ndarray, shapes (N,)
        The judge's own scores, oriented, those of labelled samples first.
    why_mapped : str
        Why the judge is taken to score on another scale; empty where it is on people's.
    judge_sign : float
        −1 where less of the judge's metric is better in the file.
    """

    human: str
    judge: str
    labelled: Integers
    others: Integers
    corrections: tuple[Correction, ...]
    raw: tuple[Floats, ...]
    why_mapped: str
    judge_sign: float

    @property
    def strata(self) -> tuple[Integers, tuple[Floats, ...]]:
        """Of every row of a model 0 where people scored its sample, else 1; signed weights of the rows."""
        order, _ = by_sample(self.labelled, self.others)
        n = len(self.labelled)
        of_row = np.repeat([0, 1], [2 * n, len(self.others)])[order]
        return of_row, tuple(one.rows()[1][order] for one in self.corrections)


def by_sample(labelled: Integers, others: Integers) -> tuple[Integers, Integers]:
    """Order by sample of human scores, judge's scores of labelled samples and of others; the samples."""
    samples = np.concatenate((labelled, labelled, others))
    order = np.argsort(samples, kind="stable")
    return order, samples[order]
