"""Time a bootstrap of all mean–risk models: sorting each resample against repeating sorted scores."""

import argparse
from time import perf_counter

import numpy as np

from riskrank.engine.portfolio.mean_risk import mean_risk_of_sorted
from riskrank.engine.portfolio.risks import risk_columns


def by_sorting(scores, columns, resamples, rng):
    n = scores.shape[1]
    for _ in range(resamples):
        mean_risk_of_sorted(np.sort(scores[:, rng.integers(0, n, n)], axis=1), columns)


def by_repeating(scores, columns, resamples, rng):
    k, n = scores.shape
    order = np.argsort(scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1).ravel()
    for _ in range(resamples):
        counts = np.bincount(rng.integers(0, n, n), minlength=n)
        mean_risk_of_sorted(np.repeat(ordered, counts[order].ravel()).reshape(k, n), columns)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=12)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--resamples", type=int, default=1000)
    given = parser.parse_args()
    scores = np.random.default_rng(0).normal(size=(given.models, given.samples))
    columns = risk_columns(levels=[0.01, 0.05, 0.1, 0.25, 0.5])
    seconds = {}
    for name, run in (("sort each resample", by_sorting), ("repeat sorted scores", by_repeating)):
        start = perf_counter()
        run(scores, columns, given.resamples, np.random.default_rng(1))
        seconds[name] = perf_counter() - start
    fastest = min(seconds.values())
    print(f"{given.resamples} × {given.models} × {given.samples}, {len(columns)} risk columns")
    for name, taken in seconds.items():
        print(f"{name:22s} {taken:6.2f} s  × {taken / fastest:.2f}")


if __name__ == "__main__":
    main()
