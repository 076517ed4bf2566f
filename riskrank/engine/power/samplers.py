"""Data sets to test: samples drawn again from a pilot, or from named distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.power.distributions import Distribution
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
    """

    samples: tuple[Floats, ...]
    clusters: tuple[Integers, ...] | None


Sampler = Callable[[np.random.Generator, int], Draw]
"""Draws a data set of the given number of samples per model."""


@dataclass(frozen=True)
class PilotSampler:
    """Draws samples from a pilot with replacement, of any size; built by `pilot_sampler`."""

    values: tuple[Floats, ...]
    starts: tuple[Integers, ...]
    lengths: tuple[Integers, ...]
    paired: bool
    clustered: bool

    def __call__(self, rng: np.random.Generator, size: int) -> Draw:
        """Draw `size` samples per model: the same ones for all models if paired."""
        shared = rng.integers(0, len(self.lengths[0]), size) if self.paired else None
        samples, clusters = [], []
        for value, start, length in zip(self.values, self.starts, self.lengths, strict=True):
            chosen = rng.integers(0, len(length), size) if shared is None else shared
            many = length[chosen]
            # Rows of the chosen clusters, one run after another.
            within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            samples.append(value[np.repeat(start[chosen], many) + within])
            # A sample drawn twice stands for two samples.
            clusters.append(np.repeat(np.arange(size), many))
        return Draw(tuple(samples), tuple(clusters) if self.clustered else None)

    def resampled(self, rng: np.random.Generator) -> PilotSampler:
        """The pilot as it might have been: as many samples, the same ones for all models if paired."""
        shared = rng.integers(0, len(self.lengths[0]), len(self.lengths[0])) if self.paired else None
        starts, lengths = [], []
        for start, length in zip(self.starts, self.lengths, strict=True):
            chosen = rng.integers(0, len(length), len(length)) if shared is None else shared
            starts.append(start[chosen])
            lengths.append(length[chosen])
        return replace(self, starts=tuple(starts), lengths=tuple(lengths))


@dataclass(frozen=True)
class DistributionSampler:
    """Draws independent models from named distributions."""

    distributions: tuple[Distribution, ...]

    def __call__(self, rng: np.random.Generator, size: int) -> Draw:
        """Draw `size` scores of each model."""
        return Draw(tuple(distribution.sample(rng, size) for distribution in self.distributions), None)


def pilot_sampler(
    samples: Sequence[Floats], *, clusters: Sequence[Integers] | None = None, paired: bool = True
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
    return PilotSampler(tuple(ordered), tuple(starts), tuple(lengths), paired, clusters is not None)
