"""Size and power of the default tests by simulation: ``make calibrate``.

Prints every rejection rate with its Monte-Carlo error, and what the README promises beside it.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from calibration import LEVELS, boundary_cases, family_outcome, normals, rejections

from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import run_tasks

BOUNDS = ((0.03, 0.08), (0.0, 0.018))


def boundary_task(shared, task):
    number, seeds = task
    case = boundary_cases(shared.size)[number]
    return np.array([rejections(case, seed, resamples=shared.resamples) for seed in seeds])


def lognormals(rng, *, n=200, correlation=0.0):
    z = np.sqrt(correlation) * rng.normal(size=n) + np.sqrt(1 - correlation) * rng.normal(size=(12, n))
    return ClusteredScores.build(list(np.exp(z)))


def twelve_zero_one(rng, *, n=200):
    return ClusteredScores.build(list((rng.random((12, n)) < 0.7).astype(float)))


FAMILIES = {
    "twelve identical normals": (np.zeros(12), normals([0] * 12, [1] * 12, n=200)),
    "the same, correlation 0.8": (np.zeros(12), normals([0] * 12, [1] * 12, n=200, correlation=0.8)),
    "twelve identical lognormals": (np.zeros(12), lognormals),
    "the same, correlation 0.5": (np.zeros(12), partial(lognormals, correlation=0.5)),
    "twelve equal 0/1 models": (np.zeros(12), twelve_zero_one),
    "six half a sd above six": (
        np.repeat([0.5, 0.0], 6),
        normals([0.5] * 6 + [0.0] * 6, [1] * 12, n=200),
    ),
}


def family_task(shared, task):
    name, seeds = task
    means, draw = FAMILIES[name]
    return np.array([family_outcome(means, draw, seed) for seed in seeds])


def batches(count, size=20):
    return [range(start, min(start + size, count)) for start in range(0, count, size)]


VARIANCES = ("bootstrap", "clt")


def print_sizes(options):
    print(f"size at the boundary, n = {options.size}, B = {options.resamples}, {options.runs} data sets each")
    heads = "".join(f"{f'at {level:g}':>19}" for level in LEVELS)
    print(f"{'case':30}{'test':>6} {'by':10}{heads}  kept")
    for number, case in enumerate(boundary_cases(options.size)):
        tasks = [(number, seeds) for seeds in batches(options.runs)]
        parts = list(run_tasks(boundary_task, options, tasks, jobs=options.jobs))
        rates = np.concatenate(parts).mean(axis=0)
        errors = np.sqrt(rates * (1 - rates) / options.runs)
        for at, variance in enumerate(VARIANCES):
            for claim, rate, error in zip(case.claims, rates[at], errors[at], strict=True):
                kept = is_kept(rate, error, at_most=case.at_most) if variance == "bootstrap" else "-"
                name = f"{'R-' if claim.kind == 'relative' else ''}{'FSD' if claim.order == 1 else 'SSD'}"
                columns = "".join(f"{f'{r:.4f} ± {e:.4f}':>19}" for r, e in zip(rate, error, strict=True))
                print(f"{case.name:30}{name:>6} {variance:10}{columns}  {kept}", flush=True)


def is_kept(rate, error, *, at_most):
    """Whether the promised bounds hold within two Monte-Carlo errors."""
    kept = all(
        (at_most or low - 2 * e <= r) and r <= high + 2 * e
        for r, e, (low, high) in zip(rate, error, BOUNDS, strict=True)
    )
    return "yes" if kept else "NO"


def print_families(options):
    print(f"\ntwelve models, n = 200, family-wise level 0.05, {options.families} data sets")
    print(f"{'case':30}{'test':>6} {'by':10}{'family-wise error':>20}{'true pairs found':>20}")
    for name, (means, _) in FAMILIES.items():
        tasks = [(name, seeds) for seeds in batches(options.families, 5)]
        outcomes = np.concatenate(list(run_tasks(family_task, options, tasks, jobs=options.jobs)))
        pairs = int(np.sum(np.greater.outer(means, means)))
        for at, variance in enumerate(VARIANCES):
            for order, label in enumerate(("R-FSD", "R-SSD")):
                wrong = (outcomes[:, at, order, 0] > 0).mean()
                error = np.sqrt(wrong * (1 - wrong) / len(outcomes))
                found = outcomes[:, at, order, 1].mean()
                power = f"{found:.1f} of {pairs}" if pairs else "-"
                print(f"{name:30}{label:>6} {variance:10}{f'{wrong:.3f} ± {error:.3f}':>20}{power:>20}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="data sets a boundary case")
    parser.add_argument("--families", type=int, default=300, help="data sets a family case")
    parser.add_argument("--size", type=int, default=200, help="samples a data set")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    start = time.perf_counter()
    print_sizes(options)
    print_families(options)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    import calibrate  # workers import what they run, and a program has no name to import it by

    calibrate.main()
