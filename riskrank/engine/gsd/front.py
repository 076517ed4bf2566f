"""The front of generalized stochastic dominance, and the utility that decides a comparison (method §6).

A model is in the front when no other model dominates it strictly. The test of the front reverses the
dominance test: for every competitor the null hypothesis is that it dominates the model, and a small optimum
is evidence against it.
"""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.gsd.null_optima import Relabelling
from riskrank.engine.gsd.parallel import Progress
from riskrank.engine.gsd.preference_system import Threshold
from riskrank.engine.gsd.relabelling import RelabellingTest, run_relabelling_tests
from riskrank.engine.gsd.relation import Utilities, sample_masses
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.types import Booleans, Floats


@dataclass(frozen=True)
class FrontTest:
    """Test of whether a model is in the front.

    Attributes
    ----------
    threshold : Threshold
    model : int
    tests : tuple of RelabellingTest
        One test per competitor, which is the ``winner``. A small p-value is evidence that the competitor does
        not dominate the model, the ``loser``.
    """

    threshold: Threshold
    model: int
    tests: tuple[RelabellingTest, ...]

    @property
    def p_value(self) -> float:
        """p-value of the static test: the largest over the competitors, each tested at the full level."""
        return max(test.p_value for test in self.tests)

    def in_front(self, level: float) -> bool:
        """Return the static test: True if every competitor is rejected at the level."""
        return self.p_value <= level

    def rejected(self, level: float) -> tuple[int, ...]:
        """Return the dynamic test: the competitors rejected simultaneously.

        Each is tested at the level divided by their number.
        """
        return tuple(test.winner for test in self.tests if test.p_value <= level / len(self.tests))

    def survives(self, level: float) -> int | None:
        """Return the largest number of arbitrary samples with which the static test still rejects, or None.

        The tests need contamination results up to this level.
        """
        counts = [count for test in self.tests if (count := test.survives(level)) is not None]
        return min(counts) if len(counts) == len(self.tests) else None


@dataclass(frozen=True)
class Witness:
    """A utility that decides a comparison, by quality vector, with the largest contribution first.

    Attributes
    ----------
    threshold : Threshold
    winner, loser : int
        The models.
    optimum : float
        Expected utility of the winner minus that of the loser; negative if there is no dominance.
    slack : float
        Slack on the strict rows.
    values : ndarray, shape (d, n)
        Quality vectors in the units of the scores, larger is better.
    utility : ndarray, shape (d,)
        Utility of each vector.
    winner_share, loser_share : ndarray, shape (d,)
        Share of each model's samples with the vector.
    contribution : ndarray, shape (d,)
        (winner's share - loser's share) × utility; the contributions sum to the optimum.
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
        """Expected utility of the winner and of the loser."""
        return float(self.winner_share @ self.utility), float(self.loser_share @ self.utility)

    def shares_reaching(self, level: float) -> tuple[float, float]:
        """Return the shares of the winner's and the loser's samples with at least this utility."""
        high = self.utility >= level
        return float(self.winner_share[high].sum()), float(self.loser_share[high].sum())

    def decisive_step(self) -> tuple[float, float]:
        """Return the utility level that contributes most against the winner, and its negative contribution.

        The difference of expected utilities is a sum over the levels of utility: the step up to a level times
        the difference of the shares that reach it.
        """
        levels = np.unique(self.utility)
        ahead = self.winner_share - self.loser_share
        beyond = np.array([(ahead * (self.utility >= level)).sum() for level in levels[1:]])
        gains = np.diff(levels) * beyond
        worst = int(np.argmin(gains))
        return float(levels[1:][worst]), float(gains[worst])


def empirical_front(optimum: Floats, *, epsilon: float = 0.0) -> Booleans:
    """Return the models in the ε-front of the sample.

    A model is outside if another's optimum over it is at least -ε while its own optimum over that model is
    negative.

    Parameters
    ----------
    optimum : array_like, shape (k, k)
        Optimum of the row's model over the column's.
    epsilon : float
        Non-negative; how nearly a competitor must dominate.

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
    """Test that a model is in the front.

    Parameters
    ----------
    model : int
    utilities, relabelling, jobs, progress
        As in :func:`riskrank.engine.gsd.relabelling.run_relabelling_tests`.

    Returns
    -------
    FrontTest

    Raises
    ------
    InputError
        If δ exceeds δ_max.
    NumericalError
        If a linear program cannot be solved reliably.
    """
    pairs = [(competitor, model) for competitor in range(utilities.table.models) if competitor != model]
    tests = run_relabelling_tests(utilities, pairs, relabelling, side="less", jobs=jobs, progress=progress)
    return FrontTest(threshold=utilities.threshold, model=model, tests=tests)


def find_witness(utilities: Utilities, winner: int, loser: int) -> Witness:
    """Find the utility under which a model compares worst with another.

    Parameters
    ----------
    utilities : Utilities
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
    shares = [sample_masses(table, polytope.system, model).mean(axis=0) for model in (winner, loser)]
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
