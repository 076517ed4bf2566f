"""Which folds of cross-validation samples are, data set by data set."""

from dataclasses import dataclass

from riskrank.engine.evidence.folds import Folds
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class FoldDesign:
    """Which folds the samples of a table are.

    Attributes
    ----------
    folds : tuple of D Folds
        Of each data set.
    of_sample : ndarray of int, shape (n,)
        Data set of each sample.
    weights : ndarray, shape (D,)
        Of the data sets, of sum 1.
    """

    folds: tuple[Folds, ...]
    of_sample: Integers
    weights: Floats

    @property
    def unknown(self) -> bool:
        """Whether nobody knows how many folds a repeat has."""
        return any(one.known is None for one in self.folds)
