"""Scores laid out: one row is one draw of one model on one sample, a column a metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Score vectors, sorted by model, sample and then by their values.

    Attributes
    ----------
    model, sample : ndarray of int64, shape (r,)
        Whose vector it is, and on which sample.
    values : ndarray of float64, shape (r, m)
        Scores on every metric.
    """

    model: np.ndarray
    sample: np.ndarray
    values: np.ndarray

    def take(self, kept: np.ndarray) -> Rows:
        """The rows of an index or mask."""
        return Rows(model=self.model[kept], sample=self.sample[kept], values=self.values[kept])
