"""Time exact rank aggregation: noisy copies of one order, and rankings without anything in common."""

import argparse
from time import perf_counter

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import METHODS, aggregate_rankings


def noisy_copies(k, lists, noise, seed):
    rng = np.random.default_rng(seed)
    scores = np.arange(k) + noise * rng.standard_normal((lists, k))
    return np.argsort(np.argsort(scores, axis=1), axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[12, 18, 25, 30, 40])
    parser.add_argument("--lists", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    print(f"{given.lists} lists, slowest of {given.repeats} problems")
    print(f"{'items':>5} {'noise':>6} {'method':>9} {'seconds':>8} {'× borda':>8}  {'gap':>7}  optima")
    for k in given.items:
        for noise in (k / 8, k / 2, 100 * k):
            problems = [noisy_copies(k, given.lists, noise, seed) for seed in range(given.repeats)]
            seconds, last = {}, {}
            for method in reversed(METHODS):
                taken = []
                for rankings in problems:
                    start = perf_counter()
                    last[method] = aggregate_rankings(rankings, method=method)
                    taken.append(perf_counter() - start)
                seconds[method] = max(taken)
            for method, slowest in seconds.items():
                optima = last[method].optima_count
                print(
                    f"{k:5d} {noise:6g} {method:>9} {slowest:8.4f} {slowest / seconds['borda']:8.1f}"
                    f"  {last[method].gap:7.4f}  {'not counted' if optima is None else optima}"
                )


if __name__ == "__main__":
    main()
