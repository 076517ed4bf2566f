"""Generalized stochastic dominance analysis: relation, Hasse diagram, front and tests ([GSD] §6; method §6).

A model is in the front if no other model strictly dominates it. The front test reverses the dominance test.
The null hypothesis for each competitor is that it dominates the model, and a small optimum is evidence
against it. A witness is the utility behind a comparison.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from riskrank.engine.family import Family
from riskrank.engine.gsd.preference_system import QualityTable, Threshold
from riskrank.engine.gsd.relabelling import (
    Progress,
    Relabelling,
    RelabellingTest,
    dominance_relation,
    run_relabelling_tests,
)
from riskrank.engine.gsd.relation import (
    DominanceRelation,
    HasseDiagram,
    Utilities,
    hasse_diagram,
    sample_distributions,
)
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import UsageError


@dataclass(frozen=True)
class FrontTest:
    """Results of the tests of whether a model is in the front.

    Attributes
    ----------
    threshold : Threshold
        Slack required for strict preferences.
    model : int
        Index of the tested model.
    tests : tuple of RelabellingTest
        One test per competitor, with the competitor as ``winner`` and the model as ``loser``. A small p-value
        is evidence that the competitor does not dominate the model.
    """

    threshold: Threshold
    model: int
    tests: tuple[RelabellingTest, ...]

    @property
    def p_value(self) -> float:
        """P-value of the static test: the largest over all competitors (intersection–union test)."""
        return max(test.p_value for test in self.tests)

    def in_front(self, level: float) -> bool:
        """Return True if the static test rejects that any competitor dominates the model.

        The model is then in the front at significance level `level`.
        """
        return self.p_value <= level

    def rejected(self, level: float) -> tuple[int, ...]:
        """Return the competitors for which the dynamic test rejects that they dominate the model.

        Each competitor is tested at `level` divided by the number of competitors.
        """
        return tuple(test.winner for test in self.tests if test.p_value <= level / len(self.tests))

    def tolerated_samples(self, level: float) -> int | None:
        """Return the largest number of contaminated samples at which the static test still rejects.

        The result is None if it does not reject without contamination. Contamination must have been computed
        up to this level of significance.
        """
        counts = [count for test in self.tests if (count := test.tolerated_samples(level)) is not None]
        return min(counts) if len(counts) == len(self.tests) else None


@dataclass(frozen=True)
class Witness:
    """Utility function under which one model compares worst with another, by quality vector.

    Attributes
    ----------
    threshold : Threshold
        Slack required for strict preferences.
    winner, loser : int
        The models.
    optimum : float
        Expected utility of the winner minus that of the loser; negative without dominance.
    slack : float
        Slack δ of the strict preferences.
    values : ndarray, shape (d, n)
        Quality vectors in the units of the scores (larger is better), largest contribution first.
    utility : ndarray, shape (d,)
        Utility of each vector.
    winner_share, loser_share : ndarray, shape (d,)
        Proportion of each model's samples with the vector.
    contribution : ndarray, shape (d,)
        (winner_share - loser_share) × utility; the contributions sum to the optimum.
    """

    threshold: Threshold
    winner: int
    loser: int
    optimum: float
    slack: float
    values: Floats
    utility: Floats
    winner_share: Floats
    loser_share: Floats
    contribution: Floats

    @property
    def expected(self) -> tuple[float, float]:
        """Expected utility of the winner, and of the loser, under this utility function."""
        return float(self.winner_share @ self.utility), float(self.loser_share @ self.utility)

    def shares_reaching(self, level: float) -> tuple[float, float]:
        """Return the proportions of the winner's and the loser's samples with at least a given utility."""
        reaches = self.utility >= level
        return float(self.winner_share[reaches].sum()), float(self.loser_share[reaches].sum())

    def decisive_step(self) -> tuple[float, float]:
        """Return the utility level that contributes most against the winner, and its contribution.

        The difference in expected utility is a sum over utility levels. Each term is the step up to a level
        times the difference between the proportions that reach it. The returned contribution is negative.
        """
        levels = np.unique(self.utility)
        ahead = self.winner_share - self.loser_share
        beyond = np.array([(ahead * (self.utility >= level)).sum() for level in levels[1:]])
        gains = np.diff(levels) * beyond
        worst = int(np.argmin(gains))
        return float(levels[1:][worst]), float(gains[worst])


def empirical_front(optimum: Floats, *, epsilon: float = 0.0) -> Booleans:
    """Return a mask of the models in the ε-front of the sample.

    A model is excluded if a competitor dominates it up to ε and is not dominated by it. The competitor's
    optimum over the model is then at least -ε, while the model's optimum over the competitor is negative.

    Parameters
    ----------
    optimum : array_like, shape (k, k)
        Smallest difference in expected utility, row minus column.
    epsilon : float
        Non-negative tolerance for near dominance.

    Returns
    -------
    ndarray of bool, shape (k,)
    """
    beats = (optimum >= -epsilon) & (optimum.T < 0)
    np.fill_diagonal(beats, False)
    return np.asarray(~beats.any(axis=0))


def run_front_test(
    utilities: Utilities,
    model: int,
    relabelling: Relabelling = Relabelling(),
    *,
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> FrontTest:
    """Test whether any competitor dominates a model; if all tests reject this, the model is in the front.

    Parameters
    ----------
    model : int
        Index of the model.
    utilities, relabelling, jobs, progress
        As in :func:`riskrank.engine.gsd.relabelling.run_relabelling_tests`.

    Returns
    -------
    FrontTest

    Raises
    ------
    InputError
        If δ exceeds δ_max, the largest feasible slack.
    NumericalError
        If a linear program cannot be solved reliably.
    """
    pairs = [(competitor, model) for competitor in range(utilities.table.models) if competitor != model]
    tests = run_relabelling_tests(utilities, pairs, relabelling, side="less", jobs=jobs, progress=progress)
    return FrontTest(threshold=utilities.threshold, model=model, tests=tests)


def find_witness(utilities: Utilities, winner: int, loser: int) -> Witness:
    """Find the utility function that is least favourable to the winner of a pair of models.

    Parameters
    ----------
    utilities : Utilities
        Utility functions by which models are compared.
    winner, loser : int
        The models of the ordered pair.

    Returns
    -------
    Witness

    Raises
    ------
    InputError, NumericalError
        As in :func:`riskrank.engine.gsd.relabelling.dominance_relation`.
    """
    table = utilities.table
    polytope, slack, _ = utilities.polytope((winner, loser))
    shares = [sample_distributions(table, polytope.system, model).mean(axis=0) for model in (winner, loser)]
    optimum = polytope.minimise(shares[0] - shares[1])
    contribution = (shares[0] - shares[1]) * optimum.utility
    order = np.argsort(-np.abs(contribution), kind="stable")
    return Witness(
        threshold=utilities.threshold,
        winner=winner,
        loser=loser,
        optimum=optimum.value,
        slack=slack,
        values=table.decode(polytope.system.vectors[order]),
        utility=optimum.utility[order],
        winner_share=shares[0][order],
        loser_share=shares[1][order],
        contribution=contribution[order],
    )


# Fewest relabellings, and most entries of their table, which limits it to some hundred megabytes.
_FEWEST, _MOST_ENTRIES = 1000, 20_000_000


@dataclass(frozen=True, kw_only=True)
class GsdAnalysis:
    """Generalized stochastic dominance among k models at one threshold.

    Attributes
    ----------
    threshold : Threshold
        Slack required for strict preferences.
    relation : DominanceRelation
        Dominance between models in the sample.
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
        Level and correction for multiple tests.
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
        """Hasse diagram of the dominance relation."""
        return hasse_diagram(self.relation.dominates)

    @property
    def significant(self) -> Booleans:
        """Mask of significant dominance of the model in the row over that in the column, shape (k, k)."""
        return self.relation.dominates & self.family.significant(self.p_adjusted)

    @property
    def significant_edges(self) -> tuple[bool, ...]:
        """For each edge of the Hasse diagram, True if it is significant.

        An edge is significant if a model in its upper node significantly dominates a model in its lower node.
        """
        nodes, significant = self.hasse.nodes, self.significant
        return tuple(bool(significant[np.ix_(nodes[a], nodes[b])].any()) for a, b in self.hasse.edges)

    @property
    def undecided(self) -> Booleans:
        """Mask of the pairs that might become significant with more relabellings, shape (k, k).

        For these pairs, no relabelling is as extreme as the observed labels, but the smallest possible
        p-value is above the level.
        """
        uncontradicted = np.zeros_like(self.relation.dominates)
        for pair, test in self.tests.items():
            uncontradicted[pair] = test.is_uncontradicted
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
    """Return the number of relabellings to use for all tests of a family.

    It is five times as large as significance requires, but limited by the available memory.
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
        Tolerance of the ε-front; see :func:`riskrank.engine.gsd.analysis.empirical_front`.
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
        problem = "the epsilon of the front must not be negative or infinite"
        raise UsageError(problem, found=f"{epsilon:g}", hint="give 0 or a small positive number")
    relation, by_pair = dominance_relation(utilities, relabelling, jobs=jobs, progress=progress)
    k = utilities.table.models
    p_values = np.full((k, k), np.nan)
    for pair, test in by_pair.items():
        p_values[pair] = test.p_value
    family = relabelling.family
    p_adjusted = _adjust_tested_pairs(p_values, family)
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


def _adjust_tested_pairs(p_values: Floats, family: Family) -> Floats:
    """Adjust the p-values of ordered pairs, shape (k, k); NaN marks pairs that are not tested.

    They count as p = 1 in the correction, and stay NaN.
    """
    adjusted = family.adjust_pairs(np.nan_to_num(p_values, nan=1.0))
    return np.where(np.isnan(p_values), np.nan, adjusted)


def _tolerated_samples(pair: tuple[int, int], test: RelabellingTest, p_values: Floats, family: Family) -> int:
    """Return the largest number of contaminated samples at which the dominance of a pair stays significant.

    `test` is the test of the pair, and `p_values` holds the unadjusted p-values of all pairs, shape (k, k).
    """
    survived = 0
    for arbitrary, p_value in enumerate(test.contamination):
        contaminated = p_values.copy()
        contaminated[pair] = p_value
        if not family.significant(_adjust_tested_pairs(contaminated, family)[pair]):
            break
        survived = arbitrary
    return survived
