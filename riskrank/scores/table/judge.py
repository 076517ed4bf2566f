"""A judge's scores of all samples and people's of some, as a table keeps them (method §12)."""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.judges.correction import Correction
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class LabelShift:
    """How labels that look chosen by outcome show it: the judge's means on them and on the others differ.

    Attributes
    ----------
    model : str
        The model whose p-value is smallest.
    difference : float
        Its judge's mean on labelled samples less that on the others, as the file has it.
    p_value : float
        Welch's, adjusted by Holm over models.
    models : int
        Models of which it is significant.
    """

    model: str
    difference: float
    p_value: float
    models: int

    @property
    def warning(self) -> str:
        """What it means for every figure that rests on the labels."""
        others, side = self.models - 1, "higher" if self.difference > 0 else "lower"
        also = f", and so for {others} other model{'s' * (others > 1)}" if others else ""
        return (
            f"the labelled samples do not look chosen by chance: the judge's mean of {self.model} is "
            f"{abs(self.difference):.3g} {side} on them than on the others (Welch's t, Holm over models, "
            f"p = {self.p_value:.2g}){also}; what they correct may be off"
        )


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
    shift : LabelShift or None
        Of labels that look chosen by outcome; None where they may have been chosen by chance.
    """

    human: str
    judge: str
    labelled: Integers
    others: Integers
    corrections: tuple[Correction, ...]
    raw: tuple[Floats, ...]
    why_mapped: str
    judge_sign: float
    shift: LabelShift | None = None

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
