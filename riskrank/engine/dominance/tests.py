"""Tests of almost and relative stochastic dominance between all ordered pairs of models.

Source: [RAB] sections 2 and 3, Algorithm 1; method §3 and §4, which corrects the rejection rule of Algorithm
1.

`significant_across_groups` tests whether a model is better in one group of samples and worse in another
(method §4, "What a verdict may say"). Each group is tested separately, so such a claim is selected among
groups × pairs. Without a correction for all of them, 16 % of tables with identical models yield such a claim.

`letter_groups` computes a compact letter display: two models share a letter if and only if they are not
significantly different.

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
from riskrank.engine.sampling.design import ClusteredScores, size_warnings
from riskrank.engine.sampling.monte_carlo import SMALLEST, UpperBound, required_resamples
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import option

Pairs = Sequence[tuple[int, int]]

# Student's test of the task means must agree with a claim, or replaces it.
COMBINED, REPLACED = "alongside", "instead"


@dataclass(frozen=True)
class DominanceTests:
    """Verdicts on all ordered pairs of models; entry ``[i, j]`` refers to "i dominates j".

    The diagonal is meaningless.

    Pairs outside the family have p-values of 1 and no dominance.

    Attributes
    ----------
    claim : Claim
        Claim that was tested.
    ratios : ndarray, shape (k, k)
        Violation ratios.
    statistic : ndarray, shape (k, k)
        Test statistic: violation ratio, or difference of one-versus-all ratios for relative dominance.
    identical : ndarray of bool, shape (k, k)
        True for pairs with equal empirical distributions.
    dominates : ndarray of bool, shape (k, k)
        True where the adjusted p-value is at most α or, without a test, the statistic is below its boundary.
    standard_error, p_value, p_adjusted : ndarray, shape (k, k), or None
        Standard error of the statistic, p-value and adjusted p-value; None without a test.
    extrapolated : ndarray of bool, shape (k, k)
        True where the claim was decided by tail extrapolation.
    decided : ndarray of bool, shape (k, k)
        False where there are too few resamples for the claim to become significant.
    crossings : ndarray of int, shape (k, k), or None
        Number of these resamples with the statistic at or above its boundary.
    p_low, p_high : ndarray, shape (k, k), or None
        Monte Carlo limits of the p-values.
    resamples : ndarray of int, shape (k, k), or None
        Number of resamples after which the claim was decided.
    resamples_needed : ndarray of int, shape (k, k), or None
        Number of resamples that would decide an undecided claim; 0 for decided claims.
    family : int
        Number of tests in the family, m.
    mean_test : {"", "alongside", "instead"}
        Role of Student's test of the means of sampled tasks: not used, required in addition, or used instead
        of claims that cannot be confirmed by resampling few tasks.
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
    p_low: Floats | None = None
    p_high: Floats | None = None
    family: int = 0
    mean_test: str = ""

    def bounded_p_value(self, pair: tuple[int, int]) -> float:
        """Return the adjusted p-value of a pair, as an upper bound if no resample contradicts the claim."""
        assert self.p_adjusted is not None
        bounded = self.p_low is not None and self.p_low[pair] <= SMALLEST
        return (UpperBound if bounded else float)(self.p_adjusted[pair])

    def safe_resamples(self, level: float) -> Floats:
        """Return the number of resamples that makes each decision independent of the seed, shape (k, k).

        It is 0 if the Monte Carlo interval of the adjusted p-value excludes `level`.
        """
        if self.p_low is None or self.p_high is None or self.p_value is None or self.resamples is None:
            return np.zeros(self.ratios.shape)
        assert self.p_adjusted is not None
        factor = self.p_adjusted / np.maximum(self.p_value, 1e-300)
        limits = factor * self.p_low, factor * self.p_high
        return required_resamples(self.p_adjusted, *limits, level, self.resamples)

    @property
    def one_versus_all(self) -> Floats:
        """Mean violation ratio of each model over all others, shape (k,)."""
        return one_versus_all(self.ratios)

    def letter_groups(self, order: Integers) -> list[tuple[int, ...]]:
        """Return groups of models that are not significantly different from each other.

        `order` lists the models, best first; it determines the order of groups and members. See
        :func:`letter_groups`.
        """
        return letter_groups(self.dominates | self.dominates.T, order.tolist())


def sample_dominance(estimates: ViolationEstimates, claim: Claim) -> DominanceTests:
    """Return the dominance relations of all ordered pairs in the sample, without a test.

    Parameters
    ----------
    estimates : ViolationEstimates
        Violation ratios and means in the sample.
    claim : Claim
        Claim of dominance to test.

    Returns
    -------
    DominanceTests
        Results without p-values; ``dominates`` is True where the statistic is below its boundary.
    """
    ratios = estimates.ratios[claim.order - 1]
    statistic = claim.statistic(ratios)
    below = (statistic < claim.boundary) & ~np.eye(len(ratios), dtype=bool)
    none = np.zeros_like(below)
    return DominanceTests(claim, ratios, statistic, estimates.identical, below, None, None, None, none, ~none)


def family_pairs(k: int, pairs: Pairs | None) -> tuple[Integers, Integers]:
    """Return the winners and the losers of the ordered pairs in a family, without duplicates.

    By default, the family contains all ordered pairs of the k models.
    """
    if pairs is None:
        winners, losers = np.nonzero(~np.eye(k, dtype=bool))
        return winners, losers
    unique = np.array(list(dict.fromkeys(pairs)), dtype=np.int64)
    return unique[:, 0], unique[:, 1]


# Values for pairs outside a family; those of all other attributes are 0 or False.
_OUTSIDE = {"p_value": 1, "p_adjusted": 1, "decided": True}


def arrange_tests(
    estimates: ViolationEstimates, claim: Claim, pairs: tuple[Integers, Integers], **arrays: NDArray
) -> DominanceTests:
    """Arrange test results for a family of pairs in arrays of shape (k, k).

    Pairs outside the family get no dominance and p-values of 1.

    Parameters
    ----------
    estimates : ViolationEstimates
        Violation ratios and means in the sample.
    claim : Claim
        Claim of dominance to test.
    pairs : two ndarrays of int, shape (m,)
        Winner and loser of each pair.
    **arrays : ndarray, shape (m,)
        Values of `DominanceTests` attributes by pair. Standard errors, p-values, adjusted p-values and
        ``dominates`` are required.

    Returns
    -------
    DominanceTests
    """
    ratios = estimates.ratios[claim.order - 1]
    none = np.zeros(ratios.shape, dtype=bool)
    tables: dict[str, Any] = {"extrapolated": none, "decided": ~none}
    for name, values in arrays.items():
        tables[name] = np.full(ratios.shape, _OUTSIDE.get(name, 0), dtype=values.dtype)
        tables[name][pairs] = values
    statistic, m = claim.statistic(ratios), len(pairs[0])
    return DominanceTests(claim, ratios, statistic, estimates.identical, family=m, **tables)


def significant_wins(tests: Iterable[DominanceTests | None]) -> Booleans | None:
    """Return a mask of the pairs for which a test of a relative or direct claim is significant.

    The mask has shape (k, k). It is None if no such claim was tested.
    """
    verdicts = [test.dominates for test in tests if test is not None and test.claim.kind != ABSOLUTE]
    return np.any(verdicts, axis=0) if verdicts else None


def significant_across_groups(p_values: Sequence[Floats], family: Family = Family()) -> Booleans:
    """Test the same claims in several groups as a single family.

    This makes it valid to conclude that a model is better in one group and worse in another.

    Parameters
    ----------
    p_values : sequence of g ndarrays, shapes (k, k)
        Unadjusted p-values of the same claim for the same k models, by group.
    family : Family, optional
        Level and correction.

    Returns
    -------
    ndarray of bool, shape (g, k, k)
        True where significant in the family of g·k(k − 1)/2 pairs; False on the diagonals.
    """
    return family.significant(family.adjust_pairs(np.stack(p_values)))


def collect_advice(
    scores: ClusteredScores, inference: Inference, tests: Sequence[DominanceTests]
) -> tuple[str, ...]:
    """Return warnings about the tests on one column of scores.

    They concern small samples, the rejection rule of the paper, and undecided claims.
    """
    advice = [*size_warnings(scores).values()]
    if inference.paper_exact:
        advice.append(
            f"{option('paper_exact', True)} divides the bootstrap standard error by √n twice, as printed in "
            "the paper, and rejects about half of all true null hypotheses at a nominal 5 %"
        )
        return tuple(advice)
    undecided = sum(int(np.count_nonzero(~test.decided)) for test in tests)
    if any(test.mean_test == REPLACED for test in tests):
        advice.append(
            f"{min(scores.cluster_counts)} tasks are too few to establish dominance by resampling in "
            f"{max(test.family for test in tests)} tests, so the ranking uses Student's t tests of means "
            "over tasks; add tasks to test dominance"
        )
    elif undecided and scores.unit_name == "tasks" and inference.resamples == "auto":
        advice.append(
            f"{undecided} of {sum(test.family for test in tests)} claims are not decided, because "
            f"{min(scores.cluster_counts)} tasks are too few to resample for such small p-values; add tasks"
        )
    elif undecided:
        resamples, needed = 0, 0
        for test in tests:
            if test.resamples is not None and test.resamples_needed is not None:
                resamples = max(resamples, int(test.resamples.max()))
                needed = max(needed, int(test.resamples_needed.max()))
        all_tests = sum(test.family for test in tests)
        together = ", counted over all tests," if len(tests) > 1 else ""
        unit = 10 ** max(len(str(needed)) - 2, 0)
        rounded = -(-needed // unit) * unit
        advice.append(
            f"{undecided} of {all_tests} claims{together} are not decided, because {resamples:,} resamples "
            f"are too few for such small p-values: {option('resamples', rounded)} would decide them"
        )
    return tuple(advice)


def letter_groups(separated: Booleans, order: Sequence[int]) -> list[tuple[int, ...]]:
    """Return groups of models such that two models share a group if and only if they are not separated.

    Models are added to groups greedily in the given order, which does not always minimise the number of
    groups.

    Parameters
    ----------
    separated : ndarray of bool, shape (k, k)
        True where two models are significantly different; symmetric.
    order : sequence of k int
        Models, the best first.

    Returns
    -------
    list of tuple of int
        Sorted by first member; a model that is separated from all others forms a group by itself.
    """
    together = ~np.asarray(separated, dtype=bool)
    covered = np.eye(len(order), dtype=bool)
    groups: list[tuple[int, ...]] = []
    for position, i in enumerate(order):
        alone = not any(i in group for group in groups)
        for j in order[position + 1 :]:
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
    positions = {model: position for position, model in enumerate(order)}
    return sorted(groups, key=lambda group: [positions[model] for model in group])
