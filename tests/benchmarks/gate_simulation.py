"""Simulate gates on pairs of models with a known difference."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.gate.claim import NOT_WORSE, GateClaim
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.gate.decisions import decide
from riskrank.studies.gate.verdicts import FAIL, PASS
from riskrank.studies.targets import Units

# (generator, samples) -> scores of the new and the old model, shape (2, n).
Draw = Callable[[np.random.Generator, int], np.ndarray]


def normal(loss: float = 0.0) -> Draw:
    """Draw normal scores with correlation .5 and standard deviation 1."""

    def draw(rng, n):
        scores = math.sqrt(0.5) * rng.normal(size=n) + math.sqrt(0.5) * rng.normal(size=(2, n))
        scores[0] -= loss
        return scores

    return draw


def independent(rng, n):
    return rng.normal(size=(2, n))


def exponential(rng, n):
    return rng.exponential(size=(2, n))


def student(rng, n):
    return rng.standard_t(3, size=(2, n))


def binary_scores(rng, n):
    """Draw binary scores with success rate .7; both models agree on most samples."""
    shared = rng.random(n) < 0.9
    scores = (rng.random((2, n)) < 0.7).astype(float)
    return np.where(shared, scores[0], scores)


def rare_losses(loss: float) -> Draw:
    """Draw an old model that is always right, and a new one that is rarely wrong."""

    def draw(rng, n):
        return np.stack([(rng.random(n) >= loss).astype(float), np.ones(n)])

    return draw


def heavy_losses(sigma: float) -> Draw:
    """Draw differences that are negative lognormal; means of few samples are far from the true mean."""

    def draw(rng, n):
        old = rng.normal(size=n)
        return np.stack([old - rng.lognormal(0, sigma, n), old])

    return draw


def skewed(loss: float, sign: float) -> Draw:
    """Draw exponential differences; with sign −1 there are few large losses and many small gains."""

    def draw(rng, n):
        old = rng.normal(size=n)
        return np.stack([old - loss + sign * (rng.exponential(size=n) - 1), old])

    return draw


@dataclass(frozen=True)
class Case:
    """Family of equal claims "not worse".

    Attributes
    ----------
    truth : float
        True difference, new minus old.
    margin : float
    columns : int
        Number of metrics or groups in the family.
    groups : bool
        Whether the columns are groups, with n/5, n/2, n and 2n samples in turn.
    level : float or None
        Share of the worst scores of a tail mean; None for the mean.
    order : int
        Order of the claimed dominance; 0 for a difference.
    promised : float
        Largest error rate; it is higher if a few huge losses dominate the mean.
    """

    name: str
    draw: Draw
    sizes: tuple[int, ...]
    truth: float = 0.0
    margin: float = 0.0
    columns: int = 1
    groups: bool = False
    level: float | None = None
    order: int = 0
    paired: bool = True
    promised: float = 0.05

    def key(self, n: int) -> str:
        return f"{self.name}; n={n}"

    def samples(self, column: int, n: int) -> int:
        return round(n * (0.2, 0.5, 1, 2)[column % 4]) if self.groups else n


# Scores between 0 and 1 have no heavy tail that a small sample could miss.
BOUNDED = 0.04

CASES = (
    Case("equal normals", normal(), (15, 30, 100, 300)),
    Case("equal normals, unpaired", independent, (30, 100), paired=False),
    Case("equal exponentials", exponential, (30, 100)),
    Case("equal t with 3 df", student, (30, 100)),
    Case("equal 0/1, 4 % differ", binary_scores, (30, 100, 300), promised=BOUNDED),
    Case("equal normals, `tvar@0.1`", normal(), (50, 200), level=0.1),
    Case("equal t with 3 df, `tvar@0.1`", student, (50, 200), level=0.1),
    Case("equal normals, `fsd`", normal(), (30, 100), order=1),
    Case("equal normals, `ssd`", normal(), (30, 100), order=2),
    Case("equal 0/1, 4 % differ, `ssd`", binary_scores, (100,), order=2, promised=BOUNDED),
    Case("20 metrics, equal normals", normal(), (30,), columns=20),
    Case("20 metrics, equal 0/1", binary_scores, (100,), columns=20, promised=BOUNDED),
    Case(
        "20 groups of n/5 to 2n, equal 0/1", binary_scores, (50,), columns=20, groups=True, promised=BOUNDED
    ),
    Case("normals, loss of the margin", normal(0.2), (30, 100, 300), -0.2, 0.2),
    Case("normals, loss of twice the margin", normal(0.2), (30, 100, 300), -0.2, 0.1),
    Case("0/1, loss .02, margin .02", rare_losses(0.02), (30, 100, 300), -0.02, 0.02, promised=BOUNDED),
    Case("0/1, loss .04, margin .02", rare_losses(0.04), (30, 100, 300), -0.04, 0.02, promised=BOUNDED),
    Case("exponential losses, mean loss of the margin", skewed(0.2, -1), (30, 100, 300), -0.2, 0.2),
    Case("exponential losses, twice the margin", skewed(0.2, -1), (30, 100, 300), -0.2, 0.1),
    Case("exponential gains, mean loss of the margin", skewed(0.2, 1), (30, 100), -0.2, 0.2),
    *(
        Case(
            f"losses −lognormal({sigma:g}) of the margin",
            heavy_losses(sigma),
            (20, 50, 200),
            -math.exp(sigma**2 / 2),
            math.exp(sigma**2 / 2),
            promised=0.08,
        )
        for sigma in (1.0, 1.5)
    ),
    Case(
        "20 metrics, loss .04, margin .02",
        rare_losses(0.04),
        (100,),
        -0.04,
        0.02,
        columns=20,
        promised=BOUNDED,
    ),
    Case("20 groups of n/5 to 2n, twice the margin", normal(0.2), (50,), -0.2, 0.1, 20, groups=True),
)


def gate_rows(case_and_size: tuple[int, int], seeds: Sequence[int]) -> list[list[int]]:
    """Return whether any claim passes, any fails, and all intervals cover the truth, one row per table.

    Parameters
    ----------
    case_and_size : tuple of int
        Index of the case, and number of samples.
    seeds : sequence of int
        One table is simulated per seed.
    """
    number, n = case_and_size
    case = CASES[number]
    return [_outcome(case, n, np.random.SeedSequence([seed, n, number])) for seed in seeds]


def _outcome(case: Case, n: int, seed: np.random.SeedSequence) -> list[int]:
    rng = np.random.default_rng(seed)
    claims = []
    for column in range(case.columns):
        scores = case.draw(rng, case.samples(column, n))
        limits = min(scores.min(), 0.0), max(scores.max(), 1.0)
        built = ClusteredScores.build(scores, paired=case.paired)
        score_column = ScoreColumn(str(column), built, Units(1.0, ""), limits)
        dominance = Claim(case.order, "direct") if case.order else None
        claims.append(GateClaim(NOT_WORSE, 0, 1, score_column, "", case.level, dominance, case.margin))
    return answered(claims, Inference(seed=int(rng.integers(2**31))), [case.truth] * len(claims))


def answered(claims: Sequence[GateClaim], inference: Inference, truths: Sequence[float]) -> list[int]:
    """Return whether any claim passes, any fails, and all intervals cover the truth."""
    rows, _ = decide(claims, inference, ("new", "old"))
    verdicts = {row.verdict for row in rows}
    covered = all(_holds(row.low, row.high, truth) for row, truth in zip(rows, truths, strict=True))
    return [int(PASS in verdicts), int(FAIL in verdicts), int(covered)]


def _holds(low: float | None, high: float | None, truth: float) -> bool:
    """Return whether an interval covers the truth; a missing bound is infinite."""
    return (low is None or low <= truth) and (high is None or truth <= high)
