"""Data sets to test: samples drawn again from a pilot, or from quantiles of named distributions.

Of a suite of tasks the size counts samples a task, all tasks alike; or whole tasks, where tasks are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.sampling.strata import Strata, TaskDesign
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, option


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
    """Draws samples from a pilot with replacement, of any size; built by `pilot_sampler`.

    Attributes
    ----------
    values : tuple of k ndarrays, shapes (n_i,)
        Scores, those of a unit of resampling together.
    starts, lengths : tuple of k ndarrays of int, shapes (C_i,)
        Where the scores of each unit begin, and how many there are.
    paired : bool
        Whether all models have the same units drawn.
    clustered : bool
        Whether units hold several scores.
    weights : ndarray, shape (T,), or None
        Of the tasks of a suite; None of other pilots.
    bounds : tuple of k ndarrays of int, shapes (T + 1,), or None
        Where the units of each task begin; None where the tasks themselves are the units.
    """

    values: tuple[Floats, ...]
    starts: tuple[Integers, ...]
    lengths: tuple[Integers, ...]
    paired: bool
    clustered: bool
    weights: Floats | None = None
    bounds: tuple[Integers, ...] | None = None

    def __call__(self, rng: np.random.Generator, size: int) -> Draw:
        """Draw `size` samples per model, of these tasks per task: the same for all models if paired."""
        return self.of(self.chosen(rng, size))

    def chosen(self, rng: np.random.Generator, size: int) -> list[Integers]:
        """Units that are drawn of each model, or of all together if paired.

        Of these tasks one of each after the other, so that any run holds all.
        """
        found = []
        for model in range(1 if self.paired else len(self.values)):
            low, high = self._ends(model)
            found.append(rng.integers(low, high, (size, len(low))).ravel())
        return found

    def _ends(self, model: int) -> tuple[Integers, Integers]:
        """Where the units of each task begin and end; of all, where no task has its own."""
        bounds = np.array([0, len(self.lengths[model])]) if self.bounds is None else self.bounds[model]
        return bounds[:-1], bounds[1:]

    def of(self, drawn: Sequence[Integers]) -> Draw:
        """The data set of some units: of each model, or the same ones for all if paired."""
        samples, clusters = [], []
        for model, (value, start, length) in enumerate(
            zip(self.values, self.starts, self.lengths, strict=True)
        ):
            chosen = drawn[model % len(drawn)]
            many = length[chosen]
            # Rows of the chosen clusters, one run after another.
            within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            samples.append(value[np.repeat(start[chosen], many) + within])
            # A sample drawn twice stands for two samples.
            clusters.append(np.repeat(np.arange(len(chosen)), many))
        tasks = None if self.weights is None else self._tasks(clusters, drawn[0])
        return Draw(tuple(samples), tuple(clusters) if self.clustered else None, tasks)

    @property
    def width(self) -> int:
        """Units drawn for each one of the size."""
        return 1 if self.bounds is None else len(self.bounds[0]) - 1

    @property
    def units(self) -> Floats:
        """Units of the model with the fewest in each task, shape (T,); in all, where no task has its own."""
        if self.bounds is None:
            return np.array([min(len(length) for length in self.lengths)], dtype=np.float64)
        return np.min([np.diff(bounds) for bounds in self.bounds], axis=0).astype(np.float64)

    def _tasks(self, clusters: Sequence[Integers], drawn: Integers) -> TaskDesign:
        assert self.weights is not None
        random = self.bounds is None
        weights = self.weights[drawn] if random else self.weights
        rows = [cluster if random else cluster % self.width for cluster in clusters]
        return TaskDesign.build(
            [str(task) for task in range(len(weights))], rows, weights=weights, random=random
        )


def pilot_sampler(
    samples: Sequence[Floats],
    *,
    clusters: Sequence[Integers] | None = None,
    paired: bool = True,
    strata: Strata | None = None,
) -> PilotSampler:
    """A sampler that resamples pilot scores.

    Parameters
    ----------
    samples : sequence of k ndarrays, shapes (n_i,)
        Pilot scores.
    clusters : sequence of k ndarrays of int, shapes (n_i,), optional
        Sample of each score; every row on its own by default. Sizes then count samples, not rows.
    paired : bool
        Whether the models share their samples.
    strata : Strata, optional
        The tasks of the clusters, where the pilot is a suite.

    Returns
    -------
    PilotSampler

    Raises
    ------
    InputError
        If samples and clusters do not fit each other.
    """
    values = [np.asarray(sample, dtype=float) for sample in samples]
    rows = [np.arange(value.size) for value in values]
    labels = rows if clusters is None else [np.asarray(cluster) for cluster in clusters]
    fitting = [value.shape for value in values] == [label.shape for label in labels]
    if not values or not fitting or min(value.size for value in values) == 0:
        raise InputError(
            "a pilot needs scores for every model, each with its sample",
            found=f"{[v.size for v in values]} scores, {[c.size for c in labels]} sample numbers",
            hint="give one array of scores per model, and clusters of the same lengths or none",
        )
    names = [np.unique(label) for label in labels]
    if paired and any(not np.array_equal(name, names[0]) for name in names):
        raise InputError(
            "paired models must be scored on the same samples",
            found=f"models with {min(map(len, names))} to {max(map(len, names))} samples",
            hint=f"use {option('unpaired', True)}, or keep the common samples: {option('missing', 'drop')}",
        )
    ordered, starts, lengths = [], [], []
    for value, label in zip(values, labels, strict=True):
        _, many = np.unique(label, return_counts=True)
        ordered.append(value[np.argsort(label, kind="stable")])
        starts.append(np.cumsum(many) - many)
        lengths.append(many)
    found = PilotSampler(tuple(ordered), tuple(starts), tuple(lengths), paired, clusters is not None)
    if strata is None:
        return found
    if strata.random:  # all models have the same tasks
        return replace(found, paired=True, clustered=True, weights=strata.weights)
    bounds = tuple(strata.bounds(model) for model in range(len(values)))
    return replace(found, weights=strata.weights, bounds=bounds)
