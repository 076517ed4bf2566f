"""Benchmark engine calls against promised times and alternative implementations: ``make bench``.

Each row of the output describes one call: the fastest of several runs in seconds, and the relative time of
an alternative implementation, if one is installed (dependency group `bench`). Alternatives must return the
same result.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl
from measure import LONG, ROOT

from riskrank.engine.aggregation.rank_aggregation import aggregate_rankings
from riskrank.engine.copa.comparison import Scalarizations
from riskrank.engine.copa.population import build_population, pareto_front
from riskrank.engine.copa.stability import bootstrap_choice, leave_one_out
from riskrank.engine.copa.sweep import sweep_p, sweep_weight
from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.dominance.influence import violation_influence
from riskrank.engine.gsd.preference_system import Threshold, quality_table
from riskrank.engine.gsd.relabelling import Relabelling, dominance_relation, run_relabelling_tests
from riskrank.engine.gsd.relation import Utilities
from riskrank.engine.portfolio.mean_risk import means_and_risks
from riskrank.engine.portfolio.risks import risk_columns
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.rank.options import AGGREGATORS

Way = Callable[[], Any]


@dataclass(frozen=True)
class Call:
    """Engine call with its promised seconds and its alternatives; None if an alternative is not installed."""

    name: str
    run: Way
    promised: float | None = None
    alternatives: dict[str, Way | None] = field(default_factory=dict)
    same: Callable[[Any, Any], bool] = lambda ours, theirs: True


def installed(package: str, way: Way) -> Way | None:
    return way if find_spec(package) else None


def fastest(way: Way, runs: int) -> tuple[float, Any]:
    times: list[float] = []
    answer = None
    while len(times) < runs and sum(times) < LONG:
        start = time.perf_counter()
        answer = way()
        times.append(time.perf_counter() - start)
    return min(times), answer


def dominance() -> Iterator[Call]:
    """Compare the bootstrap of one pair with deepsig, and time asymptotic errors for twelve models."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.1, 1, size=5000), rng.normal(0, 1, size=5000)
    scores = ClusteredScores.build([a, b], paired=False)
    claims = [Claim(order, "absolute", 0.25) for order in (1, 2)]

    def deepsig(resamples: int) -> float:
        from deepsig import aso

        return aso(a, b, num_bootstrap_iterations=resamples, num_jobs=1, show_progress=False, seed=0)

    # Deepsig takes one to two seconds per resample, or half an hour for a thousand.
    for resamples, alternatives in (
        (1000, {}),
        (10, {"deepsig": installed("deepsig", partial(deepsig, 10))}),
    ):
        run = partial(study_dominance, scores, claims, Inference(resamples=resamples), pairs=[(0, 1)])
        yield Call(f"a pair, n = 5,000, B = {resamples:,}", run, None, alternatives)
    equal = [rng.normal(i / 10, 1 + i / 10, 5000) for i in range(12)]
    unequal = [sample[: 5000 - 7 * i] for i, sample in enumerate(equal)]
    for design, samples, paired in (("paired", equal, True), ("unpaired, unequal", unequal, False)):
        for order in (1, 2):
            run = partial(violation_influence, ClusteredScores.build(samples, paired=paired), order=order)
            yield Call(f"influences, 12 x 5,000, {design}, order {order}", run)


def mean_risk() -> Iterator[Call]:
    """Compute all risks of the resamples, by repeating sorted scores or by sorting each resample."""
    scores = np.random.default_rng(0).normal(size=(12, 5000))
    columns = risk_columns(levels=[0.01, 0.05, 0.1, 0.25, 0.5])
    order = np.argsort(scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1).ravel()

    def resampled(sort: bool) -> None:
        rng = np.random.default_rng(1)
        for _ in range(200):
            rows = rng.integers(0, 5000, 5000)
            if sort:
                resample = np.sort(scores[:, rows], axis=1)
            else:
                counts = np.bincount(rows, minlength=5000)
                resample = np.repeat(ordered, counts[order].ravel()).reshape(scores.shape)
            means_and_risks(resample, columns)

    yield Call(
        "200 resamples of all risks, 12 x 5,000",
        partial(resampled, False),
        None,
        {"sorting": partial(resampled, True)},
    )


def aggregation() -> Iterator[Call]:
    """Aggregate noisy copies of one order, and unrelated rankings."""
    for items, noise in ((12, 2), (25, 12), (40, 20), (40, 4000)):
        rng = np.random.default_rng(0)
        scores = np.arange(items) + noise * rng.standard_normal((8, items))
        rankings = np.argsort(np.argsort(scores, axis=1), axis=1)
        for method in AGGREGATORS:
            yield Call(
                f"{method} of 8 x {items}, noise {noise}",
                partial(aggregate_rankings, rankings, method=method),
            )


def copa() -> Iterator[Call]:
    """Compare Pareto fronts with moocore and paretoset, and time sweeps and resamples of a leaderboard."""

    def moocore(table: np.ndarray) -> np.ndarray:
        from moocore import is_nondominated

        return is_nondominated(table, maximise=True, keep_weakly=True)

    def with_paretoset(table: np.ndarray) -> np.ndarray:
        from paretoset import paretoset

        return paretoset(table, sense=["max"] * table.shape[1], distinct=False)

    for models, objectives, promised in ((2_148, 7, 0.1), (100_000, 7, 8.0), (1_000_000, 3, 1.5)):
        table = np.random.default_rng(0).random((models, objectives))
        alternatives = {
            "moocore": installed("moocore", partial(moocore, table)),
            "paretoset": installed("paretoset", partial(with_paretoset, table)),
        }
        run = partial(pareto_front, table)
        yield Call(f"Pareto front, {models:,} x {objectives}", run, promised, alternatives, np.array_equal)
    rng = np.random.default_rng(1)
    ability = rng.normal(size=(2148, 1))
    cost = np.exp(ability + 0.7 * rng.normal(size=(2148, 1)))
    correlated = np.hstack([-cost, ability + 0.5 * rng.normal(size=(2148, 6))])
    for kind, table in (("correlated", correlated), ("uniform", rng.random((2148, 7)))):
        yield Call(f"ranks and front, {kind}", partial(build_population, table))
        population = build_population(table)
        for p in (1, 2, np.inf):
            run = partial(sweep_weight, population, 0, p=p, steps=10_000)
            yield Call(f"sweep over 10,000 weights, p = {p}, {kind}", run, 0.5)
        yield Call(f"sweep over p, {kind}", partial(sweep_p, population))
        yield Call(f"1,000 populations, {kind}", partial(bootstrap_choice, population, p=2))
        yield Call(f"leave-one-out, {kind}", partial(leave_one_out, population, p=2))
    upward, weights = np.ones(7, dtype=bool), np.full(7, 1 / 7)
    run = Scalarizations(np.exp(correlated), upward, weights, population.metrics).analytic_hierarchy_process
    yield Call("analytic hierarchy process", run)


def gsd() -> Iterator[Call]:
    """Time generalized stochastic dominance on the UCI study and on mixed scales."""
    small = Threshold(1e-5)

    def study(table: Any, resamples: int) -> None:
        relation, _ = dominance_relation(Utilities(table, small), jobs=2)
        dominant = relation.dominates & ~np.eye(table.models, dtype=bool)
        pairs = [tuple(pair) for pair in np.argwhere(dominant).tolist()]
        run_relabelling_tests(Utilities(table, small), pairs, Relabelling(resamples=resamples), jobs=2)

    uci = uci_table()
    yield Call("gsd, UCI, 8 x 16, B = 1,000", partial(study, uci, 1000), 20)
    yield Call("gsd, UCI, 8 x 16, B = 10,000", partial(study, uci, 10_000), 60)
    seven = mixed(7, 80, 0.25, seed=0)
    yield Call("gsd, mixed, 7 x 80, B = 1,000", partial(study, seven, 1000), 240)
    for shift in (0.4, 0.8, 1.2):
        table = mixed(2, 80, shift, seed=1)
        yield Call(f"gsd, optima of a pair, shift {shift}", partial(dominance_relation, Utilities(table)), 6)
        run = partial(run_relabelling_tests, Utilities(table, small), [(0, 1)])
        yield Call(f"gsd, test of a pair, shift {shift}", run, 20)


def uci_table() -> Any:
    frame = pl.read_csv(ROOT / "sample_data/uci.csv").sort("model", "sample")
    columns = [frame.filter(metric=metric)["score"] for metric in ("auc", "acc", "brier")]
    scores = np.stack(columns, axis=-1).reshape(frame["model"].n_unique(), -1, 3) * [1, 1, -1]
    return quality_table(scores, ordinal=[False] * 3, bounds=[[0, 1], [0, 1], [-1, 0]])


MIXED = np.array([False, True, True])


def mixed(models: int, samples: int, shift: float, *, seed: int) -> Any:
    """Return one cardinal criterion with six decimals and two ordinal ones with eleven quantile levels."""
    rng = np.random.default_rng(seed)
    common = 0.8 * rng.normal(size=(1, samples, 1))
    individual = 0.8 * rng.normal(size=(models, samples, 3)) + 0.4 * rng.normal(size=(models, samples, 1))
    latent = common + individual - shift * np.arange(models)[:, None, None]
    scores = np.empty_like(latent)
    scores[..., 0] = (1 / (1 + np.exp(-latent[..., 0]))).round(6)
    for j in (1, 2):
        edges = np.quantile(latent[..., j], np.arange(11) / 10)
        scores[..., j] = np.searchsorted(edges, latent[..., j], side="right")
    return quality_table(scores, ordinal=MIXED.tolist())


GROUPS = (dominance, mean_risk, aggregation, copa, gsd)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="the fastest of so many runs counts")
    parser.add_argument("--only", choices=[group.__name__ for group in GROUPS], help="one group of calls")
    options = parser.parse_args()
    print(f"{'call':52}{'seconds':>9}{'promised':>10}   other ways, times as long")
    for group in GROUPS:
        for call in group() if options.only in (None, group.__name__) else ():
            seconds, answer = fastest(call.run, options.runs)
            comparisons = []
            for name, way in call.alternatives.items():
                if way is None:
                    comparisons.append(f"{name} absent")
                    continue
                theirs, other = fastest(way, 1)
                if not call.same(answer, other):
                    raise SystemExit(f"{name} finds another answer: {call.name}")
                comparisons.append(f"{name} {theirs / seconds:.1f}")
            print(
                f"{call.name:52}{seconds:9.3f}{call.promised or '-':>10}   {', '.join(comparisons)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
