"""Measure how often the default tests reject at the boundary of the null hypothesis.

Each case draws a data set whose true statistic lies on the boundary. A test of level α may reject at most a
proportion α of these data sets (method §4). ``make calibrate`` uses many data sets, the test suite a few.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.dominance.influence import violation_influence
from riskrank.engine.dominance.ranking import estimate_violation
from riskrank.engine.dominance.resampled_tests import clt_test
from riskrank.engine.dominance.violation import violation_matrices
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores

LEVELS = (0.05, 0.0056)


@dataclass(frozen=True)
class Case:
    """Boundary case: the distribution, the claim to test, and the ordered pair."""

    name: str
    draw: Callable[[np.random.Generator], ClusteredScores]
    claims: tuple[Claim, ...]
    pair: tuple[int, int] = (0, 1)
    at_most: bool = False


def normals(means, sds, *, n, correlation=0.0, paired=True):
    """Draw normal scores; ``correlation`` is that of the models on the same sample."""

    def draw(rng):
        common = rng.normal(size=n)
        noise = rng.normal(size=(len(means), n))
        z = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * noise
        return ClusteredScores.build(
            list(np.array(means)[:, None] + np.array(sds)[:, None] * z), paired=paired
        )

    return draw


def clustered(*, samples, draws):
    """Draw three models, two of them equal, whose repeats share most of their variance within a sample."""

    def draw(rng):
        z = rng.normal(size=(3, samples, 1)) + 0.5 * rng.normal(size=(3, samples, draws))
        z[2] -= 0.3
        cluster = np.repeat(np.arange(samples), draws)
        return ClusteredScores.build([model.ravel() for model in z], [cluster] * 3)

    return draw


def binary_scores(*, n):
    """Draw binary scores of three models, two of them equal, correlated through sample difficulty."""

    def draw(rng):
        difficulty = rng.normal(size=n)
        skill = np.array([0.5, 0.5, 0.2])[:, None]
        return ClusteredScores.build(list((skill + rng.normal(size=(3, n)) > difficulty).astype(float)))

    return draw


def first_order_boundary(tau: float) -> float:
    """Return the mean difference between N(μ, 2) and N(0, 1) at which the first-order ratio is τ."""

    def ratio(c):
        density = math.exp(-c * c / 2) / math.sqrt(2 * math.pi)
        return ((1 + c * c) * ndtr(-c) - c * density) / (1 + c * c)

    return brentq(lambda c: ratio(c) - tau, -5, 5)


@cache
def second_order_boundary(tau: float) -> float:
    """Return the mean difference between N(μ, 2) and N(0, 1) at which the second-order ratio is τ."""
    z = ndtri((np.arange(50_000) + 0.5) / 50_000)
    return brentq(lambda mean: violation_matrices([mean + 2 * z, z])[1, 0, 1] - tau, 0.1, 5, xtol=1e-5)


def boundary_cases(n: int = 200) -> list[Case]:
    """Return all cases with a promised error rate, at sample size n."""
    relative = (Claim(1), Claim(2))
    six = ([0.0, 0.0, 0.3, -0.3, 0.6, -0.6], [1.0] * 6)
    first, second = first_order_boundary(0.25), second_order_boundary(0.25)
    return [
        Case("two identical among three", normals([0, 0, -0.3], [1, 1, 1], n=n), relative),
        Case("six normals, two equal", normals(*six, n=n), relative),
        Case("N(0,1) vs N(0,2)", normals([0, 0], [1, 2], n=n), (Claim(1),)),
        Case("N(0,2) vs N(0,1)", normals([0, 0], [2, 1], n=n), (Claim(1),)),
        Case("tau = 0.25, order 1", normals([first, 0], [2, 1], n=n), (Claim(1, "absolute", 0.25),)),
        Case("tau = 0.25, order 2", normals([second, 0], [2, 1], n=n), (Claim(2, "absolute", 0.25),)),
        Case("paired, correlation 0.8", normals([0, 0, -0.3], [1, 1, 1], n=n, correlation=0.8), relative),
        Case("unpaired", normals([0, 0, -0.3], [1, 1, 1], n=n, paired=False), relative),
        Case("clustered draws (5 a sample)", clustered(samples=n, draws=5), relative),
        Case("0/1 scores", binary_scores(n=n), relative, at_most=True),
    ]


def boundaries(n: int) -> list[Case]:
    """Return the cases with a promised error rate, and absolute claims at the thresholds of the paper."""
    claims = {1: first_order_boundary, 2: second_order_boundary}
    thresholds = [
        Case(
            f"tau = {tau:g}, order {order}",
            normals([mean(tau), 0], [2, 1], n=n),
            (Claim(order, "absolute", tau),),
        )
        for order, mean in claims.items()
        for tau in (0.08, 0.4)
    ]
    return [*boundary_cases(n), *thresholds]


def rejections(case: Case, seed: int, *, resamples: int) -> np.ndarray:
    """Return whether each test rejects a simulated data set: (bootstrap, asymptotic), claims, levels."""
    stream, entropy = np.random.SeedSequence([seed, *case.name.encode()]).spawn(2)
    scores = case.draw(np.random.default_rng(stream))
    estimates = estimate_violation(scores)
    inference = Inference(
        resamples=resamples, seed=int(entropy.generate_state(1)[0]), family=Family(correction="none", sides=1)
    )
    tests = study_dominance(scores, case.claims, inference).tests
    influences = influences_of(scores)
    p_values = [
        [test.p_value[case.pair] for test in tests],
        [
            clt_test(
                estimates,
                influences[claim.order],
                claim,
                inference=Inference(family=Family(correction="none")),
            ).p_value[case.pair]
            for claim in case.claims
        ],
    ]
    return np.array(p_values)[:, :, None] <= np.array(LEVELS)


def influences_of(scores: ClusteredScores) -> dict:
    """Return the asymptotic standard errors of both orders."""
    return {order: violation_influence(scores, order=order) for order in (1, 2)}
