"""Simulate trends of forty runs on the same cases: false reports of "worse", and delay after a loss.

``python tests/benchmarks/trend_simulation.py`` prints the figures of docs/trend.md.
"""

import numpy as np
from cost_simulation import error
from scipy.special import betaincinv

from riskrank.engine.changes import LEVEL_SHARES, family_at_look
from riskrank.engine.evidence.mean_differences import MeanContrast, mean_evidence
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores

RUNS, CASES, CORRELATION = 40, 400, 0.7
NEVER = RUNS + 1


def passes(rng: np.random.Generator, before: float, after: float, since: int) -> np.ndarray:
    """Draw binary scores, shape (runs, cases); the success rates of the cases have a beta distribution."""
    spread, rank = 1 / CORRELATION - 1, rng.random(CASES)
    chances = [betaincinv(p * spread, (1 - p) * spread, rank) for p in (before, after)]
    return np.array([rng.random(CASES) < chances[run >= since] for run in range(1, RUNS + 1)], dtype=float)


def first_worse(scores: np.ndarray, family: Family = Family()) -> int:
    """Return the first run that is significantly worse than the first run or than the previous run."""
    for look in range(1, len(scores)):
        for of, share in LEVEL_SHARES.items():
            old = scores[0 if of == "baseline" else look - 1]
            pair = MeanContrast.from_scores(ClusteredScores.build([scores[look], old]), 0, 1)
            if family_at_look(family, look, share).answer(mean_evidence([pair])).contradicted[0]:
                return look + 1
    return NEVER


def simulate(tables: int, before: float, after: float, since: int, seed: int = 0) -> np.ndarray:
    """Return the first run reported as worse in every table, shape (tables,)."""
    streams = np.random.SeedSequence(seed).spawn(tables)
    return np.array(
        [first_worse(passes(np.random.default_rng(stream), before, after, since)) for stream in streams]
    )


if __name__ == "__main__":
    TABLES = 1000
    for p in (0.8, 0.9):
        share = float((simulate(TABLES, p, p, NEVER) < NEVER).mean())
        print(f"{p} in all runs: any false 'worse' {share:.3f} ± {error(share, TABLES):.3f}")
        detected = simulate(TABLES, p, p - 0.05, 20, seed=1)
        soon = float((detected <= 24).mean())
        print(
            f"{p} to {p - 0.05:.2f} from run 20: shown by run {np.median(detected):.0f} (median), by run 24 "
            f"in {soon:.3f} ± {error(soon, TABLES):.3f}, falsely before in {(detected < 20).mean():.3f}"
        )
