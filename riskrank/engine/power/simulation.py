"""How often a test would succeed at a given sample size ([RAB] Fig. 6 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from riskrank.engine.power.samplers import Draw, Sampler
from riskrank.engine.sampling.processes import run_tasks
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import UsageError

BLOCK = 5
"""Repetitions that share a random stream: the unit of work to spread over processes."""


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

    def curve(self, sizes: Sequence[int], *, repeats: int, seed: int, run: Run) -> PowerCurve:
        """Power at some sizes; see :func:`estimate_power`."""
        return estimate_power(self, sizes, repeats=repeats, seed=seed, run=run)


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

    sizes: Integers
    power: Floats
    standard_error: Floats
    together: Floats
    together_error: Floats
    repeats: int

    @property
    def hardest_first(self) -> Integers:
        """Claims by their power at the largest size, the least first; smaller sizes settle ties."""
        return np.lexsort(self.power)

    @property
    def easiest_first(self) -> Integers:
        """Claims by their mean power over all sizes, the largest first."""
        return np.argsort(-self.power.mean(axis=0), kind="stable")

    @property
    def largest_error(self) -> float:
        """Largest Monte Carlo error of a power."""
        return float(self.standard_error.max())

    def least(self, claims: Integers) -> Floats:
        """Least power of some claims at each size, shape (s,)."""
        return self.power[:, claims].min(axis=1)


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
        standard_error=share_error(hits.sum(axis=1), repeats),
        together=together / repeats,
        together_error=share_error(together, repeats),
        repeats=repeats,
    )


@dataclass(frozen=True)
class _Block:
    """Some repetitions at one size, with a random stream of their own."""

    size: int
    stream: np.random.SeedSequence
    count: int


def _run_block(simulation: Simulation, block: _Block) -> Booleans:
    hits = []
    for stream in block.stream.spawn(block.count):
        data, test = stream.spawn(2)
        draw = simulation.sampler(np.random.default_rng(data), block.size)
        hits.append(np.atleast_1d(np.asarray(simulation.decide(draw, test), dtype=bool)))
    return np.array(hits)


def share_error(hits: Integers | Floats, repeats: Integers | Floats | int) -> Floats:
    """Monte Carlo error of a share, from (x + ½)/(R + 1) so that 0 and 1 have one too."""
    share = (hits + 0.5) / (repeats + 1)
    return np.sqrt(share * (1 - share) / repeats)
