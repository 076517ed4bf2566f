"""The front of generalized stochastic dominance, and the utility behind a verdict (method §6).

A model is in the front when no other dominates it strictly. Its test turns the dominance test round: for
every competitor the hypothesis is that the competitor dominates, and a small optimum speaks against it.
"""

from dataclasses import dataclass

import numpy as np

from riskrank.engine.gsd.null_optima import Relabelling
from riskrank.engine.gsd.parallel import Progress
from riskrank.engine.gsd.preference_system import Threshold
from riskrank.engine.gsd.relabelling import RelabellingTest, relabelling_tests
from riskrank.engine.gsd.relation import Utilities, sample_masses
from riskrank.engine.sampling.processes import Jobs
from riskrank.engine.types import Booleans, Floats


@dataclass(frozen=True)
class FrontTest:
    """Whether a model is in the front.

    Attributes
    ----------
    threshold : Threshold
    model : int
        The model.
    tests : tuple of RelabellingTest
        One a competitor, ``winner``; small p-values say that it does not dominate the model, ``loser``.
    """

    threshold: Threshold
    model: int
    tests: tuple[RelabellingTest, ...]

    @property
    def p_value(self) -> float:
        """p-value of the static test: the largest of all competitors, each tested at the full level."""
        return max(test.p_value for test in self.tests)

    def in_front(self, level: float) -> bool:
        """Static test: whether every competitor is rejected at the level."""
        return self.p_value <= level

    def rejected(self, level: float) -> tuple[int, ...]:
        """Dynamic test: competitors rejected at the level divided by their number, valid together."""
        return tuple(test.winner for test in self.tests if test.p_value <= level / len(self.tests))

    def survives(self, level: float) -> int | None:
        """Largest number of arbitrary samples with which the static test still rejects, or None.

        Needs tests that were asked for contamination up to this level.
        """
        held = [count for test in self.tests if (count := test.survives(level)) is not None]
        return min(held) if len(held) == len(self.tests) else None


@dataclass(frozen=True)
class Witness:
    """A utility that decides a comparison, vector by vector, the largest contribution first.

    Attributes
    ----------
    threshold : Threshold
    winner, loser : int
        The models.
    optimum : float
        Expected utility of the winner less that of the loser; negative where there is no dominance.
    slack : float
        The slack on the strict rows.
    values : ndarray, shape (d, n)
        Quality vectors in the units of the scores, larger is better.
    utility : ndarray, shape (d,)
        The utility of each.
    winner_share, loser_share : ndarray, shape (d,)
        How often each model attains the vector.
    contribution : ndarray, shape (d,)
        (winner's share - loser's share) × utility; they add up to the optimum.
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

    def reaching(self, level: float) -> tuple[float, float]:
        """Shares of the winner's and of the loser's samples with at least this utility."""
        high = self.utility >= level
        return float(self.winner_share[high].sum()), float(self.loser_share[high].sum())

    def decisive_step(self) -> tuple[float, float]:
        """The utility whose reaching costs the winner most, and what it gains there: a negative number.

        Expected utility adds up, from one utility to the next, the step times the share that goes beyond
        it; so does the difference of two.
        """
        levels = np.unique(self.utility)
        ahead = self.winner_share - self.loser_share
        beyond = np.array([(ahead * (self.utility >= level)).sum() for level in levels[1:]])
        gains = np.diff(levels) * beyond
        worst = int(np.argmin(gains))
        return float(levels[1:][worst]), float(gains[worst])


def empirical_front(optimum: Floats, *, epsilon: float = 0.0) -> Booleans:
    """Models in the ε-front of the sample.

    A model is outside if another's optimum over it is at least -ε while its own over that other is
    negative.

    Parameters
    ----------
    optimum : array_like, shape (k, k)
        Optimum of the row's model over the column's.
    epsilon : float
        How nearly a competitor must dominate; 0 or more.

    Returns
    -------
    ndarray of bool, shape (k,)
    """
    beats = (optimum >= -epsilon) & (optimum.T < 0)
    np.fill_diagonal(beats, False)
    return np.asarray(~beats.any(axis=0))


def front_test(
    utilities: Utilities,
    model: int,
    how: Relabelling = Relabelling(),
    *,
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> FrontTest:
    """Test that a model is in the front.

    Parameters
    ----------
    model : int
        The model.
    utilities, how, jobs, progress
        As in :func:`riskrank.engine.gsd.relabelling.relabelling_tests`.

    Returns
    -------
    FrontTest

    Raises
    ------
    InputError, NumericalError
        As there.
    """
    pairs = [(other, model) for other in range(utilities.table.models) if other != model]
    tests = relabelling_tests(utilities, pairs, how, side="less", jobs=jobs, progress=progress)
    return FrontTest(threshold=utilities.threshold, model=model, tests=tests)


def witness(utilities: Utilities, winner: int, loser: int) -> Witness:
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
