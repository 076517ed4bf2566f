"""Differences of mean scores over folds of cross-validation, which share their training rows (method §13).

With J = R·K folds, R repeats of K, the mean difference varies by c·s², s² being the variance of the folds'
differences: a part 1/K of it the folds have of their own, a part q = n_test/n_train they share. Repeats get
half as much again of the shared part, since no estimate of the variance sees the shared training rows; what
is shared differs from table to table, so that degrees of freedom are 2K and not J − 1.

References
----------
C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52, 239-281.
doi:10.1023/A:1024068626366
R. R. Bouckaert and E. Frank (2004). Evaluating the replicability of significance tests for comparing learning
algorithms. PAKDD, 3-12. doi:10.1007/978-3-540-24775-3_3
"""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.evidence.student import Student, sum_of
from riskrank.engine.types import Floats, Integers

# Rows that are tested to those that are trained on, where nobody knows how many folds there are.
_UNKNOWN_SHARE = 1 / 4
_FEW = 5


@dataclass(frozen=True)
class Folds:
    """How one data set was split.

    Attributes
    ----------
    count : int
        Scores of a model, J.
    splits : int or None
        Folds of a repeat, K; None where nobody knows.
    """

    count: int
    splits: int | None

    @property
    def known(self) -> int | None:
        """Folds of a repeat: fewer than five splits are taken for one repeat."""
        return self.count if self.splits is None and self.count < _FEW else self.splits

    @property
    def kept(self) -> float:
        """The variance of the mean difference over that of the folds' differences, c."""
        if self.known is None:
            return 1 / self.count + 1.5 * _UNKNOWN_SHARE
        share = 1 / (self.known - 1)
        return min(1 / self.known + share, 1 / self.count + 1.5 * share)

    @property
    def freedom(self) -> float:
        """Degrees of freedom: repeats see the same rows again, and families of learners tell (2K at most)."""
        return float(min(self.count - 1, 2 * (self.known or 2 * _FEW)))

    @property
    def worth(self) -> float:
        """Independent samples that would tell as much, 1/c."""
        return 1 / self.kept


def fold_differences(values: Floats, of_fold: Integers, folds: tuple[Folds, ...], weights: Floats) -> Student:
    """Differences of the mean scores of all pairs, first minus second.

    Parameters
    ----------
    values : ndarray, shape (k, J)
        Scores of every model on every fold of every data set.
    of_fold : ndarray of int, shape (J,)
        Data set of each fold.
    folds : tuple of D Folds
    weights : ndarray, shape (D,)
        Of the data sets, of sum 1.

    Returns
    -------
    Student
        Shape (k, k); of several data sets by Satterthwaite's degrees of freedom, K − 1 of each.
    """
    apart = values[:, None] - values[None]
    parts = [apart[..., of_fold == at] for at in range(len(folds))]
    spreads = [np.sqrt(one.kept) * part.std(axis=-1, ddof=1) for one, part in zip(folds, parts, strict=True)]
    alone = len(folds) == 1
    df = [one.freedom if alone else (one.known or _FEW) - 1 for one in folds]
    mean = np.stack([part.mean(axis=-1) for part in parts], axis=-1)
    return sum_of(weights * mean, weights * np.stack(spreads, axis=-1), np.array(df, dtype=float), sum(df))
