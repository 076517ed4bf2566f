"""Generalized stochastic dominance in the sample ([GSD] Proposition 3; method §6).

Model i δ-dominates model j if every utility that respects the preference system, with slack δ, gives i at
least the expected utility of j. Equivalently, the smallest difference in expected utility over the polytope
of these utilities is non-negative.

A Hasse diagram reduces a preorder to the edges that imply all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.evidence.shared_tasks import transitive_closure
from riskrank.engine.gsd.polytope import UtilityPolytope
from riskrank.engine.gsd.preference_system import PreferenceSystem, Threshold, preference_system
from riskrank.engine.gsd.quality import QualityTable
from riskrank.engine.types import Booleans, Floats, Integers

PairComparison = tuple[tuple[float, float], float, float, int, int]
"""Optima of both directions, slack, the largest there can be, programs solved and rows generated."""


@dataclass(frozen=True)
class DominanceRelation:
    """Dominance relation between models in the sample.

    The diagonals of the matrices contain NaN or False.

    Attributes
    ----------
    optimum : ndarray, shape (k, k)
        Smallest difference in expected utility, row minus column.
    dominates : ndarray of bool, shape (k, k)
        True where the optimum is non-negative.
    slack : ndarray, shape (k, k)
        Slack used in the preference system of the pair: δ, or a proportion of ``largest_slack``.
    largest_slack : ndarray, shape (k, k)
        Largest feasible slack of that preference system: δ_max, or ξ with slack on R1 and R2.
    lps_solved, rows_generated : int
        Number of linear programs solved and of rows generated.
    """

    optimum: Floats
    dominates: Booleans
    slack: Floats
    largest_slack: Floats
    lps_solved: int
    rows_generated: int

    @property
    def delta_max(self) -> float:
        """Largest slack that is feasible in every preference system used."""
        k = len(self.optimum)
        return float(self.largest_slack[~np.eye(k, dtype=bool)].min())


def sample_distributions(table: QualityTable, system: PreferenceSystem, model: int) -> Floats:
    """Return the distribution of one model's quality vectors on each sample.

    Parameters
    ----------
    table : QualityTable
        Quality vectors of all models.
    system : PreferenceSystem
        Preference system that contains this model's vectors.
    model : int
        Index of the model.

    Returns
    -------
    ndarray, shape (s, d)
        Proportion of each of the d quality vectors, by sample; rows sum to 1.
    """
    place = np.zeros(len(table.vectors), dtype=np.int64)
    attained = np.flatnonzero(system.table_rows >= 0)
    place[system.table_rows[attained]] = attained
    masses = np.zeros((table.samples, system.size))
    rows = np.arange(table.samples)[:, None]
    np.add.at(masses, (rows, place[table.index[model]]), table.weight[model])
    return masses


def build_relation(k: int, comparisons: Mapping[tuple[int, int], PairComparison]) -> DominanceRelation:
    """Build the dominance relation of k models from the comparisons of all pairs."""
    optimum, slack, largest = np.full((3, k, k), np.nan)
    solved = generated = 0
    for (i, j), (optima, pair_slack, pair_largest, programs, rows) in comparisons.items():
        optimum[i, j], optimum[j, i] = optima
        slack[i, j] = slack[j, i] = pair_slack
        largest[i, j] = largest[j, i] = pair_largest
        solved += programs
        generated += rows
    return DominanceRelation(optimum, optimum >= 0, slack, largest, solved, generated)


class Utilities:
    """Utilities by which models are compared.

    Parameters
    ----------
    table : QualityTable
        Quality vectors of k models.
    threshold : Threshold, optional
        Slack of the strict relations; none by default.
    system : {"pair", "all"}
        Whether a preference system contains the vectors of the compared pair or of all models.

    Raises
    ------
    NumericalError
        If the largest slack of the common system cannot be computed reliably.
    """

    def __init__(self, table: QualityTable, threshold: Threshold = Threshold(), system: str = "pair") -> None:
        self.table, self.threshold, self.system = table, threshold, system
        # The system that all pairs share, its largest slack, and useful initial exchange rows.
        self._shared: tuple[PreferenceSystem, float, Integers] | None = None
        if system == "all":
            common_system = preference_system(table)
            polytope = UtilityPolytope(common_system, slack_on=threshold.rows)
            self._shared = common_system, polytope.largest_slack(), polytope.generated_rows

    def polytope(self, pair: Sequence[int]) -> tuple[UtilityPolytope, float, float]:
        """Return the utility polytope for a pair of models, in any order, with its slack fixed.

        Returns
        -------
        polytope : UtilityPolytope
        slack, largest : float
            The slack, and the largest feasible slack.

        Raises
        ------
        InputError
            If the threshold exceeds the largest feasible slack.
        """
        if self._shared is None:
            utility_polytope = UtilityPolytope(
                preference_system(self.table, pair), slack_on=self.threshold.rows
            )
            largest = utility_polytope.largest_slack()
        else:
            system, largest, rows = self._shared
            utility_polytope = UtilityPolytope(system, slack_on=self.threshold.rows, rows=rows)
        slack = self.threshold.resolve(largest)
        utility_polytope.fix_slack(slack)
        return utility_polytope, slack, largest


def compare_pair(utilities: Utilities, pair: tuple[int, int]) -> PairComparison:
    """Compare two models in both directions."""
    polytope, slack, largest = utilities.polytope(pair)
    first, second = (
        sample_distributions(utilities.table, polytope.system, model).mean(axis=0) for model in pair
    )
    difference = first - second
    optima = polytope.minimise(difference).value, polytope.minimise(-difference).value
    return optima, slack, largest, polytope.lps_solved, polytope.rows_generated


@dataclass(frozen=True)
class HasseDiagram:
    """Hasse diagram of a preorder: covering edges between equivalence classes.

    Attributes
    ----------
    nodes : tuple of tuple of int
        Equivalence classes: elements that dominate each other share a node. Nodes and elements are sorted.
    edges : tuple of (int, int)
        Upper and lower node of every covering pair.
    levels : tuple of int
        Length of the longest path from each node to the top; 0 at the top.
    implied : tuple of (int, int)
        Pairs related only by transitivity; empty if the given relation is transitive.
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
        True if the row's element dominates the column's. Its transitive closure is used.

    Returns
    -------
    HasseDiagram
    """
    original = np.array(relation, dtype=bool)
    closed = transitive_closure(original)
    np.fill_diagonal(closed, True)
    equal = closed & closed.T
    representative = equal.argmax(axis=1)  # the smallest element of each class
    heads = np.unique(representative)
    strict = closed[np.ix_(heads, heads)] & ~equal[np.ix_(heads, heads)]
    steps = strict.astype(np.float32)
    covers = strict & ~(steps @ steps > 0)
    added = closed & ~original & ~np.eye(len(original), dtype=bool)
    return HasseDiagram(
        nodes=tuple(tuple(np.flatnonzero(representative == head).tolist()) for head in heads),
        edges=_true_pairs(covers),
        levels=_node_levels(strict),
        implied=_true_pairs(added),
    )


def _true_pairs(relation: Booleans) -> tuple[tuple[int, int], ...]:
    """Return the pairs of indices (row, column) at which a matrix is True."""
    return tuple((i, j) for i, j in np.argwhere(relation).tolist())


def _node_levels(strict: Booleans) -> tuple[int, ...]:
    """Return the length of the longest path from each node to the top."""
    level = np.zeros(len(strict), dtype=np.int64)
    # Nodes are processed by the number of nodes above them, so all of those have their level already.
    for node in np.argsort(strict.sum(axis=0), kind="stable"):
        above = strict[:, node]
        level[node] = 1 + level[above].max() if above.any() else 0
    return tuple(level.tolist())
