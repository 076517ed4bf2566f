"""Simulate margins relative to the old mean: pass rates at the margin and for equal models.

``python tests/benchmarks/margin_simulation.py`` prints the figures of docs/gate.md. It also prints those of
the same margin in units, as if the old mean were known.
"""

import sys
from dataclasses import replace

import numpy as np

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.gate.claim import NOT_WORSE, GateClaim
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.gate.decisions import decide
from riskrank.studies.gate.verdicts import PASS
from riskrank.studies.targets import Units


def binary_scores(rng, n, times):
    """Draw an old model with success rate .8; both models share half of the difficulty of the samples."""
    rank = rng.random(n)
    ranks = np.where(rng.random((2, n)) < 0.5, rank, rng.random((2, n)))
    return (ranks < [[0.8 * times], [0.8]]).astype(float), 1.0


def normal(mean):
    """Draw normal scores with correlation .5 and standard deviation 1."""

    def draw(rng, n, times):
        return np.sqrt(0.5) * (rng.normal(size=n) + rng.normal(size=(2, n))) + [[times * mean], [mean]], 1.0

    return draw


def costs(rng, n, times):
    """Draw lognormal costs (σ = 1, half of it shared); lower is better, and `times` < 1 raises new costs."""
    logs = np.sqrt(0.5) * (rng.normal(size=n) + rng.normal(size=(2, n)))
    return -np.exp(logs) * [[2 - times], [1]], -1.0


CASES = {
    "0/1 of .8, margin 5%": (binary_scores, 0.05),
    "normal, mean 5, margin 5%": (normal(5.0), 0.05),
    "normal, mean 1, margin 50%": (normal(1.0), 0.5),
    "lognormal costs, margin 20%": (costs, 0.2),
}


def passes(draw, share: float, n: int, times: float, tables: int, seed: int = 0) -> np.ndarray:
    """Return the pass rates of a relative margin and of the equal margin in units."""
    verdicts = []
    for stream in np.random.SeedSequence([seed, n]).spawn(tables):
        rng = np.random.default_rng(stream)
        scores, sign = draw(rng, n, times)
        limits = (min(scores.min(), 0.0), max(scores.max(), 1.0)) if sign > 0 else (scores.min(), 0.0)
        column = ScoreColumn("", ClusteredScores.build(scores), Units(sign, ""), limits)
        plain = GateClaim(NOT_WORSE, 0, 1, column, "mean", margin=share * abs(float(scores[1].mean())))
        inference = Inference(resamples="auto", seed=int(rng.integers(2**31)))
        claims = (replace(plain, share=share), plain)
        verdicts.append(
            [decide([claim], inference, ("new", "old"))[0][0].verdict == PASS for claim in claims]
        )
    return np.mean(verdicts, axis=0)


if __name__ == "__main__":
    TABLES = int(sys.argv[1]) if sys.argv[1:] else 2000
    for name, (draw, share) in CASES.items():
        for n in (50, 100, 400):
            size, in_units = passes(draw, share, n, 1 - share, TABLES)
            power, _ = passes(draw, share, n, 1.0, TABLES // 4, seed=1)
            error = np.sqrt(size * (1 - size) / TABLES)
            print(
                f"{name}, n = {n}: passes at the margin {size:.3f} ± {error:.3f} (in units {in_units:.3f}), "
                f"equal models {power:.3f}",
                flush=True,
            )
