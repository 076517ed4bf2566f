"""Margins that are a share of the old mean: how often a gate passes at the margin, and of equal models.

``python tests/benchmarks/margin_simulation.py`` prints what docs/gate.md says, and beside it what the same
margin in units does, as if the old mean were known.
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
    """Old right on .8 of the samples, half of which both find hard alike."""
    rank = rng.random(n)
    ranks = np.where(rng.random((2, n)) < 0.5, rank, rng.random((2, n)))
    return (ranks < [[0.8 * times], [0.8]]).astype(float), 1.0


def normal(mean):
    """Correlation .5, sd 1."""

    def draw(rng, n, times):
        return np.sqrt(0.5) * (rng.normal(size=n) + rng.normal(size=(2, n))) + [[times * mean], [mean]], 1.0

    return draw


def costs(rng, n, times):
    """Lognormal of σ = 1, half of it shared, less is better: higher is worse by as much."""
    logs = np.sqrt(0.5) * (rng.normal(size=n) + rng.normal(size=(2, n)))
    return -np.exp(logs) * [[2 - times], [1]], -1.0


CASES = {
    "0/1 of .8, margin 5%": (binary_scores, 0.05),
    "normal, mean 5, margin 5%": (normal(5.0), 0.05),
    "normal, mean 1, margin 50%": (normal(1.0), 0.5),
    "lognormal costs, margin 20%": (costs, 0.2),
}


def passes(draw, share: float, n: int, times: float, tables: int, seed: int = 0) -> np.ndarray:
    """Shares of tables that pass: with a share, and with what it comes to in units."""
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
