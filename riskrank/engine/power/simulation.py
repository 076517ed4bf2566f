"""Tables drawn and tested: how often claims are shown ([RAB] Fig. 6 and 7).

Data sets to test: samples drawn again from a pilot, or from quantiles of named distributions.

Of a suite of tasks the size counts samples a task, all tasks alike; or whole tasks, where tasks are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.engine.types import Booleans, Floats, Integers

# Tables whose random streams have one origin.
_BLOCK = 5

Test = Callable[[int, np.random.SeedSequence], Sequence[bool]]
"""Draws a table of a size, tests it, and says of each claim whether it is shown."""


@dataclass(frozen=True)
class PowerCurve:
    """Share of tables in which claims are shown.

    Attributes
    ----------
    sizes : ndarray of int, shape (s,)
        Samples per model, increasing.
    power : ndarray, shape (s, c)
        Share of the tables in which each claim is shown.
    standard_error : ndarray, shape (s, c)
        Error of `power`.
    together, together_error : ndarray, shape (s,)
        The same for all claims at once.
    repeats : int
        Tables per size, R.
    """

    sizes: Integers
    power: Floats
    standard_error: Floats
    together: Floats
    together_error: Floats
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
        return cls(np.array(sizes), share[:, :-1], error[:, :-1], share[:, -1], error[:, -1], repeats)

    def at(self, sizes: Sequence[int]) -> PowerCurve:
        """The same at some of its sizes."""
        kept = np.isin(self.sizes, sizes)
        names = ("sizes", "power", "standard_error", "together", "together_error")
        return replace(self, **{name: getattr(self, name)[kept] for name in names})

    @property
    def hardest_first(self) -> Integers:
        """Claims by their power at the largest size, the least first; smaller sizes settle ties."""
        return np.lexsort(self.power)

    @property
    def easiest_first(self) -> Integers:
        """Claims by their mean power over all sizes, the largest first."""
        return np.argsort(-self.power.mean(axis=0), kind="stable")


def verdicts_of(test: Test, size: int, tables: int, *, seed: int) -> Booleans:
    """Draw tables of a size and test them.

    Parameters
    ----------
    test : callable
    size, tables : int
    seed : int
        Every size has streams of its own, so that its answers do not depend on which others are asked for.

    Returns
    -------
    ndarray of bool, shape (tables, c)
    """
    return np.array([test(size, stream) for stream in streams(size, tables, seed)], dtype=bool)


def streams(size: int, tables: int, seed: int) -> list[np.random.SeedSequence]:
    """The streams of these tables, one after another."""
    found: list[np.random.SeedSequence] = []
    for number, start in enumerate(range(0, tables, _BLOCK), start=1):
        found += np.random.SeedSequence((seed, size, number)).spawn(min(_BLOCK, tables - start))
    return found


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
        names = [str(task) for task in range(len(weights))]
        return TaskDesign.build(names, rows, weights=weights, random=random)

    def table(self, drawn: Sequence[Integers]) -> ClusteredScores:
        """The table of some units as a test takes it."""
        draw = self.of(drawn)
        # Whole tasks are drawn, the same for all models, and their samples are not told apart.
        random = draw.tasks is not None and draw.tasks.random
        clusters, paired = (None, False) if random else (draw.clusters, self.scores.paired)
        return ClusteredScores.build(draw.samples, clusters, paired=paired, tasks=draw.tasks)
