"""Simulate score tables of any size by resampling a pilot study with replacement.

For a suite of tasks, the size is the number of samples per task, or the number of tasks if tasks are random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Floats, Integers


@dataclass(frozen=True)
class PilotSampler:
    """Sampler that draws resampling units from a pilot study with replacement.

    Attributes
    ----------
    scores : ClusteredScores
        Scores of the pilot study. The size of a simulated table is its number of units per stratum.
    """

    scores: ClusteredScores

    @property
    def paired(self) -> bool:
        """True if the same units are drawn for all models."""
        return self.scores.joint_resamples

    @cached_property
    def unit_sizes(self) -> tuple[Integers, ...]:
        """Number of scores in each unit, shapes (C_i,)."""
        return tuple(np.bincount(cluster) for cluster in self.scores.clusters)

    def first_rows(self, model: int) -> Integers:
        """Return the index of the first score of each unit of a model, shape (C,)."""
        return np.cumsum(self.unit_sizes[model]) - self.unit_sizes[model]

    def stratum_bounds(self, model: int) -> Integers:
        """Return the index of the first unit of each stratum, followed by the number of units.

        `model` is the index of the model. The shape is (n_strata + 1,).
        """
        strata = self.scores.strata
        return np.array([0, strata.tasks]) if strata.random else strata.bounds(model)

    def __call__(self, rng: np.random.Generator, size: int) -> ClusteredScores:
        """Simulate a score table with `size` units in each stratum."""
        return self.build_table(self.draw_units(rng, size))

    def draw_units(self, rng: np.random.Generator, size: int) -> list[Integers]:
        """Draw `size` units from each stratum with replacement; return their indices for each model.

        In a paired design the result has a single array. Tasks alternate, so any sufficiently long contiguous
        part of the draw covers all tasks.
        """
        draws = []
        for model in range(1 if self.paired else self.scores.models):
            bounds = self.stratum_bounds(model)
            draws.append(rng.integers(bounds[:-1], bounds[1:], (size, self.n_strata)).ravel())
        return draws

    def drawn_scores(self, draws: Sequence[Integers]) -> list[tuple[Floats, Integers]]:
        """Return the scores of each model in the drawn units, with the unit of each score.

        Parameters
        ----------
        draws : sequence of ndarrays of int
            Indices of the drawn units, from :meth:`draw_units`.

        Returns
        -------
        list of k pairs of ndarrays, shapes (n_i,)
            Scores, and the position of each score's unit in the draw.
        """
        result = []
        for model, (value, length) in enumerate(zip(self.scores.values, self.unit_sizes, strict=True)):
            units = draws[model % len(draws)]
            counts, starts = length[units], self.first_rows(model)[units]
            first = np.cumsum(counts) - counts
            indices = np.repeat(starts - first, counts) + np.arange(counts.sum())
            # A unit drawn twice counts as two units.
            result.append((value[indices], np.repeat(np.arange(len(units)), counts)))
        return result

    def build_table(self, draws: Sequence[Integers]) -> ClusteredScores:
        """Build a score table from drawn units (`draws`), as returned by :meth:`draw_units`."""
        strata, random, tasks = self.scores.strata, self.scores.strata.random, None
        values, clusters = zip(*self.drawn_scores(draws), strict=True)
        if strata.has_several_tasks:
            weights = strata.weights[draws[0]] if random else strata.weights
            row_tasks = clusters if random else [cluster % self.n_strata for cluster in clusters]
            names = [str(task) for task in range(len(weights))]
            tasks = TaskDesign.build(names, row_tasks, weights=weights, random=random)
        # Random tasks are the units, so the pairing of samples within them is irrelevant.
        paired = self.scores.paired and not random
        return ClusteredScores.build(values, None if random else clusters, paired=paired, tasks=tasks)

    @property
    def n_strata(self) -> int:
        """Number of strata from which units are drawn: the number of fixed tasks, otherwise 1."""
        return 1 if self.scores.strata.random else self.scores.strata.tasks

    @property
    def stratum_sizes(self) -> Floats:
        """Number of units in each stratum, for the model with the fewest units there; shape (n_strata,)."""
        sizes = [np.diff(self.stratum_bounds(model)) for model in range(self.scores.models)]
        return np.min(sizes, axis=0).astype(np.float64)
