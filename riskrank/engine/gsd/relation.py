"""Generalized stochastic dominance in the sample ([GSD] Proposition 3; method §6).

Model i δ-dominates model j when no utility that respects the preference system, with slack δ on its
strict rows, gives j the greater expectation: when the least difference of expectations over the polytope
of these utilities is not negative.

Hasse diagrams: a pre-order as the few edges that imply all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.evidence.shared_tasks import reached
from riskrank.engine.gsd.polytope import UtilityPolytope
from riskrank.engine.gsd.preference_system import PreferenceSystem, Threshold, preference_system
from riskrank.engine.gsd.quality import QualityTable
from riskrank.engine.types import Booleans, Floats, Integers

Comparison = tuple[tuple[float, float], float, float, int, int]
"""Optima of both directions, slack, the largest there can be, programs solved and rows generated."""


@dataclass(frozen=True)
class DominanceRelation:
    """Which model dominates which in the sample.

    A model and itself are no pair: the diagonal holds NaN, and no dominance.

    Attributes
    ----------
    optimum : ndarray, shape (k, k)
        Least difference of expected utility of the row's model over the column's.
    dominates : ndarray of bool, shape (k, k)
        Where the optimum is not negative.
    slack : ndarray, shape (k, k)
        The slack used, in the preference system of the pair; δ, or the share of ``largest_slack``.
    largest_slack : ndarray, shape (k, k)
        δ_max of that preference system; ξ where the slack is on R1 and R2.
    lps_solved, rows_generated : int
        Work done.
    """

    optimum: Floats
    dominates: Booleans
    slack: Floats
    largest_slack: Floats
    lps_solved: int
    rows_generated: int

    @property
    def delta_max(self) -> float:
        """The largest slack that every preference system used has room for."""
        k = len(self.optimum)
        return float(self.largest_slack[~np.eye(k, dtype=bool)].min())


def sample_masses(table: QualityTable, system: PreferenceSystem, model: int) -> Floats:
    """Distribution of one model's quality vectors on each sample.

    Parameters
    ----------
    table : QualityTable
        All models' vectors.
    system : PreferenceSystem
        A system that holds this model's vectors.
    model : int
        The model.

    Returns
    -------
    ndarray, shape (s, d)
        Rows sum to 1.
    """
    place = np.zeros(len(table.vectors), dtype=np.int64)
    attained = np.flatnonzero(system.members >= 0)
    place[system.members[attained]] = attained
    masses = np.zeros((table.samples, system.size))
    rows = np.arange(table.samples)[:, None]
    np.add.at(masses, (rows, place[table.index[model]]), table.weight[model])
    return masses


def relation_of(k: int, compared: Mapping[tuple[int, int], Comparison]) -> DominanceRelation:
    """The relation of k models, all pairs of which are compared."""
    optimum, slack, largest = np.full((3, k, k), np.nan)
    solved = generated = 0
    for (i, j), (optima, least, most, programs, rows) in compared.items():
        optimum[i, j], optimum[j, i] = optima
        slack[i, j] = slack[j, i] = least
        largest[i, j] = largest[j, i] = most
        solved += programs
        generated += rows
    return DominanceRelation(optimum, optimum >= 0, slack, largest, solved, generated)


class Utilities:
    """The utilities by which models are compared.

    Parameters
    ----------
    table : QualityTable
        k models' quality vectors.
    threshold : Threshold, optional
        Slack of the strict rows; none by default.
    system : {"pair", "all"}
        Whether a preference system holds the vectors of the two models compared or of all.

    Raises
    ------
    NumericalError
        If the largest slack of all models' system cannot be found for certain.
    """

    def __init__(self, table: QualityTable, threshold: Threshold = Threshold(), system: str = "pair") -> None:
        self.table, self.threshold, self.system = table, threshold, system
        # Of a system that all pairs share: the largest slack, and exchange rows worth starting with.
        self._shared: tuple[PreferenceSystem, float, Integers] | None = None
        if system == "all":
            everyone = preference_system(table)
            polytope = UtilityPolytope(everyone, slack_on=threshold.rows)
            self._shared = everyone, polytope.largest_slack(), polytope.generated

    def polytope(self, pair: Sequence[int]) -> tuple[UtilityPolytope, float, float]:
        """The polytope of a pair of models, in any order, with its slack in place.

        Returns
        -------
        polytope : UtilityPolytope
        slack, largest : float
            The slack, and the largest there can be.

        Raises
        ------
        InputError
            If the threshold asks for more than that.
        """
        if self._shared is None:
            found = UtilityPolytope(preference_system(self.table, pair), slack_on=self.threshold.rows)
            largest = found.largest_slack()
        else:
            system, largest, rows = self._shared
            found = UtilityPolytope(system, slack_on=self.threshold.rows, rows=rows)
        slack = self.threshold.resolve(largest)
        found.fix_slack(slack)
        return found, slack, largest


def compare(utilities: Utilities, pair: tuple[int, int]) -> Comparison:
    """Compare two models both ways."""
    polytope, slack, largest = utilities.polytope(pair)
    first, second = (sample_masses(utilities.table, polytope.system, model).mean(axis=0) for model in pair)
    difference = first - second
    optima = polytope.minimise(difference).value, polytope.minimise(-difference).value
    return optima, slack, largest, polytope.lps_solved, polytope.rows_generated


@dataclass(frozen=True)
class HasseDiagram:
    """Covering edges between classes of equals.

    Attributes
    ----------
    nodes : tuple of tuple of int
        Elements that dominate each other share a node; nodes and their elements in increasing order.
    edges : tuple of (int, int)
        Upper and lower node of every covering pair.
    levels : tuple of int
        Of each node, the length of the longest way up; 0 at the top.
    implied : tuple of (int, int)
        Pairs of elements related only through others, where the relation given was not transitive.
    """

    nodes: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, int], ...]
    levels: tuple[int, ...]
    implied: tuple[tuple[int, int], ...]


def hasse_diagram(relation: ArrayLike) -> HasseDiagram:
    """Reduce a relation to its Hasse diagram.

    Parameters
    ----------
    relation : array_like of bool, shape (k, k)
        Whether the row's element dominates the column's; closed under transitivity first.

    Returns
    -------
    HasseDiagram
    """
    given = np.array(relation, dtype=bool)
    closed = reached(given)
    np.fill_diagonal(closed, True)
    equal = closed & closed.T
    first = equal.argmax(axis=1)  # the smallest element of each one's class
    heads = np.unique(first)
    strict = closed[np.ix_(heads, heads)] & ~equal[np.ix_(heads, heads)]
    steps = strict.astype(np.float32)
    covers = strict & ~(steps @ steps > 0)
    added = closed & ~given & ~np.eye(len(given), dtype=bool)
    return HasseDiagram(
        nodes=tuple(tuple(np.flatnonzero(first == head).tolist()) for head in heads),
        edges=_pairs(covers),
        levels=_levels(strict),
        implied=_pairs(added),
    )


def _pairs(relation: Booleans) -> tuple[tuple[int, int], ...]:
    return tuple((i, j) for i, j in np.argwhere(relation).tolist())


def _levels(strict: Booleans) -> tuple[int, ...]:
    level = np.zeros(len(strict), dtype=np.int64)
    # What dominates more has less above it: by the time a node's turn comes, all above it are placed.
    for node in np.argsort(strict.sum(axis=0), kind="stable"):
        above = strict[:, node]
        level[node] = 1 + level[above].max() if above.any() else 0
    return tuple(level.tolist())
