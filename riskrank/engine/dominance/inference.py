"""Settings for dominance tests (resamples, level, correction, seed) and the claims to test (method §4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Literal

import numpy as np

from riskrank.engine.dominance.ranking import ViolationEstimates, estimate_violation
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.family import Family
from riskrank.engine.sampling.degrees_of_freedom import Dof, unexpanded_p_value
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.sampling.resamples import BLOCK
from riskrank.engine.types import Floats, Integers
from riskrank.errors import UsageError

# [RAB] section 5 reports absolute tests at these thresholds.
PAPER_THRESHOLDS = (0.08, 0.25, 0.4)

DIRECT, ABSOLUTE, RELATIVE = "direct", "absolute", "relative"


@dataclass(frozen=True)
class Claim:
    """Claim that model i dominates model j, in one of several forms.

    Attributes
    ----------
    order : {1, 2}
        Order of stochastic dominance.
    kind : {"direct", "absolute", "relative"}
        Let ε_ij be the violation ratio of "i dominates j", and ε_i its mean over all j. A "direct" claim is
        that ε_ij < ½, an "absolute" claim that ε_ij < τ, and a "relative" claim that ε_i < ε_j. Only relative
        claims depend on other models.
    threshold : float or None
        Upper bound τ on the violation ratio for absolute dominance; None for the other kinds.
    """

    order: int
    kind: str = RELATIVE
    threshold: float | None = None

    def __post_init__(self) -> None:
        """Raise a UsageError unless the threshold is between 0 and 1."""
        if self.threshold is not None and not 0 < self.threshold < 1:
            problem = "a threshold for almost stochastic dominance must be between 0 and 1"
            hint = "the usual thresholds are 0.08, 0.25 and 0.4; at 0.5 or above both models may dominate"
            raise UsageError(problem, found=f"{self.threshold:g}", hint=hint)

    @property
    def boundary(self) -> float:
        """Upper bound on the statistic: τ for absolute, ½ for direct and 0 for relative claims."""
        if self.threshold is not None:
            return self.threshold
        return 0.5 if self.kind == DIRECT else 0.0

    @property
    def method(self) -> str:
        """Name of the corresponding ranking method in [RAB], e.g. ``R-SSD`` or ``FSD(0.25)``."""
        order = "FSD" if self.order == 1 else "SSD"
        return f"R-{order}" if self.kind == RELATIVE else f"{order}({self.boundary:g})"

    def statistic(self, ratios: Floats) -> Floats:
        """Compute the test statistic of the claim for every pair of models from their violation ratios.

        Both arrays have shape (..., k, k).
        """
        if self.kind != RELATIVE:
            return ratios
        overall = one_versus_all(ratios)
        return overall[..., :, None] - overall[..., None, :]


def build_claims(
    orders: Sequence[int], *, relative: bool, thresholds: Sequence[float], direct: bool = False
) -> tuple[Claim, ...]:
    """Return the claims to test: relative ones, then direct ones, then absolute ones.

    There is one claim per order of dominance, and for absolute claims one per order and threshold.
    """
    result = [Claim(order, RELATIVE) for order in orders] if relative else []
    result += [Claim(order, DIRECT) for order in orders] if direct else []
    result += [Claim(order, ABSOLUTE, float(tau)) for order in orders for tau in thresholds]
    return tuple(result)


@dataclass(frozen=True)
class ColumnClaims:
    """A column of scores and the claims to test on it.

    Attributes
    ----------
    scores : ClusteredScores
        Scores of k models.
    claims : tuple of Claim
        Claims of dominance to test.
    pairs : tuple of (int, int), or None
        Ordered pairs (winner, loser) that form the family of each claim; None for all k(k - 1).
    """

    scores: ClusteredScores
    claims: tuple[Claim, ...]
    pairs: tuple[tuple[int, int], ...] | None = None

    @cached_property
    def estimates(self) -> ViolationEstimates:
        """Violation ratios and means in the sample."""
        return estimate_violation(self.scores)

    @cached_property
    def flip_p_values(self) -> dict[float, dict[int, Floats]]:
        """Cache of sign-flip p-values by level, then by order of dominance; it is filled by the tests."""
        return {}


# Resamples of the first round, and of tests without a family.
FIRST_ROUND = 1000

# Upper limit of the number of resamples in hints.
MAX_RESAMPLES = 10**15

# Limit of score comparisons; a family that needs more gets fewer resamples.
WORK_LIMIT = 1e9


@dataclass(frozen=True)
class Inference:
    """Settings for dominance tests.

    Attributes
    ----------
    resamples : int or "auto"
        Number of bootstrap resamples B; "auto" adds rounds of resamples as the family of tests requires.
    family : Family
        Significance level α and correction for multiple tests; each direction is a separate family.
    seed : int
        Entropy of the random streams.
    jobs : int or Workers
        Number of worker processes, or existing workers.
    test : bool
        If False, nothing is resampled, and verdicts are taken directly from the sample estimates.
    paper_exact : bool
        Use the rejection rule of [RAB] Algorithm 1 exactly as printed.
    variance : {"bootstrap", "clt"}
        Compute standard errors and p-values by resampling or from influence functions.
    work_limit : float
        Upper limit on pairs · samples · resamples with "auto"; at least 1000 resamples are always drawn.
    """

    resamples: int | Literal["auto"] = "auto"
    family: Family = Family(sides=1)
    seed: int = 0
    jobs: Jobs = 1
    test: bool = True
    paper_exact: bool = False
    variance: str = "bootstrap"
    work_limit: float = WORK_LIMIT

    @property
    def uses_resampling(self) -> bool:
        """True if the tests are based on resampling."""
        return self.test and self.variance == "bootstrap"

    def claim_family(self, claim: Claim, pairs: tuple[Integers, Integers]) -> Family:
        """Return the family of tests of one claim for given pairs of models.

        `pairs` holds the indices of the winners and of the losers. The two directions of a pair are opposite
        claims, unless a threshold above ½ allows both to be true.
        """
        directed = {*zip(*(side.tolist() for side in pairs), strict=True)}
        opposite = claim.boundary <= 0.5 and directed == {pair[::-1] for pair in directed}
        return replace(self.family, per_rejection=1 + opposite)

    def round_totals(self, tests: int, work: float, samples: float | Dof) -> tuple[int, ...]:
        """Return the cumulative number of resamples after each round (method §4, rule 2).

        Parameters
        ----------
        tests : int
            Number of tests in one family, m.
        work : float
            Score comparisons per resample.
        samples : float or Dof
            Smallest number of independent samples over all pairs, or degrees of freedom.

        Returns
        -------
        tuple of int
            The totals 1000, 2/s and 5/s, reduced if they exceed the work limit. Here s is the expected
            proportion of resamples that cross the boundary if the p-value is α/m. If `resamples` is a number,
            it is the only total.
        """
        if self.resamples != "auto":
            return (int(self.resamples),)
        if self.paper_exact:
            return (FIRST_ROUND,)
        most = max(FIRST_ROUND, int(min(self.work_limit / max(work, 1.0), MAX_RESAMPLES)) // BLOCK * BLOCK)
        if most < self.planned_resamples(tests, samples, 1):
            # No count can reach the strictest level, so draw no more than a large sample would need.
            most = min(most, self.planned_resamples(tests, np.inf))
        plan = (FIRST_ROUND, *(self.planned_resamples(tests, samples, crossings) for crossings in (2, 5)))
        return tuple(sorted({max(FIRST_ROUND, min(total, most)) for total in plan}))

    def planned_resamples(self, tests: int, samples: float | Dof, crossings: float = 5) -> int:
        """Return the number of resamples needed to resolve p-values near α/m, in complete blocks.

        The number is `crossings`/s (method §4, rules 1 and 2). s is the expected proportion of resamples that
        cross the boundary if the expanded percentile p-value is α/m.

        Parameters
        ----------
        tests : int
            Number of tests in one family, m.
        samples : float or Dof
            Number of independent samples n, or degrees of freedom, for the small-sample expansion of the
            percentile. Infinity disables the expansion.
        crossings : float
            Expected number of resamples that cross the boundary at a p-value of α/m.
        """
        level = self.family.interval_level(tests)
        plain = not isinstance(samples, Dof) and np.isinf(samples)
        share = level if plain else float(unexpanded_p_value(level, samples))
        count = min(ceil(crossings / max(share, 1 / MAX_RESAMPLES) * (1 - 1e-12)), MAX_RESAMPLES)
        return max(FIRST_ROUND, -(-count // BLOCK) * BLOCK)
