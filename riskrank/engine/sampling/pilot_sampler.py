"""Tables of any size whose samples are drawn again from a pilot.

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

    def __call__(self, rng: np.random.Generator, size: int) -> ClusteredScores:
        """Draw `size` samples per model, of these tasks per task: the same for all models if paired."""
        return self.table(self.chosen(rng, size))

    def chosen(self, rng: np.random.Generator, size: int) -> list[Integers]:
        """Units that are drawn of each model, or of all together if paired.

        Of these tasks one of each after the other, so that any run holds all.
        """
        found = []
        for model in range(1 if self.paired else self.scores.models):
            bounds = self.bounds(model)
            found.append(rng.integers(bounds[:-1], bounds[1:], (size, self.width)).ravel())
        return found

    def rows(self, drawn: Sequence[Integers]) -> list[tuple[Floats, Integers]]:
        """Scores of each model's units, one unit after another, and the number of the unit of each score."""
        found = []
        for model, (value, length) in enumerate(zip(self.scores.values, self.lengths, strict=True)):
            units = drawn[model % len(drawn)]
            counts, starts = length[units], self.starts(model)[units]
            first = np.cumsum(counts) - counts
            places = np.repeat(starts - first, counts) + np.arange(counts.sum())
            # A unit drawn twice stands for two.
            found.append((value[places], np.repeat(np.arange(len(units)), counts)))
        return found

    def table(self, drawn: Sequence[Integers]) -> ClusteredScores:
        """The table of some units as a test takes it: of each model, or the same ones for all if paired."""
        strata, random, tasks = self.scores.strata, self.scores.strata.random, None
        values, clusters = zip(*self.rows(drawn), strict=True)
        if strata.several:
            weights = strata.weights[drawn[0]] if random else strata.weights
            of_row = clusters if random else [cluster % self.width for cluster in clusters]
            names = [str(task) for task in range(len(weights))]
            tasks = TaskDesign.build(names, of_row, weights=weights, random=random)
        # Whole tasks are drawn, the same for all models, and their samples are not told apart.
        paired = self.scores.paired and not random
        return ClusteredScores.build(values, None if random else clusters, paired=paired, tasks=tasks)

    @property
    def width(self) -> int:
        """Units drawn for each one of the size."""
        return 1 if self.scores.strata.random else self.scores.strata.tasks

    @property
    def units(self) -> Floats:
        """Units of the model with the fewest in each task, shape (T,); in all, where no task has its own."""
        return np.min([np.diff(self.bounds(m)) for m in range(self.scores.models)], axis=0).astype(np.float64)
