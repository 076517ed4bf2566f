"""How much of a ranking remains with fewer samples ([RAB] Fig. 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.aggregation.agreement import kendall_tau
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.method_rankings import MethodStudy, study_methods
from riskrank.engine.dominance.methods import Method
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.processes import run_tasks
from riskrank.engine.types import Floats, Integers
from riskrank.errors import UsageError


@dataclass(frozen=True)
class Stability:
    """Agreement of rankings on random subsamples with those on all samples.

    Attributes
    ----------
    methods : tuple of m str
    sizes : tuple of s int
        Samples a subsample, increasing.
    tau : ndarray, shape (m, s, r)
        Kendall's tau of each repetition to the full-sample ranking, ties in rank settled by the score.
    """

    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    tau: Floats

    @property
    def repeats(self) -> int:
        """Subsamples a size."""
        return self.tau.shape[2]

    @property
    def mean(self) -> Floats:
        """Mean tau over the subsamples, shape (m, s)."""
        return np.array([[found.mean() for found in by_size] for by_size in self.tau])

    @property
    def sd(self) -> Floats | None:
        """Standard deviation of tau over the subsamples, shape (m, s); None of a single one."""
        if self.repeats < 2:
            return None
        return np.array([[found.std(ddof=1) for found in by_size] for by_size in self.tau])

    @property
    def steadiest_first(self) -> Integers:
        """Methods by their mean tau over all sizes, the steadiest first, shape (m,)."""
        return np.argsort(-self.mean.mean(axis=1), kind="stable")


def stability(
    tables: ScoreTables,
    methods: Sequence[Method],
    inference: Inference,
    full: MethodStudy,
    *,
    names: Sequence[str],
    sizes: Sequence[int],
    repeats: int = 5,
    aggregator: str = "kemeny",
    by_wins: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Stability:
    """Repeat every method, portfolio and tests included, on random parts of the samples.

    Parameters
    ----------
    tables, methods, inference, names, aggregator, by_wins
        As in :func:`riskrank.engine.dominance.method_rankings.study_methods`.
    full : MethodStudy
        The same methods on all samples.
    sizes : sequence of int
        Samples a subsample, drawn without replacement.
    repeats : int
        Subsamples a size.
    progress : callable, optional
        Called with the number of finished repetitions and their total.

    Returns
    -------
    Stability
        Identical for any number of jobs.

    Raises
    ------
    UsageError
        If a subsample is larger than the data or too small for a test.
    """
    wanted = tuple(sorted(set(sizes)))
    fewest = max(10 if inference.test else 2, tables.fewest_samples)
    for size in wanted:
        if not fewest <= size <= tables.samples:
            raise UsageError(
                f"a subsample of {size} samples cannot be drawn",
                found=f"{tables.samples} samples, and methods that need at least {fewest}",
                hint=f"choose sizes from {fewest} to {tables.samples}",
            )
    if repeats < 1:
        raise UsageError("a subsample must be drawn at least once", found=str(repeats), hint="5 is usual")
    quiet = replace(inference, jobs=1)
    shared = (tables, tuple(dict.fromkeys(methods)), quiet, tuple(names), aggregator, by_wins)
    tasks = [
        (size, stream)
        for size in wanted
        for stream in np.random.SeedSequence([inference.seed, size]).spawn(repeats)
    ]
    reference = [ranking.places for ranking in full.rankings.values()]
    tau = []
    for found in run_tasks(_orders_of_subsample, shared, tasks, jobs=inference.jobs):
        tau.append([kendall_tau(np.stack(pair))[0, 1] for pair in zip(reference, found, strict=True)])
        if progress is not None:
            progress(len(tau), len(tasks))
    shape = (len(wanted), repeats, len(reference))
    return Stability(tuple(full.rankings), wanted, np.array(tau).reshape(shape).transpose(2, 0, 1))


def _orders_of_subsample(
    shared: tuple[ScoreTables, tuple[Method, ...], Inference, tuple[str, ...], str, bool],
    task: tuple[int, np.random.SeedSequence],
) -> list[Integers]:
    tables, methods, inference, names, aggregator, by_wins = shared
    size, stream = task
    chosen, entropy = stream.spawn(2)
    part = tables.subsample(size, np.random.default_rng(chosen))
    seeded = replace(inference, seed=int(entropy.generate_state(1)[0]))
    study = study_methods(part, methods, seeded, names=names, aggregator=aggregator, by_wins=by_wins)
    return [ranking.places for ranking in study.rankings.values()]
