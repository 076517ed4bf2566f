"""Time the Pareto front beside moocore and paretoset, and COPA's sweep, bootstrap and baselines.

The two packages come with the dependency group `bench`; without them their columns say so.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from riskrank.engine.aggregation.kendall import kendall_tau
from riskrank.engine.copa.pareto import pareto_front
from riskrank.engine.copa.population import population
from riskrank.engine.copa.scalarizations import analytic_hierarchy_process
from riskrank.engine.copa.stability import bootstrap_choice, leave_one_out
from riskrank.engine.copa.sweep import sweep_p, sweep_weight

# Rows, objectives, and the seconds we promise.
FRONTS = [(2_148, 7, 0.1), (100_000, 7, 8.0), (1_000_000, 3, 1.5)]


def with_moocore() -> Callable[[np.ndarray], np.ndarray] | None:
    try:
        import moocore
    except ImportError:
        return None
    return lambda table: moocore.is_nondominated(table, maximise=True, keep_weakly=True)


def with_paretoset() -> Callable[[np.ndarray], np.ndarray] | None:
    try:
        from paretoset import paretoset
    except ImportError:
        return None
    # Its first call compiles; that is not what we compare.
    paretoset(np.eye(3), sense=["max"] * 3, distinct=False)
    return lambda table: paretoset(table, sense=["max"] * table.shape[1], distinct=False)


def fastest(call: Callable[[], object], runs: int) -> tuple[float, object]:
    seconds, answer = np.inf, None
    for _ in range(runs):
        start = time.perf_counter()
        answer = call()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, answer


def bench_fronts(runs: int) -> None:
    others = {"moocore": with_moocore(), "paretoset": with_paretoset()}
    for name, front in others.items():
        if front is None:
            print(f"{name} is not installed: pip install --group bench")
    print("Pareto front, uniform random; ratio = their time / ours")
    print(f"{'models':>10} {'objectives':>10} {'front':>7} {'seconds':>9} {'promised':>9}", end="")
    print("".join(f" {name:>10} {'ratio':>7}" for name in others))
    for models, objectives, promised in FRONTS:
        table = np.random.default_rng(0).random((models, objectives))
        seconds, mask = fastest(lambda table=table: pareto_front(table), runs)
        print(f"{models:>10} {objectives:>10} {mask.sum():>7} {seconds:>9.4f} {promised:>9.1f}", end="")
        for name, front in others.items():
            if front is None:
                print(f" {'absent':>10} {'':>7}", end="")
                continue
            theirs, their_mask = fastest(lambda front=front, table=table: front(table), runs)
            if not np.array_equal(mask, their_mask):
                raise SystemExit(f"{name} finds another front")
            print(f" {theirs:>10.4f} {theirs / seconds:>7.2f}", end="")
        print()


def bench_copa(runs: int) -> None:
    # A leaderboard's shape: 2,148 models, six correlated scores and a cost that grows with them.
    rng = np.random.default_rng(1)
    ability = rng.normal(size=(2148, 1))
    scores = ability + 0.5 * rng.normal(size=(2148, 6))
    cost = np.exp(ability + 0.7 * rng.normal(size=(2148, 1)))
    correlated = np.hstack([-cost, scores])
    uniform = rng.random((2148, 7))
    positive = np.exp(correlated)
    print("\nCOPA, 2,148 models x 7 objectives")
    print(f"{'what':<52} {'seconds':>9} {'promised':>9}")
    for kind, table in (("correlated", correlated), ("uniform", uniform)):
        seconds, models = fastest(lambda table=table: population(table), runs)
        print(f"{f'ranks and front, {kind}, front of {models.front.sum()}':<52} {seconds:>9.4f}")
        for p in (1, 2, 8, np.inf):
            seconds, _ = fastest(lambda m=models, p=p: sweep_weight(m, 0, p=p, steps=10_000), runs)
            print(f"{f'sweep over 10,000 weights, p = {p}, {kind}':<52} {seconds:>9.4f} {0.5:>9.1f}")
        for label, call in {
            "sweep over 10,000 p": lambda m=models: sweep_p(m),
            "bootstrap, 1,000 populations, p = 2": lambda m=models: bootstrap_choice(m, p=2),
            "leave-one-out, p = 2": lambda m=models: leave_one_out(m, p=2),
        }.items():
            print(f"{f'{label}, {kind}':<52} {fastest(call, runs)[0]:>9.4f}")
    upward = np.ones(7, dtype=bool)
    rankings = rng.random((12, 2148))
    for label, call in {
        "AHP": lambda: analytic_hierarchy_process(positive, upward),
        "Kendall tau of 12 rankings": lambda: kendall_tau(rankings),
    }.items():
        print(f"{label:<52} {fastest(call, runs)[0]:>9.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="the fastest of so many runs counts")
    runs = parser.parse_args().runs
    bench_fronts(runs)
    bench_copa(runs)


if __name__ == "__main__":
    main()
