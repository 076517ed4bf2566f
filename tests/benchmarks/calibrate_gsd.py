"""Size of the dominance test by simulation: two models whose labels mean nothing."""

from __future__ import annotations

import argparse
import time

import numpy as np

from riskrank.engine.gsd.quality import quality_table
from riskrank.engine.gsd.relabelling import relabelling_tests
from riskrank.engine.gsd.threshold import Threshold
from riskrank.engine.sampling.processes import run_tasks

LEVEL = 0.05
DELTAS = (0.0, 1e-5)


def equal_models(rng, samples, correlation):
    """Two models with one distribution: a cardinal criterion and an ordinal one of five levels."""
    common = np.sqrt(correlation) * rng.normal(size=(1, samples, 2))
    scores = common + np.sqrt(1 - correlation) * rng.normal(size=(2, samples, 2))
    scores[..., 1] = np.digitize(scores[..., 1], (-1, -0.3, 0.3, 1))
    return scores.round(3)


def rejections(options, task):
    """Whether model 1 over model 2 is rejected at 5 %: by seed and δ."""
    correlation, seeds = task
    outcomes = []
    for seed in seeds:
        scores = equal_models(np.random.default_rng(seed), options.samples, correlation)
        table = quality_table(scores, ordinal=[False, True])
        p_values = [
            relabelling_tests(
                table,
                [(0, 1)],
                threshold=Threshold(delta),
                resampling=options.resampling,
                resamples=options.resamples,
                seed=seed,
            )[0].p_value
            for delta in DELTAS
        ]
        outcomes.append([p <= LEVEL for p in p_values])
    return np.array(outcomes)


def size_of_test(options):
    """Print the share of rejections with its Monte-Carlo error; no more than 5 % are promised."""
    print(
        f"{options.resampling} test at {LEVEL:g}, {options.samples} samples, B = {options.resamples}, "
        f"{options.runs} data sets each"
    )
    print(f"{'correlation':>12}{'δ':>8}{'size':>18}  kept")
    for correlation in (0.0, 0.7):
        seeds = [range(start, min(start + 10, options.runs)) for start in range(0, options.runs, 10)]
        tasks = [(correlation, some) for some in seeds]
        rates = np.concatenate(list(run_tasks(rejections, options, tasks, jobs=options.jobs))).mean(axis=0)
        for delta, rate in zip(DELTAS, rates, strict=True):
            error = np.sqrt(rate * (1 - rate) / options.runs)
            kept = "yes" if rate - 2 * error <= LEVEL else "NO"
            print(f"{correlation:>12}{delta:>8.0e}{f'{rate:.4f} ± {error:.4f}':>18}  {kept}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="data sets a case")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--resamples", type=int, default=199)
    parser.add_argument("--resampling", default="swap", choices=("swap", "pooled"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    start = time.perf_counter()
    size_of_test(options)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    import calibrate_gsd  # workers import what they run, and a program has no name to import it by

    calibrate_gsd.main()
