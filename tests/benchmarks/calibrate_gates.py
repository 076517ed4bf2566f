"""Simulate gates: how often equal models fail or pass, and a true loss of twice the margin passes.

Run by ``make calibrate``. Each table has two models with a known difference. Printed are the share of tables
in which a claim (any of a family) is shown, and in which one is refuted, with Monte-Carlo errors, and the
share of tables whose intervals all hold the true differences.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.effect_sizes import samples_behind_tail
from riskrank.engine.gates.caution import Comparison, Side
from riskrank.engine.gates.decision import Evidence, answers
from riskrank.engine.gates.replicates import difference, differences
from riskrank.engine.sampling.processes import run_tasks

# (generator, samples) -> scores of the new and the old model, shape (2, n).
Draw = Callable[[np.random.Generator, int], np.ndarray]


def normal(loss: float = 0.0) -> Draw:
    def draw(rng, n):
        scores = math.sqrt(0.5) * rng.normal(size=n) + math.sqrt(0.5) * rng.normal(size=(2, n))
        scores[0] -= loss
        return scores

    return draw


def exponential(rng, n):
    return rng.exponential(size=(2, n))


def student(rng, n):
    return rng.standard_t(3, size=(2, n))


def zero_one(rng, n):
    """Success .7, most samples alike for both."""
    alike = rng.random(n) < 0.9
    scores = (rng.random((2, n)) < 0.7).astype(float)
    return np.where(alike, scores[0], scores)


def rare_losses(loss: float) -> Draw:
    """The old model is always right, the new one but for a rare loss."""

    def draw(rng, n):
        return np.stack([(rng.random(n) >= loss).astype(float), np.ones(n)])

    return draw


@dataclass(frozen=True)
class Case:
    """A family of equal claims."""

    name: str
    draw: Draw
    sizes: tuple[int, ...]
    truth: float = 0.0
    margin: float = 0.0
    metrics: int = 1
    level: float | None = None
    paired: bool = True


CASES = (
    Case("equal normals", normal(), (15, 30, 100, 300)),
    Case("equal normals, unpaired", normal(), (30, 100), paired=False),
    Case("equal exponentials", exponential, (30, 100)),
    Case("equal t with 3 df", student, (30, 100)),
    Case("equal 0/1, 4 % differ", zero_one, (30, 100, 300)),
    Case("equal normals, tvar@0.1", normal(), (50, 200), level=0.1),
    Case("equal t with 3 df, tvar@0.1", student, (50, 200), level=0.1),
    Case("20 metrics, equal normals", normal(), (30, 100), metrics=20),
    Case("20 metrics, equal 0/1", zero_one, (30, 100, 300), metrics=20),
    Case("normals, loss of the margin", normal(0.2), (30, 100, 300), -0.2, 0.2),
    Case("normals, loss of twice the margin", normal(0.2), (30, 100, 300), -0.2, 0.1),
    Case("0/1, loss .02, margin .02", rare_losses(0.02), (30, 100, 300), -0.02, 0.02),
    Case("0/1, loss .04, margin .02", rare_losses(0.04), (30, 100, 300), -0.04, 0.02),
    Case("20 metrics, loss .04, margin .02", rare_losses(0.04), (100, 300), -0.04, 0.02, metrics=20),
)


def task(shared, given):
    number, n, seeds = given
    case = CASES[number]
    outcome = np.empty((len(seeds), 3), dtype=bool)
    for at, seed in enumerate(seeds):
        rng = np.random.default_rng(np.random.SeedSequence([seed, n, number]))
        comparisons = [_comparison(case, case.draw(rng, n)) for _ in range(case.metrics)]
        drawn = differences(
            [
                *comparisons,
                *(one.against() for one in comparisons),
                *(one.in_favour() for one in comparisons),
            ],
            resamples=2000 if case.metrics == 1 else 20_000,
            seed=int(rng.integers(2**31)),
        )
        k, behind = case.metrics, n if case.level is None else samples_behind_tail(n, case.level)
        family = [
            Evidence.of_replicates(
                difference(one),
                -case.margin,
                plain=drawn[m],
                against=drawn[k + m],
                in_favour=drawn[2 * k + m],
                samples=n,
                behind=behind,
            )
            for m, one in enumerate(comparisons)
        ]
        found = answers(family)
        held = all(one.low <= case.truth <= one.high for one in found)
        outcome[at] = any(one.side > 0 for one in found), any(one.side < 0 for one in found), held
    return outcome


def _comparison(case: Case, scores: np.ndarray) -> Comparison:
    units = np.arange(scores.shape[1])
    lowest, highest = min(scores.min(), 0.0), max(scores.max(), 1.0)
    return Comparison(
        Side(scores[0], units), Side(scores[1], units), case.paired, case.level, lowest, highest
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2000, help="tables a case")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    start = time.perf_counter()
    print(f"level 5 %, {options.tables} tables a case, a tenth of them with 20 metrics (400 at least)")
    print(f"{'scores':36}{'n':>5}{'claim shown':>17}{'claim refuted':>17}{'intervals hold':>17}")
    for number, case in enumerate(CASES):
        for n in case.sizes:
            count = options.tables if case.metrics == 1 else max(options.tables // 10, 400)
            tasks = [(number, n, range(at, min(at + 20, count))) for at in range(0, count, 20)]
            found = np.concatenate(list(run_tasks(task, None, tasks, jobs=options.jobs)))
            rates = found.mean(axis=0)
            errors = np.sqrt(rates * (1 - rates) / count)
            shown = [f"{rate:.3f} ± {error:.3f}" for rate, error in zip(rates, errors, strict=True)]
            print(f"{case.name:36}{n:>5}" + "".join(f"{text:>17}" for text in shown), flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
