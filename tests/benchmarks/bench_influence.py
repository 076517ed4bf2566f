"""Time the asymptotic standard errors of all violation ratios among several models."""

import argparse
from functools import partial
from time import perf_counter

import numpy as np

from riskrank.engine.dominance.influence import influence_of_violation


def best_of(repeats, run):
    taken = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        taken.append(perf_counter() - start)
    return min(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=12)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    equal = [rng.normal(i / 10, 1 + i / 10, given.samples) for i in range(given.models)]
    unequal = [sample[: given.samples - 7 * i] for i, sample in enumerate(equal)]
    cases = {
        "paired": (equal, True),
        "unpaired": (equal, False),
        "unpaired, unequal sizes": (unequal, False),
    }
    print(f"{given.models} × {given.samples}, best of {given.repeats}")
    print(f"{'design':24s} {'order 1':>9} {'order 2':>9}  ratio")
    for name, (samples, paired) in cases.items():
        first, second = (
            best_of(given.repeats, partial(influence_of_violation, samples, order=order, paired=paired))
            for order in (1, 2)
        )
        print(f"{name:24s} {first:7.3f} s {second:7.3f} s  {second / first:.2f}")


if __name__ == "__main__":
    main()
