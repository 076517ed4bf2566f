"""Generalized stochastic dominance analysis: relation, Hasse diagram, front and tests ([GSD] §6)."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from riskrank.engine.family import Family
from riskrank.engine.gsd.front import empirical_front
from riskrank.engine.gsd.null_optima import Relabelling
from riskrank.engine.gsd.parallel import Progress
from riskrank.engine.gsd.preference_system import Threshold
from riskrank.engine.gsd.quality import QualityTable
from riskrank.engine.gsd.relabelling import RelabellingTest, dominance_relation
from riskrank.engine.gsd.relation import DominanceRelation, HasseDiagram, Utilities, hasse_diagram
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import UsageError

# Fewest relabellings, and most entries of their table, which limits it to some hundred megabytes.
_FEWEST, _MOST_ENTRIES = 1000, 20_000_000


@dataclass(frozen=True, kw_only=True)
class GsdAnalysis:
    """Generalized stochastic dominance among k models at one threshold.

    Attributes
    ----------
    threshold : Threshold
    relation : DominanceRelation
    front : ndarray of bool, shape (k,)
        Models in the ε-front of the sample.
    tests : dict of (int, int) to RelabellingTest
        Tests by winner and loser.
    p_adjusted : ndarray, shape (k, k)
        Adjusted p-values; NaN where not tested.
    tolerated_samples : dict of (int, int) to int
        For each significant pair, the largest number of arbitrarily contaminated samples at which it stays
        significant after correction. Empty unless requested.
    family : Family
    """

    threshold: Threshold
    relation: DominanceRelation
    front: Booleans
    tests: dict[tuple[int, int], RelabellingTest]
    p_adjusted: Floats
    tolerated_samples: dict[tuple[int, int], int]
    family: Family

    @cached_property
    def hasse(self) -> HasseDiagram:
        """Hasse diagram of the relation."""
        return hasse_diagram(self.relation.dominates)

    @property
    def significant(self) -> Booleans:
        """Mask of significant dominance, row over column, shape (k, k)."""
        return self.relation.dominates & self.family.significant(self.p_adjusted)

    @property
    def significant_edges(self) -> tuple[bool, ...]:
        """Mask of the Hasse edges with significant dominance between some pair of models of the two nodes."""
        nodes, significant = self.hasse.nodes, self.significant
        return tuple(bool(significant[np.ix_(nodes[a], nodes[b])].any()) for a, b in self.hasse.edges)

    @property
    def undecided(self) -> Booleans:
        """Mask of dominant pairs that need more relabellings to become significant, shape (k, k).

        No relabelling is as extreme as the observed labels, but the smallest possible p-value is too large.
        """
        uncontradicted = np.zeros_like(self.relation.dominates)
        for pair, test in self.tests.items():
            uncontradicted[pair] = not test.exact and test.p_value * (test.resamples + 1) < 1.5
        return uncontradicted & self.relation.dominates & ~self.significant

    @property
    def incomparable(self) -> tuple[tuple[int, int], ...]:
        """Pairs of models neither of which dominates the other."""
        either = self.relation.dominates | self.relation.dominates.T
        return tuple((i, j) for i, j in np.argwhere(np.triu(~either, 1)).tolist())

    @property
    def lps_solved(self) -> int:
        """Number of linear programs solved for the relation and the tests."""
        return self.relation.lps_solved + sum(test.lps_solved for test in self.tests.values())


def relabelling_count(table: QualityTable, family: Family) -> int:
    """Return the number of relabellings for a family: five times the minimum for significance.

    It is limited by the available memory.
    """
    k = table.models
    needed = ceil(5 / family.interval_level(max(k * (k - 1), 1)))
    return max(_FEWEST, min(needed, _MOST_ENTRIES // table.samples))


def analyse_dominance(
    utilities: Utilities,
    relabelling: Relabelling,
    epsilon: float = 0.0,
    *,
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> GsdAnalysis:
    """Compute the dominance relation of all models and test it.

    Parameters
    ----------
    utilities : Utilities
        The utilities by which models are compared.
    relabelling : Relabelling
        Settings of the tests.
    epsilon : float
        Tolerance of the ε-front; see :func:`riskrank.engine.gsd.front.empirical_front`.
    jobs : int or Workers
        Number of processes; the result does not depend on it.
    progress : callable, optional
        Called with the work done, the total work and a description.

    Returns
    -------
    GsdAnalysis

    Raises
    ------
    InputError
        If δ exceeds δ_max, the largest feasible slack of some pair.
    UsageError
        If ε is negative.
    NumericalError
        If a linear program cannot be solved reliably.
    """
    if not 0 <= epsilon < np.inf:
        raise UsageError(
            "the epsilon of the front must not be negative or infinite",
            found=f"{epsilon:g}",
            hint="give 0 or a small positive number",
        )
    relation, by_pair = dominance_relation(utilities, relabelling, jobs=jobs, progress=progress)
    k = utilities.table.models
    p_values = np.full((k, k), np.nan)
    for pair, test in by_pair.items():
        p_values[pair] = test.p_value
    family = relabelling.family
    p_adjusted = _adjust(p_values, family)
    significant = relation.dominates & family.significant(p_adjusted)
    return GsdAnalysis(
        threshold=utilities.threshold,
        relation=relation,
        front=empirical_front(relation.optimum, epsilon=epsilon),
        tests=by_pair,
        p_adjusted=p_adjusted,
        tolerated_samples={
            pair: _tolerated_samples(pair, test, p_values, family)
            for pair, test in by_pair.items()
            if relabelling.contamination and significant[pair]
        },
        family=family,
    )


def _adjust(p_values: Floats, family: Family) -> Floats:
    """Adjust p-values over all pairs; untested pairs enter with p = 1 and stay NaN."""
    adjusted = family.adjust_pairs(np.nan_to_num(p_values, nan=1.0))
    return np.where(np.isnan(p_values), np.nan, adjusted)


def _tolerated_samples(pair: tuple[int, int], test: RelabellingTest, p_values: Floats, family: Family) -> int:
    """Return the largest number of contaminated samples at which a pair stays significant."""
    survived = 0
    for arbitrary, p_value in enumerate(test.contamination):
        contaminated = p_values.copy()
        contaminated[pair] = p_value
        if not family.significant(_adjust(contaminated, family)[pair]):
            break
        survived = arbitrary
    return survived
