"""Simulate difficult tables: few samples, rare disasters, unbalanced designs, joint intervals of all rows.

Every null hypothesis is paired with an alternative that the best known test detects in most tables. An error
rate of .000 without any power would mean that a test detects nothing. Used by ``make calibrate``.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import mannwhitneyu, wilcoxon

from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.effect_sizes import mean_differences
from riskrank.engine.dominance.hidden_risk import find_worse_tails
from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.family import adjust
from riskrank.engine.sampling.design import ClusteredScores

ALPHA = 0.05

# (generator, whether model 0 is better) -> scores of k models.
Draw = Callable[[np.random.Generator, bool], ClusteredScores]


@dataclass(frozen=True)
class AnswerCase:
    """Null hypothesis and an alternative in which the first model is better than all others.

    Attributes
    ----------
    name : str
        Key of the case in the store of results, and seed of its random streams.
    draw : callable
        ``draw(rng, better)`` returns the scores of a table.
    rival : str
        The best known test of the alternative: ``wilcoxon``, ``mann-whitney`` or ``tail``.
    orders : tuple of int
        Orders of dominance in which the first model is better in the alternative.
    costs : int
        Divisor of the number of simulated tables, for slow cases.
    promised : float or None
        Minimum share of true claims to detect in each of the orders.
    """

    name: str
    draw: Draw
    rival: str = "wilcoxon"
    orders: tuple[int, ...] = (1, 2)
    costs: int = 1
    promised: float | None = None


def few(k: int, n: int, shift: float, marginal: Callable = lambda z: z) -> Draw:
    """Draw few samples of paired models with correlation ½; the scores before `marginal` have variance 1."""

    def draw(rng, better):
        z = math.sqrt(0.5) * (rng.normal(size=n) + rng.normal(size=(k, n)))
        scores = marginal(z)
        scores[0] += shift * better
        return ClusteredScores.build(list(scores))

    return draw


def binary_scores(k: int, n: int, share: float, gain: float) -> Draw:
    def draw(rng, better):
        chance = np.full((k, 1), share)
        chance[0] += gain * better
        return ClusteredScores.build(list((rng.random((k, n)) < chance).astype(float)))

    return draw


def disasters(share: float, n: int, sd: float) -> Draw:
    """Draw models with equal means; the second model, or both under the null, rarely scores about −5."""

    def risky(rng):
        middle = np.where(rng.random(n) < share, -5.0, 5 * share / (1 - share))
        return rng.normal(middle, sd)

    def draw(rng, better):
        first = rng.normal(0, sd, n) if better else risky(rng)
        return ClusteredScores.build([first, risky(rng)])

    return draw


def giant_cluster(k: int, shift: float) -> Draw:
    """Draw 59 single samples and one cluster of 15, with intraclass correlation ½."""
    cluster = np.r_[np.arange(59), np.full(15, 59)]

    def draw(rng, better):
        shared = rng.normal(size=(k, 60))[:, cluster]
        scores = math.sqrt(0.5) * (shared + rng.normal(size=(k, cluster.size)))
        scores[0] += shift * better
        return ClusteredScores.build(list(scores), [cluster] * k)

    return draw


def few_against_many(shift: float, bad: float, *, never: bool = False) -> Draw:
    """Draw 12 and 48 unpaired samples; a share of the scores is lower by eight."""

    def draw(rng, better):
        shares = (0.0 if never and better else bad, bad)
        values = [
            rng.normal(size=n) - 8.0 * (rng.random(n) < share)
            for n, share in zip((12, 48), shares, strict=True)
        ]
        values[0] += shift * better
        return ClusteredScores.build(values, paired=False)

    return draw


ANSWER_CASES = (
    AnswerCase("two normals, n = 10, 1.5 sd", few(2, 10, 1.5)),
    AnswerCase("five normals, n = 12, 1.5 sd", few(5, 12, 1.5), promised=0.85),
    AnswerCase("five lognormals, n = 12, ahead by 6", few(5, 12, 6.0, np.exp)),
    AnswerCase("eight normals, n = 15, 1.6 sd", few(8, 15, 1.6), costs=2, promised=0.85),
    AnswerCase("eight normals, n = 20, 1.3 sd", few(8, 20, 1.3)),
    AnswerCase("eight normals, n = 30, 1 sd", few(8, 30, 1.0)),
    AnswerCase("twelve normals, n = 20, 1.6 sd", few(12, 20, 1.6), costs=8),
    AnswerCase("five of 0/1, n = 40, .95 against .5", binary_scores(5, 40, 0.5, 0.45)),
    *(
        AnswerCase(
            f"{share:.0%} at −5, equal means, sd {sd:g}, n = {n:,}",
            disasters(share, n, sd),
            "tail",
            (2,),
            costs=4 if n == 5000 else 1,
            promised=0.85 if (share, n, sd) == (0.05, 1000, 0.5) else None,
        )
        for share, n, sd in (
            *itertools.product((0.01, 0.02, 0.05), (300, 1000, 2000, 5000), (0.5,)),
            (0.05, 1000, 1.0),
            (0.05, 2000, 1.0),
        )
    ),
    AnswerCase("two models, one giant cluster, 1 sd", giant_cluster(2, 1.0)),
    AnswerCase("five models, one giant cluster, 1.2 sd", giant_cluster(5, 1.2), costs=8),
    AnswerCase("unpaired, 12 against 48, 1.1 sd", few_against_many(1.1, 0.0), "mann-whitney"),
    AnswerCase("unpaired, 12 against 48, a tenth at −8", few_against_many(1.5, 0.1), "mann-whitney"),
    AnswerCase(
        "unpaired, 12 against 48, a tenth of the others at −8",
        few_against_many(1.5, 0.1, never=True),
        "mann-whitney",
    ),
)


def answer_rows(name: str, seeds: Sequence[int]) -> list[list[float]]:
    """Return false and true claims of each simulated table of a case, and the power of its rival.

    Returns
    -------
    list of lists of five numbers, one per seed
        Whether any claim about identical models was made in order 1 and in order 2; the shares of the first
        model's true claims that were detected in each order; the share that the rival detected.
    """
    case = next(candidate for candidate in ANSWER_CASES if candidate.name == name)
    return [_answer(case, np.random.SeedSequence([seed, *name.encode()])) for seed in seeds]


def _answer(case: AnswerCase, seed: np.random.SeedSequence) -> list[float]:
    streams, entropy = seed.spawn(2), int(seed.generate_state(1)[0])
    inference, claims = Inference(seed=entropy), [Claim(1), Claim(2)]
    null = case.draw(np.random.default_rng(streams[0]), False)
    false = [float(test.dominates.any()) for test in study_dominance(null, claims, inference).tests]
    scores = case.draw(np.random.default_rng(streams[1]), True)
    study = study_dominance(scores, claims, inference)
    true = [float(test.dominates[0, 1:].mean()) for test in study.tests]
    if case.rival == "tail":
        replicates, n = study.replicates, scores.effective_sizes
        risks = find_worse_tails(
            study.estimates.tails, replicates.tails, 0, [1], samples=np.full((2, 2), float(n))
        )
        return [*false, *true, float(any(risk.worse == 1 for risk in risks))]
    return [*false, *true, _ranks_find(scores, case.rival)]


def _ranks_find(scores: ClusteredScores, rival: str) -> float:
    """Return the share of the first model's claims that a rank test detects, with Holm's correction."""
    k = scores.models
    means = [
        np.bincount(cluster, value) / np.bincount(cluster)
        for value, cluster in zip(scores.values, scores.clusters, strict=True)
    ]
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    if rival == "mann-whitney":
        p_values = [mannwhitneyu(means[i], means[j], alternative="greater").pvalue for i, j in pairs]
    else:
        p_values = [
            1.0
            if np.array_equal(means[i], means[j])
            else wilcoxon(means[i], means[j], alternative="greater").pvalue
            for i, j in pairs
        ]
    adjusted = adjust(p_values, "holm")
    return float(np.mean([adjusted[at] <= ALPHA for at, (i, _) in enumerate(pairs) if i == 0]))


# Models, samples, kind of scores, and the advantage of the first model.
ROW_CASES = (
    *itertools.product((8, 12, 20), (30, 200), ("normal", "0/1"), (0.0, 0.3)),
    *itertools.product((8, 20), (15,), ("normal", "0/1"), (0.0,)),
)


def row_name(case: tuple[int, int, str, float]) -> str:
    k, n, kind, gain = case
    return f"{k} models, {kind}, n = {n}, " + (f"one ahead by {gain:g}" if gain else "all equal")


def row_rows(case: tuple[int, int, str, float], seeds: Sequence[int]) -> list[list[float]]:
    """Return whether the intervals of all rows of a ranking jointly cover the truth, for each table."""
    k, n, kind, gain = case
    truth = np.zeros(k)
    truth[0] = gain
    covered = []
    for seed in seeds:
        rng = np.random.default_rng([seed, k, n, *kind.encode(), int(100 * gain)])
        values = (
            rng.normal(size=(k, n)) + truth[:, None]
            if kind == "normal"
            else (rng.random((k, n)) < 0.5 + truth[:, None]).astype(float)
        )
        leader = int(np.argmax(values.mean(axis=1)))
        inference = Inference(seed=int(rng.integers(2**31)))
        differences = mean_differences(ClusteredScores.build(values), inference, [leader]).column(leader)
        true = truth - truth[leader]
        covered.append([float(np.all((differences.low <= true) & (true <= differences.high)))])
    return covered
