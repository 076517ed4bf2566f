"""Simulate the size of the relabelling test of vectors for two equal models. Used by ``make calibrate``."""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.gsd.preference_system import Threshold, quality_table
from riskrank.engine.gsd.relabelling import Relabelling, run_relabelling_tests
from riskrank.engine.gsd.relation import Utilities

LEVEL = 0.05
DELTAS = (0.0, 1e-5)
CORRELATIONS = (0.0, 0.7)
SAMPLES = 15
RESAMPLES = 199


def gsd_key(correlation: float) -> str:
    """Return the key of the case in the store of results, which also seeds its random streams."""
    return f"two equal models; correlation={correlation:g}; n={SAMPLES}"


def equal_models(rng: np.random.Generator, correlation: float) -> np.ndarray:
    """Draw two models from one distribution of a cardinal metric and an ordinal one with five levels."""
    common = np.sqrt(correlation) * rng.normal(size=(1, SAMPLES, 2))
    scores = common + np.sqrt(1 - correlation) * rng.normal(size=(2, SAMPLES, 2))
    scores[..., 1] = np.digitize(scores[..., 1], (-1, -0.3, 0.3, 1))
    return scores.round(3)


def gsd_rows(correlation: float, seeds: Sequence[int]) -> list[list[int]]:
    """Return for each table whether the first model significantly dominates the second, one value per δ."""
    outcomes = []
    for seed in seeds:
        scores = equal_models(np.random.default_rng(seed), correlation)
        table = quality_table(scores, ordinal=[False, True])
        tests = [
            run_relabelling_tests(
                Utilities(table, Threshold(delta)), [(0, 1)], Relabelling(resamples=RESAMPLES, seed=seed)
            )[0]
            for delta in DELTAS
        ]
        outcomes.append([int(test.p_value <= LEVEL) for test in tests])
    return outcomes
