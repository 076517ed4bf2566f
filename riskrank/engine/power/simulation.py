"""How often a test would succeed at a given sample size, and the size it needs ([RAB] Fig. 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, exp, log
from typing import Any

import numpy as np

from riskrank.engine.power.distributions import Distribution
from riskrank.engine.sampling.processes import run_tasks
from riskrank.errors import InputError, UsageError

BLOCK = 5
"""Repetitions that share a random stream: the unit of work to spread over processes."""


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

    samples: tuple[np.ndarray, ...]
    clusters: tuple[np.ndarray, ...] | None


Sampler = Callable[[np.random.Generator, int], Draw]
"""Draws a data set of the given number of samples per model."""

Decide = Callable[[Draw, np.random.SeedSequence], Sequence[bool]]
"""Runs the test on a data set and says, for each of c claims, whether it came out significant."""

Run = Callable[[Callable[[Any, Any], Any], Any, Sequence[Any]], Iterable[Any]]
"""`run_tasks`, or something else that yields ``function(shared, task)`` for every task, in order."""


@dataclass(frozen=True)
class Simulation:
    """What is repeated: draw a data set, test it.

    Attributes
    ----------
    sampler : callable
        ``sampler(rng, size)`` draws a `Draw`.
    decide : callable
        ``decide(draw, seed_sequence)`` runs the test and returns one bool per claim.
    """

    sampler: Sampler
    decide: Decide


@dataclass(frozen=True)
class PowerCurve:
    """Share of simulated data sets in which claims come out significant.

    Attributes
    ----------
    sizes : ndarray of int, shape (s,)
        Samples per model, increasing.
    power : ndarray, shape (s, c)
        Share of repetitions in which each claim is significant.
    standard_error : ndarray, shape (s, c)
        Monte Carlo error of `power`, from (x + ½)/(R + 1) so that 0 and 1 have one too.
    together, together_error : ndarray, shape (s,)
        The same for all claims at once.
    repeats : int
        Repetitions per size, R.
    """

    sizes: np.ndarray
    power: np.ndarray
    standard_error: np.ndarray
    together: np.ndarray
    together_error: np.ndarray
    repeats: int


@dataclass(frozen=True)
class RequiredSize:
    """The sample size that gives a power.

    Attributes
    ----------
    size : int or None
        Samples per model; None if the power was not reached within the limit.
    target : float
        The power asked for.
    power, standard_error : float
        Power simulated at `size` (at the limit, if None) and its Monte Carlo error.
    confirmed : bool
        Whether that power lies within two of its errors of the target, or above it at the smallest size.
    sizes, powers : ndarray, shape (s,)
        All sizes simulated on the way and their powers.
    """

    size: int | None
    target: float
    power: float
    standard_error: float
    confirmed: bool
    sizes: np.ndarray
    powers: np.ndarray


@dataclass(frozen=True)
class PilotSampler:
    """Draws samples from a pilot with replacement, of any size; built by `pilot_sampler`."""

    values: tuple[np.ndarray, ...]
    starts: tuple[np.ndarray, ...]
    lengths: tuple[np.ndarray, ...]
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


@dataclass(frozen=True)
class DistributionSampler:
    """Draws independent models from named distributions."""

    distributions: tuple[Distribution, ...]

    def __call__(self, rng: np.random.Generator, size: int) -> Draw:
        """Draw `size` scores of each model."""
        return Draw(tuple(distribution.sample(rng, size) for distribution in self.distributions), None)


def pilot_sampler(
    samples: Sequence[np.ndarray], *, clusters: Sequence[np.ndarray] | None = None, paired: bool = True
) -> PilotSampler:
    """Return a sampler that resamples pilot scores.

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
            hint="use --unpaired, or keep the common samples with --missing drop",
        )
    ordered, starts, lengths = [], [], []
    for value, label in zip(values, labels, strict=True):
        _, many = np.unique(label, return_counts=True)
        ordered.append(value[np.argsort(label, kind="stable")])
        starts.append(np.cumsum(many) - many)
        lengths.append(many)
    return PilotSampler(tuple(ordered), tuple(starts), tuple(lengths), paired, clusters is not None)


def estimate_power(
    simulation: Simulation,
    sizes: Sequence[int],
    *,
    repeats: int = 200,
    seed: int = 0,
    run: Run = run_tasks,
) -> PowerCurve:
    """Simulate data sets of several sizes and count how often each claim is significant.

    Parameters
    ----------
    simulation : Simulation
    sizes : sequence of int
        Samples per model.
    repeats : int
        Data sets per size.
    seed : int
        Every size has streams of its own, so a size's power does not depend on which others are asked for.
    run : callable
        Runs the tasks, in several processes if it likes; results do not depend on it.

    Returns
    -------
    PowerCurve

    Raises
    ------
    UsageError
        If a size or the number of repetitions is below 1.
    """
    wanted = sorted({int(size) for size in sizes})
    if not wanted or wanted[0] < 1 or repeats < 1:
        raise UsageError(
            "sample sizes and repetitions must be at least 1",
            found=f"sizes {wanted}, {repeats} repetitions",
            hint="give sizes such as 100,500,1000",
        )
    tasks = [
        _Block(size, stream, min(BLOCK, repeats - at * BLOCK))
        for size in wanted
        for at, stream in enumerate(np.random.SeedSequence([seed, size]).spawn(ceil(repeats / BLOCK)))
    ]
    hits = np.concatenate(list(run(_run_block, simulation, tasks))).reshape(len(wanted), repeats, -1)
    together = hits.all(axis=2).sum(axis=1)
    return PowerCurve(
        sizes=np.array(wanted),
        power=hits.mean(axis=1),
        standard_error=_share_error(hits.sum(axis=1), repeats),
        together=together / repeats,
        together_error=_share_error(together, repeats),
        repeats=repeats,
    )


def size_for_power(
    simulation: Simulation,
    *,
    claim: int | None = None,
    target: float = 0.8,
    start: int = 50,
    smallest: int = 10,
    limit: int = 100_000,
    known: PowerCurve | None = None,
    repeats: int = 200,
    seed: int = 0,
    rounds: int = 8,
    run: Run = run_tasks,
) -> RequiredSize:
    """Find the sample size at which a claim reaches a power.

    Sizes are doubled or halved until the target is bracketed, or one's power agrees with the target within
    a Monte Carlo error and is taken. Within a bracket the size where a non-decreasing curve through all
    simulated powers crosses the target is simulated itself, and taken if its power agrees within two errors.
    Otherwise it joins the curve and the next crossing is tried.

    Parameters
    ----------
    simulation, repeats, seed, run
        As in `estimate_power`.
    claim : int, optional
        Which claim; all of them together by default.
    target : float
        The power wanted, in (0, 1).
    start : int
        First size tried, unless some are known.
    smallest, limit : int
        Smallest and largest size tried.
    known : PowerCurve, optional
        Powers already simulated, of the same simulation, repeats and seed.
    rounds : int
        Sizes tried within the bracket at most.

    Returns
    -------
    RequiredSize

    Raises
    ------
    UsageError
        If the target lies outside (0, 1) or the sizes are out of order.
    """
    if not 0 < target < 1 or not 1 <= smallest <= start <= limit:
        raise UsageError(
            "the power must lie inside (0, 1) and the sizes in order",
            found=f"power {target:g}, sizes from {smallest} over {start} to {limit}",
            hint="a power of 0.8 is usual",
        )
    met: dict[int, tuple[float, float]] = {}

    def note(curve):
        share = curve.together if claim is None else curve.power[:, claim]
        error = curve.together_error if claim is None else curve.standard_error[:, claim]
        met.update(zip(curve.sizes.tolist(), zip(share.tolist(), error.tolist(), strict=True), strict=True))

    def try_size(size):
        note(estimate_power(simulation, [size], repeats=repeats, seed=seed, run=run))

    def result(size, at, confirmed):
        sizes = np.array(sorted(met))
        return RequiredSize(size, target, *met[at], confirmed, sizes, np.array([met[s][0] for s in sizes]))

    def nearest():
        return min(sorted(met), key=lambda size: abs(met[size][0] - target))

    def agrees(size, errors):
        return abs(met[size][0] - target) <= errors * met[size][1]

    def curve():
        return _non_decreasing([met[size][0] for size in sorted(met)])

    if known is None:
        try_size(start)
    else:
        note(known)
    while curve()[-1] < target and not agrees(nearest(), 1):
        if max(met) >= limit:
            return result(None, max(met), False)
        try_size(min(2 * max(met), limit))
    while curve()[0] >= target and not agrees(nearest(), 1):
        if min(met) <= smallest:
            return result(min(met), min(met), True)
        try_size(max(min(met) // 2, smallest))
    if agrees(nearest(), 1):
        return result(nearest(), nearest(), True)
    for _ in range(rounds):
        size = _crossing(met, target)
        if size in met:
            break
        try_size(size)
        if agrees(size, 2):
            return result(size, size, True)
    size = nearest()
    return result(size, size, agrees(size, 2))


def _crossing(met, target):
    """Return the size where a non-decreasing curve through the simulated powers reaches the target."""
    sizes = sorted(met)
    curve = _non_decreasing([met[size][0] for size in sizes])
    upper = next((at for at, share in enumerate(curve) if share >= target), len(sizes) - 1)
    if upper == 0:
        return sizes[0]
    low, high = curve[upper - 1], curve[upper]
    weight = min(max((target - low) / (high - low), 0.0), 1.0) if high > low else 1.0
    return round(exp(log(sizes[upper - 1]) + weight * (log(sizes[upper]) - log(sizes[upper - 1]))))


def _non_decreasing(values):
    """Pool adjacent violators: the nearest non-decreasing sequence in least squares."""
    blocks = []
    for value in values:
        blocks.append([value, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            value, many = blocks.pop()
            blocks[-1] = [
                (blocks[-1][0] * blocks[-1][1] + value * many) / (blocks[-1][1] + many),
                blocks[-1][1] + many,
            ]
    return [value for value, many in blocks for _ in range(many)]


@dataclass(frozen=True)
class _Block:
    """Some repetitions at one size, with a random stream of their own."""

    size: int
    stream: np.random.SeedSequence
    count: int


def _run_block(simulation, block):
    hits = []
    for stream in block.stream.spawn(block.count):
        data, test = stream.spawn(2)
        draw = simulation.sampler(np.random.default_rng(data), block.size)
        hits.append(np.atleast_1d(np.asarray(simulation.decide(draw, test), dtype=bool)))
    return np.array(hits)


def _share_error(hits, repeats):
    share = (hits + 0.5) / (repeats + 1)
    return np.sqrt(share * (1 - share) / repeats)
