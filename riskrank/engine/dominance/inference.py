"""How dominance is tested: resamples, level, correction, seed."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np

from riskrank.engine.family import Family
from riskrank.engine.sampling.freedom import Freedom, expanded_share
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.sampling.resamples import BLOCK

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
        most = max(FIRST_ROUND, int(self.work_limit / max(work, 1.0)) // BLOCK * BLOCK)
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
