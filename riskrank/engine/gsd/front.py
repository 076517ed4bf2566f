"""The front of generalized stochastic dominance, and the utilities behind a comparison (method §6).

A model is in the front if no other model strictly dominates it. The front test reverses the dominance test.
The null hypothesis for each competitor is that it dominates the model, and a small optimum is evidence
against it.
"""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.gsd.null_optima import Relabelling
from riskrank.engine.gsd.parallel import Progress
from riskrank.engine.gsd.preference_system import Threshold
from riskrank.engine.gsd.relabelling import RelabellingTest, run_relabelling_tests
from riskrank.engine.gsd.relation import Utilities, sample_distributions
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.types import Booleans, Floats


@dataclass(frozen=True)
class FrontTest:
    """Results of the tests of whether a model is in the front.

    Attributes
    ----------
    threshold : Threshold
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
        """Return the result of the static test: True if dominance is rejected for every competitor."""
        return self.p_value <= level

    def rejected(self, level: float) -> tuple[int, ...]:
        """Return the result of the dynamic test: the competitors whose dominance is rejected simultaneously.

        Each is tested at the level divided by the number of competitors.
        """
        return tuple(test.winner for test in self.tests if test.p_value <= level / len(self.tests))

    def tolerated_samples(self, level: float) -> int | None:
        """Return the largest number of contaminated samples at which the static test still rejects, or None.

        Contamination must have been computed up to this level.
        """
        counts = [count for test in self.tests if (count := test.tolerated_samples(level)) is not None]
        return min(counts) if len(counts) == len(self.tests) else None


@dataclass(frozen=True)
class Witness:
    """Utility function under which one model compares worst with another, by quality vector.

    Attributes
    ----------
    threshold : Threshold
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
        """Expected utility of the winner and of the loser."""
        return float(self.winner_share @ self.utility), float(self.loser_share @ self.utility)

    def shares_reaching(self, level: float) -> tuple[float, float]:
        """Return the proportions of the winner's and the loser's samples with at least this utility."""
        high = self.utility >= level
        return float(self.winner_share[high].sum()), float(self.loser_share[high].sum())

    def decisive_step(self) -> tuple[float, float]:
        """Return the utility level that contributes most against the winner, and its (negative) contribution.

        The difference in expected utility is a sum over utility levels. Each term is the step up to a level
        times the difference between the proportions that reach it.
        """
        levels = np.unique(self.utility)
        ahead = self.winner_share - self.loser_share
        beyond = np.array([(ahead * (self.utility >= level)).sum() for level in levels[1:]])
        gains = np.diff(levels) * beyond
        worst = int(np.argmin(gains))
        return float(levels[1:][worst]), float(gains[worst])


def empirical_front(optimum: Floats, *, epsilon: float = 0.0) -> Booleans:
    """Return the models in the ε-front of the sample.

    A model is excluded if some competitor's optimum over it is at least -ε, while its own optimum over that
    competitor is negative.

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
    """Test whether a model is in the front.

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
    """Find the utility function under which one model compares worst with another.

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
