"""Tables drawn and tested: how often claims are shown ([RAB] Fig. 6 and 7).

Data sets to test: samples drawn again from a pilot, or from quantiles of named distributions.

Of a suite of tasks the size counts samples a task, all tasks alike; or whole tasks, where tasks are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Booleans, Floats, Integers

# Tables whose random streams have one origin.
_BLOCK = 5


@dataclass(frozen=True)
class PowerCurve:
    """Share of tables in which claims are shown.

    Attributes
    ----------
    sizes : ndarray of int, shape (s,)
        Samples per model, increasing.
    power, standard_error : ndarray, shape (s, c + 1)
        Share of the tables in which each claim is shown, then all of them together, and its error.
    repeats : int
        Tables per size, R.
    """

    sizes: Integers
    power: Floats
    standard_error: Floats
    repeats: int

    @classmethod
    def of(
        cls, sizes: Sequence[int], shown: Sequence[Booleans], doubt: float = 0.0, divided: float = 0.25
    ) -> PowerCurve:
        """Count verdicts, of shape (R, c) for each size.

        A doubt is the error that whole tests leave where verdicts are divided as told; it weighs more where
        they may be divided more evenly.
        """
        hits = np.array([np.append(own.sum(axis=0), own.all(axis=1).sum()) for own in shown])
        repeats = len(shown[0])
        share = hits / repeats
        turned = share + doubt * (1 - 2 * share)
        beside = np.minimum(turned * (1 - turned) / divided * doubt, np.maximum(share, 1 - share))
        # From (x + ½)/(R + 1), so that 0 and 1 have an error too.
        counted = (hits + 0.5) / (repeats + 1)
        error = np.hypot(np.sqrt(counted * (1 - counted) / repeats), beside)
        return cls(np.array(sizes), share, error, repeats)

    def at(self, sizes: Sequence[int]) -> PowerCurve:
        """The same at some of its sizes."""
        kept = np.isin(self.sizes, sizes)
        return PowerCurve(self.sizes[kept], self.power[kept], self.standard_error[kept], self.repeats)

    @property
    def hardest_first(self) -> Integers:
        """Claims by their power at the largest size, the least first; smaller sizes settle ties."""
        return np.lexsort(self.power[:, :-1])

    @property
    def easiest_first(self) -> Integers:
        """Claims by their mean power over all sizes, the largest first."""
        return np.argsort(-self.power[:, :-1].mean(axis=0), kind="stable")


def streams(size: int, tables: int, seed: int) -> list[np.random.SeedSequence]:
    """The streams of these tables, one after another; every size has its own."""
    found: list[np.random.SeedSequence] = []
    for number, start in enumerate(range(0, tables, _BLOCK), start=1):
        found += np.random.SeedSequence((seed, size, number)).spawn(min(_BLOCK, tables - start))
    return found


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
