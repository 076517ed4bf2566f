"""A suite: samples that belong to tasks, and how much each task weighs."""

from __future__ import annotations

from dataclasses import dataclass

from riskrank.engine.types import Floats, Integers
from riskrank.scores.table.metrics_file import MetricSpec


@dataclass(frozen=True, kw_only=True, eq=False)
class Suite:
    """The tasks of a score table.

    Attributes
    ----------
    names : tuple of str
        Of the tasks, sorted; at least two.
    of_sample : ndarray of int64, shape (samples,)
        The task of each sample, as an index into `names`: a sample lies in one task, since the same name in
        two tasks is two samples. Read-only.
    weights : ndarray of float64, shape (tasks,)
        Sum to 1; equal unless asked for otherwise. Read-only.
    specs : tuple of MetricSpec, or None
        The metric of each task, where tasks have metrics of their own: the table then has one column,
        ``score``, oriented task by task.
    """

    names: tuple[str, ...]
    of_sample: Integers
    weights: Floats
    specs: tuple[MetricSpec, ...] | None = None

    @property
    def metrics(self) -> tuple[str, ...] | None:
        """The name of each task's metric, where tasks have metrics of their own."""
        return None if self.specs is None else tuple(spec.name for spec in self.specs)
