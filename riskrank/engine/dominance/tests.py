"""Tests of almost and relative stochastic dominance for all ordered pairs of models.

Source: [RAB] sections 2 and 3, Algorithm 1; method §3 and §4, which corrects its rejection rule.

Better in one group of samples, worse in another (method §4, "What a verdict may say").

Every group has tests of its own. To say that the order of two models turns around between groups is a choice
among groups × pairs, and without a correction over all of them it is said in 16 % of tables of identical
models.

What a reader must know before believing the verdicts of tests.

Compact letter display: two models share a letter exactly if no test separates them.

References
----------
H.-P. Piepho (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
Computational and Graphical Statistics 13(2), 456-466. doi:10.1198/1061860043515
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.inference import ABSOLUTE, Claim, Inference
from riskrank.engine.dominance.ranking import ViolationEstimates
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores, weak_sizes
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import option

Pairs = Sequence[tuple[int, int]]

# Student's test of the tasks' means has to agree with a claim, or stands in for it.
BESIDE, INSTEAD = "beside", "instead"


@dataclass(frozen=True)
class DominanceTests:
    """Verdicts on all ordered pairs; ``[i, j]`` is about "i dominates j", the diagonal is meaningless.

    Pairs that were not asked for have p-values of 1 and dominate nobody.

    Attributes
    ----------
    claim : Claim
        What was tested.
    ratios : ndarray, shape (k, k)
        Violation ratios.
    statistic : ndarray, shape (k, k)
        Violation ratio, or the difference of one-versus-all ratios for relative dominance.
    identical : ndarray of bool, shape (k, k)
        Pairs whose empirical distributions are equal.
    dominates : ndarray of bool, shape (k, k)
        Adjusted p-value at most α; without a test, the statistic below its boundary.
    standard_error, p_value, p_adjusted : ndarray, shape (k, k), or None
        None if no test was asked for.
    extrapolated : ndarray of bool, shape (k, k)
        Whether the claim was closed by its continued tail.
    decided : ndarray of bool, shape (k, k)
        False where the claim is not significant only because the resamples are too few to say so.
    crossings : ndarray of int, shape (k, k), or None
        Resamples in which the statistic was at or above its boundary.
    resamples : ndarray of int, shape (k, k), or None
        Resamples after which the claim was closed.
    resamples_needed : ndarray of int, shape (k, k), or None
        Resamples that would decide an undecided claim, 0 for the others.
    family : int
        Number of tests adjusted for, m.
    of_means : {"", "beside", "instead"}
        Of drawn tasks: whether Student's test of their means has to agree, or stands in for claims that no
        resample of few tasks could show.
    """

    claim: Claim
    ratios: Floats
    statistic: Floats
    identical: Booleans
    dominates: Booleans
    standard_error: Floats | None
    p_value: Floats | None
    p_adjusted: Floats | None
    extrapolated: Booleans
    decided: Booleans
    crossings: Integers | None = None
    resamples: Integers | None = None
    resamples_needed: Integers | None = None
    family: int = 0
    of_means: str = ""

    @property
    def one_versus_all(self) -> Floats:
        """Mean violation ratio of each model against all others, shape (k,)."""
        return one_versus_all(self.ratios)

    def letter_groups(self, order: Integers) -> list[tuple[int, ...]]:
        """Groups of models that no verdict separates, along an order of shape (k,)."""
        return letter_groups(self.dominates | self.dominates.T, order.tolist())


def compare(estimates: ViolationEstimates, claim: Claim) -> DominanceTests:
    """Who dominates whom in the sample, without a test.

    Parameters
    ----------
    estimates : ViolationEstimates
    claim : Claim

    Returns
    -------
    DominanceTests
        With ``dominates`` where the statistic lies below its boundary, and no p-values.
    """
    ratios = estimates.ratios[claim.order - 1]
    statistic = claim.statistic(ratios)
    below = (statistic < claim.boundary) & ~np.eye(len(ratios), dtype=bool)
    none = np.zeros_like(below)
    return DominanceTests(claim, ratios, statistic, estimates.identical, below, None, None, None, none, ~none)


def family_of(k: int, pairs: Pairs | None) -> tuple[Integers, Integers]:
    """Winners and losers of the ordered pairs of a family, each pair once; all pairs by default."""
    if pairs is None:
        winners, losers = np.nonzero(~np.eye(k, dtype=bool))
        return winners, losers
    unique = np.array(list(dict.fromkeys(pairs)), dtype=np.int64)
    return unique[:, 0], unique[:, 1]


# What is said of pairs outside a family.
_OUTSIDE = {
    "dominates": False,
    "standard_error": 0.0,
    "p_value": 1.0,
    "p_adjusted": 1.0,
    "extrapolated": False,
    "decided": True,
    "crossings": 0,
    "resamples": 0,
    "resamples_needed": 0,
}


def decide(
    estimates: ViolationEstimates, claim: Claim, pairs: tuple[Integers, Integers], **found: NDArray
) -> DominanceTests:
    """Verdicts of a family of pairs laid out as squares; pairs outside it dominate nobody.

    Parameters
    ----------
    estimates : ViolationEstimates
    claim : Claim
    pairs : two ndarrays of int, shape (m,)
        Winners and losers.
    **found : ndarray, shape (m,)
        What `DominanceTests` holds by pair: all of it up to the adjusted p-values, and what else there is.

    Returns
    -------
    DominanceTests
    """
    ratios = estimates.ratios[claim.order - 1]
    no = np.zeros(ratios.shape, dtype=bool)
    squares: dict[str, Any] = {"extrapolated": no, "decided": ~no}
    for name, values in found.items():
        squares[name] = np.full(ratios.shape, _OUTSIDE[name], dtype=values.dtype)
        squares[name][pairs] = values
    statistic, m = claim.statistic(ratios), len(pairs[0])
    return DominanceTests(claim, ratios, statistic, estimates.identical, family=m, **squares)


def better_by(tests: Iterable[DominanceTests | None]) -> Booleans | None:
    """Who is better than whom by some tests of a column; None where none says so, or up to a threshold."""
    found = [one.dominates for one in tests if one is not None and one.claim.kind != ABSOLUTE]
    return np.any(found, axis=0) if found else None


def across_groups(p_values: Sequence[Floats], family: Family = Family()) -> Booleans:
    """Take the tests of several groups for one family.

    Answers: "may I say better in X, worse in Y?"

    Parameters
    ----------
    p_values : sequence of g ndarrays, shapes (k, k)
        Of the same claim on the same k models in every group, before any correction.
    family : Family, optional
        Level and correction.

    Returns
    -------
    ndarray of bool, shape (g, k, k)
        What is significant among the g·k(k − 1) tests; nothing on the diagonals.
    """
    stacked = np.stack(p_values)
    asked = np.broadcast_to(~np.eye(stacked.shape[1], dtype=bool), stacked.shape)
    return family.significant(family.adjusted(stacked, asked)) & asked


def advice_on(
    scores: ClusteredScores, inference: Inference, tests: Sequence[DominanceTests]
) -> tuple[str, ...]:
    """Say what weakens the tests of a column, a sentence each."""
    advice = [*weak_sizes(scores).values()]
    if inference.paper_exact:
        advice.append(
            f"{option('paper_exact', True)} divides the bootstrap standard error by √n once more, as the "
            "paper prints it: at a nominal 5 % this rejects true null hypotheses about half of the time"
        )
        return tuple(advice)
    undecided = sum(int(np.count_nonzero(~found.decided)) for found in tests)
    if any(found.of_means == INSTEAD for found in tests):
        advice.append(
            f"no resample of {min(scores.cluster_counts)} tasks can show dominance in a family of "
            f"{max(found.family for found in tests)} tests: the ranking's tests are Student's, of the macro "
            "means over tasks; more tasks would tell"
        )
    elif undecided and scores.unit == "tasks" and inference.resamples == "auto":
        advice.append(
            f"{undecided} of {sum(found.family for found in tests)} claims are not decided: no resample of "
            f"{min(scores.cluster_counts)} tasks can show p-values so small; more tasks would"
        )
    elif undecided:
        drawn, needed = 0, 0
        for found in tests:
            if found.resamples is not None and found.resamples_needed is not None:
                drawn = max(drawn, int(found.resamples.max()))
                needed = max(needed, int(found.resamples_needed.max()))
        all_tests = sum(found.family for found in tests)
        together = " of all tests together" if len(tests) > 1 else ""
        advice.append(
            f"{undecided} of {all_tests} claims{together} are not decided at {drawn:,} resamples, which "
            f"cannot show p-values so small: {option('resamples', _rounded_up(needed))} would decide them"
        )
    return tuple(advice)


def _rounded_up(number: int) -> int:
    """The next number with two significant digits."""
    unit = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // unit) * unit


def letter_groups(separated: Booleans, order: Sequence[int]) -> list[tuple[int, ...]]:
    """Groups of models that nothing separates, such that every pair nothing separates is in one of them.

    Groups grow greedily in the given order, which finds few of them, not always the fewest.

    Parameters
    ----------
    separated : ndarray of bool, shape (k, k)
        Whether two models are told apart; symmetric.
    order : sequence of k int
        Models, the best first.

    Returns
    -------
    list of tuple of int
        By their first model in the order; a model that is apart from all others is a group of its own.
    """
    together = ~np.asarray(separated, dtype=bool)
    covered = np.eye(len(order), dtype=bool)
    groups: list[tuple[int, ...]] = []
    for at, i in enumerate(order):
        alone = not any(i in group for group in groups)
        for j in order[at + 1 :]:
            if together[i, j] and not covered[i, j]:
                group = [i, j]
                for model in order:
                    if model not in group and all(together[model, member] for member in group):
                        group.append(model)
                covered[np.ix_(group, group)] = True
                groups.append(tuple(model for model in order if model in group))
                alone = False
        if alone:
            groups.append((i,))
    place = {model: number for number, model in enumerate(order)}
    return sorted(groups, key=lambda group: [place[model] for model in group])
