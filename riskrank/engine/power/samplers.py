"""Data sets to test: samples drawn again from a pilot, or from quantiles of named distributions.

Of a suite of tasks the size counts samples a task, all tasks alike; or whole tasks, where tasks are drawn.
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
class Draw:
    """One simulated data set.

    Attributes
    ----------
    samples : tuple of k ndarrays, shapes (n_i,)
        Scores of each model.
    clusters : tuple of k ndarrays of int, shapes (n_i,), or None
        Sample each score belongs to, numbered 0, 1, … anew; None where every score is its own.
    tasks : TaskDesign or None
        The tasks of a suite; None of other data sets.
    """

    samples: tuple[Floats, ...]
    clusters: tuple[Integers, ...] | None
    tasks: TaskDesign | None = None


@dataclass(frozen=True)
class PilotSampler:
    """Draws samples from a pilot with replacement, of any size.

    Attributes
    ----------
    scores : ClusteredScores
        Of the pilot. Sizes count its units of resampling, of a suite those of each task.
    """

    scores: ClusteredScores

    @property
    def paired(self) -> bool:
        """Whether all models have the same units drawn."""
        return self.scores.drawn_together

    @cached_property
    def clustered(self) -> bool:
        """Whether units hold several scores."""
        return self.scores.strata.random or self.scores.draws_per_sample() != 1

    @cached_property
    def lengths(self) -> tuple[Integers, ...]:
        """How many scores each unit holds, shapes (C_i,)."""
        return tuple(np.bincount(cluster) for cluster in self.scores.clusters)

    def starts(self, model: int) -> Integers:
        """Where the scores of each unit begin, shape (C,)."""
        return np.cumsum(self.lengths[model]) - self.lengths[model]

    def bounds(self, model: int) -> Integers:
        """Where the units begin that are drawn from each other, and where the last ones end."""
        strata = self.scores.strata
        return np.array([0, strata.tasks]) if strata.random else strata.bounds(model)

    def __call__(self, rng: np.random.Generator, size: int) -> Draw:
        """Draw `size` samples per model, of these tasks per task: the same for all models if paired."""
        return self.of(self.chosen(rng, size))

    def chosen(self, rng: np.random.Generator, size: int) -> list[Integers]:
        """Units that are drawn of each model, or of all together if paired.

        Of these tasks one of each after the other, so that any run holds all.
        """
        found = []
        for model in range(1 if self.paired else self.scores.models):
            bounds = self.bounds(model)
            found.append(rng.integers(bounds[:-1], bounds[1:], (size, self.width)).ravel())
        return found

    def of(self, drawn: Sequence[Integers]) -> Draw:
        """The data set of some units: of each model, or the same ones for all if paired."""
        samples, clusters = [], []
        for model, (value, length) in enumerate(zip(self.scores.values, self.lengths, strict=True)):
            chosen, start = drawn[model % len(drawn)], self.starts(model)
            many = length[chosen]
            # Rows of the chosen clusters, one run after another.
            within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            samples.append(value[np.repeat(start[chosen], many) + within])
            # A sample drawn twice stands for two samples.
            clusters.append(np.repeat(np.arange(len(chosen)), many))
        tasks = self._tasks(clusters, drawn[0]) if self.scores.strata.several else None
        return Draw(tuple(samples), tuple(clusters) if self.clustered else None, tasks)

    @property
    def width(self) -> int:
        """Units drawn for each one of the size."""
        return 1 if self.scores.strata.random else self.scores.strata.tasks

    @property
    def units(self) -> Floats:
        """Units of the model with the fewest in each task, shape (T,); in all, where no task has its own."""
        return np.min([np.diff(self.bounds(m)) for m in range(self.scores.models)], axis=0).astype(np.float64)

    def _tasks(self, clusters: Sequence[Integers], drawn: Integers) -> TaskDesign:
        random, weights = self.scores.strata.random, self.scores.strata.weights
        weights = weights[drawn] if random else weights
        rows = [cluster if random else cluster % self.width for cluster in clusters]
        return TaskDesign.build(
            [str(task) for task in range(len(weights))], rows, weights=weights, random=random
        )
