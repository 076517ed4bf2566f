"""How dominance is tested: resamples, level, correction, seed.

What a test of dominance claims about a pair of models (method §4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Literal

import numpy as np

from riskrank.engine.dominance.ranking import ViolationEstimates, estimate
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.family import Family
from riskrank.engine.sampling.degrees_of_freedom import Freedom, expanded_share
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.sampling.resamples import BLOCK
from riskrank.engine.types import Floats
from riskrank.errors import UsageError

# [RAB] section 5 reports absolute tests at these thresholds.
PAPER_THRESHOLDS = (0.08, 0.25, 0.4)

DIRECT, ABSOLUTE, RELATIVE = "direct", "absolute", "relative"


@dataclass(frozen=True)
class Claim:
    """What a test asks about "i dominates j".

    Attributes
    ----------
    order : {1, 2}
        Order of stochastic dominance.
    kind : {"direct", "absolute", "relative"}
        Direct: i violates dominance less than j does, ε_ij < ½, whoever else is in the table. Absolute:
        ε_ij < τ. Relative: i violates dominance over the field less than j does, ε_i < ε_j.
    threshold : float or None
        Largest violation ratio τ of absolute dominance; None for the other kinds.
    """

    order: int
    kind: str = RELATIVE
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise UsageError(
                "a threshold of almost dominance lies between 0 and 1",
                found=f"{self.threshold:g}",
                hint="the usual thresholds are 0.08, 0.25 and 0.4; at 0.5 or above both models may dominate",
            )

    @property
    def boundary(self) -> float:
        """Value the statistic must stay below: τ, ½ for direct dominance, 0 for relative."""
        if self.threshold is not None:
            return self.threshold
        return 0.5 if self.kind == DIRECT else 0.0

    @property
    def method(self) -> str:
        """Name of the claim's ranking as [RAB] writes it: ``R-SSD``, ``FSD(0.25)``."""
        order = "FSD" if self.order == 1 else "SSD"
        return f"R-{order}" if self.kind == RELATIVE else f"{order}({self.boundary:g})"

    def statistic(self, ratios: Floats) -> Floats:
        """Test statistic of every ordered pair from its violation ratios, shape (..., k, k)."""
        if self.kind != RELATIVE:
            return ratios
        overall = one_versus_all(ratios)
        return overall[..., :, None] - overall[..., None, :]


def claims(
    orders: Sequence[int], *, relative: bool, thresholds: Sequence[float], direct: bool = False
) -> tuple[Claim, ...]:
    """All claims of a run: relative ones first, then direct ones, then absolute ones by threshold."""
    found = [Claim(order, RELATIVE) for order in orders] if relative else []
    found += [Claim(order, DIRECT) for order in orders] if direct else []
    found += [Claim(order, ABSOLUTE, float(tau)) for order in orders for tau in thresholds]
    return tuple(found)


@dataclass(frozen=True)
class Question:
    """A column of scores and what to find out about it.

    Attributes
    ----------
    scores : ClusteredScores
        k models' scores.
    claims : tuple of Claim
        What to test.
    pairs : tuple of (int, int), or None
        Ordered pairs (winner, loser) that make up the family of each claim; None for all k(k - 1).
    """

    scores: ClusteredScores
    claims: tuple[Claim, ...]
    pairs: tuple[tuple[int, int], ...] | None = None

    @cached_property
    def estimates(self) -> ViolationEstimates:
        """Ratios of the sample."""
        return estimate(self.scores)


# Resamples of the first round, and of a test whose number of resamples follows no family.
FIRST_ROUND = 1000

# Resamples nobody will ever draw; a hint names no more.
MOST = 10**15

# Score comparisons that a family's own number of resamples may cost before the last round comes earlier.
WORK_LIMIT = 1e9


@dataclass(frozen=True)
class Inference:
    """How to test.

    Attributes
    ----------
    resamples : int or "auto"
        Bootstrap resamples, B; "auto" takes as many as the family of tests needs, in rounds.
    family : Family
        Claims that are decided together, each direction by itself.
    seed : int
        Entropy of the random streams.
    jobs : int or Workers
        Processes, or the workers there are.
    test : bool
        Without a test there is no resampling and verdicts are those of the sample.
    paper_exact : bool
        Reject as [RAB] Algorithm 1 prints it.
    variance : {"bootstrap", "clt"}
        Standard errors and p-values from resampling, or from influence functions.
    work_limit : float
        With "auto", pairs · samples · resamples stay below it, though never below 1000 resamples.
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
    def resampled(self) -> bool:
        """Whether anything is resampled."""
        return self.test and self.variance == "bootstrap"

    def rounds(self, tests: int, work: float, samples: float | Freedom) -> tuple[int, ...]:
        """Totals of resamples after each round (method §4, rule 2).

        Parameters
        ----------
        tests : int
            Tests in one family, m.
        work : float
            Score comparisons a resample costs.
        samples : float or Freedom
            Independent samples behind the pair that has fewest, or degrees of freedom.

        Returns
        -------
        tuple of int
            1000, 2/s and 5/s where the limit of work allows them; the number asked for otherwise.
        """
        if self.resamples != "auto":
            return (int(self.resamples),)
        if self.paper_exact:
            return (FIRST_ROUND,)
        most = max(FIRST_ROUND, int(min(self.work_limit / max(work, 1.0), MOST)) // BLOCK * BLOCK)
        if most < self.planned(tests, samples, 1):
            # No count can reach the strictest level: no more are drawn than many samples would need.
            most = min(most, self.planned(tests, np.inf))
        wanted = (FIRST_ROUND, *(self.planned(tests, samples, crossings) for crossings in (2, 5)))
        return tuple(sorted({max(FIRST_ROUND, min(total, most)) for total in wanted}))

    def planned(self, tests: int, samples: float | Freedom, crossings: float = 5) -> int:
        """Resamples that make 1/(B + 1) small beside s, the share rule 1 turns into α/m, in whole blocks.

        Parameters
        ----------
        tests : int
            Tests in one family, m.
        samples : float or Freedom
            Independent samples n, by which rule 1 widens; infinite for no widening.
        crossings : float
            Crossings to be expected where the p-value is α/m.
        """
        level = self.family.level(tests)
        plain = not isinstance(samples, Freedom) and np.isinf(samples)
        share = level if plain else float(expanded_share(level, samples))
        wanted = min(ceil(crossings / max(share, 1 / MOST) * (1 - 1e-12)), MOST)
        return max(FIRST_ROUND, -(-wanted // BLOCK) * BLOCK)
