"""A whole analysis by generalized stochastic dominance: relation, diagram, front, tests ([GSD] §6)."""

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

# Relabellings, and entries of their table, so that it takes some hundred megabytes at most.
_FEWEST, _MOST_ENTRIES = 1000, 20_000_000


@dataclass(frozen=True, kw_only=True)
class GsdAnalysis:
    """What generalized stochastic dominance says of k models at one threshold.

    Attributes
    ----------
    threshold : Threshold
    relation : DominanceRelation
    front : ndarray of bool, shape (k,)
        Models in the ε-front of the sample.
    tests : dict of (int, int) to RelabellingTest
        By winner and loser.
    p_adjusted : ndarray, shape (k, k)
        Corrected p-values; NaN where not tested.
    survives : dict of (int, int) to int
        Of significant pairs: how many samples may be arbitrary before they are significant no more,
        correction included. Empty unless asked for.
    family : Family
    """

    threshold: Threshold
    relation: DominanceRelation
    front: Booleans
    tests: dict[tuple[int, int], RelabellingTest]
    p_adjusted: Floats
    survives: dict[tuple[int, int], int]
    family: Family

    @cached_property
    def hasse(self) -> HasseDiagram:
        """The relation as a diagram."""
        return hasse_diagram(self.relation.dominates)

    @property
    def significant(self) -> Booleans:
        """Where dominance in the sample is significant, shape (k, k)."""
        return self.relation.dominates & self.family.significant(self.p_adjusted)

    @property
    def significant_edges(self) -> tuple[bool, ...]:
        """Of each edge of the diagram: whether a test supports it, for some models of both nodes."""
        nodes, significant = self.hasse.nodes, self.significant
        return tuple(bool(significant[np.ix_(nodes[a], nodes[b])].any()) for a, b in self.hasse.edges)

    @property
    def undecided(self) -> Booleans:
        """Where no relabelling contradicts dominance, and there are too few of them to show it."""
        found = np.zeros_like(self.relation.dominates)
        for pair, test in self.tests.items():
            found[pair] = not test.exact and test.p_value * (test.resamples + 1) < 1.5
        return found & self.relation.dominates & ~self.significant

    @property
    def incomparable(self) -> tuple[tuple[int, int], ...]:
        """Pairs of models of which neither dominates the other."""
        either = self.relation.dominates | self.relation.dominates.T
        return tuple((i, j) for i, j in np.argwhere(np.triu(~either, 1)).tolist())

    @property
    def lps_solved(self) -> int:
        """Linear programs solved for relation and tests."""
        return self.relation.lps_solved + sum(test.lps_solved for test in self.tests.values())


def labellings_for(table: QualityTable, family: Family) -> int:
    """Relabellings that can show every pair of a family, five times over, as far as work allows."""
    k = table.models
    wanted = ceil(5 / family.level(max(k * (k - 1), 1)))
    return max(_FEWEST, min(wanted, _MOST_ENTRIES // table.samples))


def analyse(
    utilities: Utilities,
    relabelling: Relabelling,
    epsilon: float = 0.0,
    *,
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> GsdAnalysis:
    """Find the relation of all models and test it.

    Parameters
    ----------
    utilities : Utilities
        By which models are compared.
    relabelling : Relabelling
        How to test.
    epsilon : float
        How nearly a competitor must dominate to keep a model out of the front.
    jobs : int or Workers
        Number of processes; the result does not depend on it.
    progress : callable, optional
        Called with work done, work in all, and what is being done.

    Returns
    -------
    GsdAnalysis

    Raises
    ------
    InputError
        If δ exceeds δ_max; the message says the δ_max of all pairs.
    UsageError
        On a negative ε.
    NumericalError
        If a program cannot be solved for certain.
    """
    if not 0 <= epsilon < np.inf:
        raise UsageError(
            "the epsilon of the front is a difference of utilities",
            found=f"{epsilon:g}",
            hint="give 0 or a small positive number",
        )
    relation, by_pair = dominance_relation(utilities, relabelling, jobs=jobs, progress=progress)
    k = utilities.table.models
    p_values = np.full((k, k), np.nan)
    for pair, test in by_pair.items():
        p_values[pair] = test.p_value
    family = relabelling.family
    p_adjusted = _adjusted(p_values, family)
    significant = relation.dominates & family.significant(p_adjusted)
    return GsdAnalysis(
        threshold=utilities.threshold,
        relation=relation,
        front=empirical_front(relation.optimum, epsilon=epsilon),
        tests=by_pair,
        p_adjusted=p_adjusted,
        survives={
            pair: _survival(pair, test, p_values, family)
            for pair, test in by_pair.items()
            if relabelling.contamination and significant[pair]
        },
        family=family,
    )


def _adjusted(p_values: Floats, family: Family) -> Floats:
    """Correct over all ordered pairs; those not tested count as p = 1 and stay NaN."""
    adjusted = family.adjusted(np.nan_to_num(p_values, nan=1.0), ~np.eye(len(p_values), dtype=bool))
    return np.where(np.isnan(p_values), np.nan, adjusted)


def _survival(pair: tuple[int, int], test: RelabellingTest, p_values: Floats, family: Family) -> int:
    """Largest number of arbitrary samples with which this pair, all else equal, stays significant."""
    survived = 0
    for arbitrary, p_value in enumerate(test.contamination):
        contaminated = p_values.copy()
        contaminated[pair] = p_value
        if not family.significant(_adjusted(contaminated, family)[pair]):
            break
        survived = arbitrary
    return survived
