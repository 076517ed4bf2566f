"""Differences in mean scores over cross-validation folds, which share training rows (method §13).

There are J = R·K folds: R repeats of K folds. The variance of the mean difference is c·s², where s² is the
variance of the differences over folds. The factor c consists of an independent part 1/K and a shared part q =
n_test/n_train. With repeats the shared part is multiplied by 1.5, because it cannot be estimated from folds
that share training rows. It also varies between tables, so there are 2K degrees of freedom instead of J − 1.

References
----------
C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52, 239-281.
doi:10.1023/A:1024068626366
R. R. Bouckaert and E. Frank (2004). Evaluating the replicability of significance tests for comparing learning
algorithms. PAKDD, 3-12. doi:10.1007/978-3-540-24775-3_3
"""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.evidence.student import Student, independent_sum
from riskrank.engine.types import Floats, Integers

# Ratio of test rows to training rows if the number of folds is unknown; fewer folds than _FEW_SPLITS count as
# one repeat.
_DEFAULT_RATIO = 1 / 4
_FEW_SPLITS = 5


@dataclass(frozen=True)
class Folds:
    """Cross-validation splits of one data set.

    Attributes
    ----------
    count : int
        Number of scores per model, J.
    splits : int or None
        Folds per repeat, K; None if unknown.
    """

    count: int
    splits: int | None

    @property
    def per_repeat(self) -> int | None:
        """Number of folds per repeat, K, or None if unknown.

        If K was not given, fewer than five folds are treated as a single repeat.
        """
        return self.count if self.splits is None and self.count < _FEW_SPLITS else self.splits

    @property
    def variance_factor(self) -> float:
        """Variance of the mean difference, divided by the variance of the differences over folds."""
        if self.per_repeat is None:
            return 1 / self.count + 1.5 * _DEFAULT_RATIO
        ratio = 1 / (self.per_repeat - 1)
        return min(1 / self.per_repeat + ratio, 1 / self.count + 1.5 * ratio)

    @property
    def df(self) -> float:
        """Degrees of freedom, at most 2K, because all repeats use the same rows."""
        return float(min(self.count - 1, 2 * (self.per_repeat or 2 * _FEW_SPLITS)))

    @property
    def effective_size(self) -> float:
        """Effective number of independent samples: the reciprocal of the variance factor, 1/c."""
        return 1 / self.variance_factor


def fold_differences(values: Floats, group: Integers, folds: tuple[Folds, ...], weights: Floats) -> Student:
    """Return the differences in mean scores for all pairs of models, from cross-validation folds.

    Parameters
    ----------
    values : ndarray, shape (k, J)
        Score of each model on each fold of all data sets.
    group : ndarray of int, shape (J,)
        Data set of each fold.
    folds : tuple of D Folds
        Cross-validation splits of each data set.
    weights : ndarray, shape (D,)
        Weights of the data sets, with sum 1.

    Returns
    -------
    Student
        Shape (k, k). For several data sets, Satterthwaite's degrees of freedom are based on K − 1 for each.
    """
    differences = values[:, None] - values[None]
    parts = [differences[..., group == i] for i in range(len(folds))]
    spreads = zip(folds, [part.std(axis=-1, ddof=1) for part in parts], strict=True)
    errors = [np.sqrt(data_set.variance_factor) * spread for data_set, spread in spreads]
    single = len(folds) == 1
    df = [data_set.df if single else (data_set.per_repeat or _FEW_SPLITS) - 1 for data_set in folds]
    mean = np.stack([part.mean(axis=-1) for part in parts], axis=-1)
    return independent_sum(weights * mean, weights * np.stack(errors, axis=-1), np.array(df, float), sum(df))
