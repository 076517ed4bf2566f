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

    def with_sorted_draws(self) -> Rows:
        """The draws of a sample in the order of their values, whatever the order of the file."""
        keys = [self.values[:, metric] for metric in reversed(range(self.values.shape[1]))]
        return self.take(np.lexsort([*keys, self.sample, self.model]))
