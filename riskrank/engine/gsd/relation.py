"""Generalized stochastic dominance in the sample ([GSD] Proposition 3; method §6).

Model i δ-dominates model j if every utility that respects the preference system, with slack δ, gives i at
least the expected utility of j. Equivalently, the smallest difference in expected utility over the polytope
of these utilities is non-negative. A linear program finds it.

The polytope has one variable per quality vector. Only a few hundred of the many thousand constraints (rows)
are ever needed. The covers of R1 are included from the start; covers of R2 are added when a solution violates
them. Every optimum is checked against *all* covers, and against a lower bound from the solver's dual
multipliers.

A Hasse diagram reduces a preorder to the edges that imply all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.evidence.mean_differences import transitive_closure
from riskrank.engine.gsd.preference_system import (
    RESOLUTION,
    PreferenceSystem,
    QualityTable,
    Threshold,
    preference_system,
)
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import NumericalError, option

# Tolerance of the solver, well below RESOLUTION.
_SOLVER_TOLERANCE = 1e-10

# Violated rows added per round: fewer need more rounds, more slow down the simplex.
_ROWS_A_ROUND = 20
_MOST_ROUNDS = 10_000

# A few hundred iterations are usual; a cycling simplex is stopped and restarted from scratch.
_MOST_ITERATIONS = 100_000

# Number of stored bases for warm starts: more save few iterations and cost memory.
_MOST_BASES = 500
_DUAL_SIMPLEX, _PRIMAL_SIMPLEX = 1, 4


class Solver(highspy.Highs):
    """HiGHS solver without output; version 1.16 would print its licence during construction.

    Parameters
    ----------
    options : bool, float or str
        HiGHS options by name.

    Raises
    ------
    ValueError
        If HiGHS rejects an option or its value.
    """

    def __init__(self, **options: bool | float | str) -> None:
        """Create a solver with the given options."""
        super().__init__()
        for name, value in {"threads": 1, **options}.items():
            if self.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                raise ValueError(f"HiGHS rejects {name} = {value}")

    def enableCallbacks(self) -> None:  # noqa: N802
        """Turn off output, then enable callbacks; HiGHS calls this method before it prints its licence."""
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()


@dataclass(frozen=True)
class Optimum:
    """A verified minimum over all feasible utilities.

    Attributes
    ----------
    value : float
        The minimum; exactly 0 if it is within the resolution of 1e-9.
    utility : ndarray, shape (d,)
        Utility that attains the minimum, one number per quality vector.
    """

    value: float
    utility: Floats


class UtilityPolytope:
    """Polytope of the utilities that respect one preference system, for repeated minimisation.

    The slack is a variable of the program and is fixed once it is known. Therefore generated rows and simplex
    bases can be reused for δ_max, for every threshold and for every resample.

    Parameters
    ----------
    system : PreferenceSystem
        Quality vectors and their order.
    slack_on : {"r1", "r1+r2"}
        Strict relations that have slack.
    rows : ndarray of int, optional
        Initial exchange rows: the ``generated_rows`` of another polytope of the same system.

    Attributes
    ----------
    generated_rows : ndarray of int
        Indices of the exchange rows generated so far, as the solver numbers them.
    utilities : list of ndarray
        Optimal utilities found since the slack was fixed, in order.
    """

    def __init__(
        self, system: PreferenceSystem, *, slack_on: str = "r1", rows: Integers | None = None
    ) -> None:
        """Set up the linear program with all covers of R1 and without slack."""
        self.system, self.lps_solved, self.rows_generated = system, 0, 0
        d = system.size
        self._lower, self._upper = np.zeros(d + 1), np.ones(d + 1)
        if d > 1:
            self._upper[0] = 0.0  # the worst vector
            self._lower[d - 1] = 1.0  # the best one
        self._rows = np.vstack([system.exchanges, system.ties])
        self._equal = np.arange(len(self._rows)) >= len(system.exchanges)
        self._slack = np.where(self._equal, 0.0, float(slack_on == "r1+r2"))
        self._in_program = np.zeros(len(self._rows), dtype=bool)
        self.generated_rows: Integers = np.empty(0, dtype=np.int64)
        self.utilities: list[Floats] = []
        self._bases: list[tuple[list, list]] = []
        self._solver = Solver(
            presolve="off",  # a warm start and a presolve exclude each other
            primal_feasibility_tolerance=_SOLVER_TOLERANCE,
            dual_feasibility_tolerance=_SOLVER_TOLERANCE,
            simplex_iteration_limit=_MOST_ITERATIONS,
            # Perturbed bounds double the iterations of these degenerate programs.
            primal_simplex_bound_perturbation_multiplier=0.0,
        )
        _require_ok(self._solver.addVars(d + 1, self._lower, self._upper))
        self._add_rows(system.improvements, np.array([1.0, -1.0]), -1.0, np.inf)
        self.fix_slack(0.0)
        if rows is not None:
            self._add_exchange_rows(rows)
            self.rows_generated = 0

    def fix_slack(self, slack: float) -> None:
        """Fix the slack of the strict inequalities at a value."""
        self._set_slack_bounds(slack, slack)

    def largest_slack(self) -> float:
        """Return the largest feasible slack (δ_max, or ξ with slack on R1 and R2).

        Raises
        ------
        NumericalError
            If the program cannot be solved.
        """
        fixed = self._lower[-1]
        self._set_slack_bounds(0.0, 1.0)
        costs = np.zeros(self.system.size + 1)
        costs[-1] = -1.0
        point = self._solve(costs)
        self.fix_slack(fixed)
        return float(point[-1])

    def minimise(self, objective: Floats) -> Optimum:
        """Minimise a difference in expected utility.

        Parameters
        ----------
        objective : ndarray, shape (d,)
            Weight of each quality vector: its proportion for one model minus that for the other.

        Returns
        -------
        Optimum

        Raises
        ------
        NumericalError
            If the program cannot be solved, or its solution fails the checks.
        """
        self._warm_start(objective)
        point = self._solve(np.append(objective, 0.0))
        utility = point[:-1]
        self.utilities.append(utility)
        if len(self._bases) < _MOST_BASES:
            basis = self._solver.getBasis()
            self._bases.append((list(basis.col_status), list(basis.row_status)))
        value = float(objective @ utility)
        return Optimum(value if abs(value) > RESOLUTION else 0.0, utility)

    def _set_slack_bounds(self, lower: float, upper: float) -> None:
        """Set the lower and upper bound of the slack variable, and discard stored utilities and bases."""
        self._lower[-1], self._upper[-1] = lower, upper
        self.utilities.clear()
        self._bases.clear()
        _require_ok(self._solver.changeColBounds(self.system.size, lower, upper))

    def _warm_start(self, objective: Floats) -> None:
        """Start the solver from the stored vertex with the smallest objective.

        This halves the number of iterations.
        """
        if not self._bases:
            return
        columns, rows = self._bases[int(np.argmin(np.array(self.utilities[: len(self._bases)]) @ objective))]
        basis = highspy.HighsBasis()
        basis.valid = True
        basis.col_status = columns
        newer = self._solver.getNumRow() - len(rows)
        basis.row_status = rows + [highspy.HighsBasisStatus.kBasic] * newer
        _require_ok(self._solver.setBasis(basis))

    def _solve(self, costs: Floats) -> Floats:
        """Minimise a linear function over the polytope; return the optimal point, shape (d + 1,).

        `costs` holds the coefficients of the d utilities and of the slack. Exchange rows are added to the
        program as soon as a solution violates them.
        """
        columns = np.arange(len(costs), dtype=np.int32)
        _require_ok(self._solver.changeColsCost(len(costs), columns, costs))
        self.lps_solved += 1
        # After new costs the last vertex is primal feasible; after new rows it is dual feasible.
        strategy = _PRIMAL_SIMPLEX
        for _ in range(_MOST_ROUNDS):
            point = self._run_solver(strategy)
            x, y, less_x, less_y = self._rows.T
            gain = point[x] - point[y] - point[less_x] + point[less_y] - self._slack * point[-1]
            violation = np.where(self._equal, np.abs(gain), -gain)
            violated = np.flatnonzero((violation > RESOLUTION / 10) & ~self._in_program)
            if len(violated) == 0:
                self._verify_solution(costs, point, violation)
                return point
            worst = np.argsort(-violation[violated], kind="stable")[:_ROWS_A_ROUND]
            self._add_exchange_rows(violated[worst])
            strategy = _DUAL_SIMPLEX
        raise _solver_error(f"no solution after {_MOST_ROUNDS} rounds of new rows")

    def _run_solver(self, strategy: int) -> Floats:
        """Run the solver with a simplex strategy, and return its solution, shape (d + 1,).

        If it fails, it is restarted once from scratch.
        """
        for attempt in (strategy, _DUAL_SIMPLEX):
            _require_ok(self._solver.setOptionValue("simplex_strategy", attempt))
            self._solver.run()
            if self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                return np.array(self._solver.getSolution().col_value)
            self._solver.clearSolver()  # retry from a cold start
        status = self._solver.modelStatusToString(self._solver.getModelStatus())
        raise _solver_error(f"solver status {status}")

    def _add_exchange_rows(self, rows: Integers) -> None:
        """Add exchange rows to the linear program, given their indices."""
        for equal in (False, True):
            selected = rows[self._equal[rows] == equal]
            if len(selected):
                slack, upper = -float(self._slack[selected[0]]), 0.0 if equal else np.inf
                signs = np.array([1.0, -1.0, -1.0, 1.0])
                self._add_rows(self._rows[selected], signs, slack, upper)
                self.generated_rows = np.concatenate([self.generated_rows, selected])
        self._in_program[rows] = True
        self.rows_generated += len(rows)

    def _add_rows(self, rows: Integers, signs: Floats, slack: float, upper: float) -> None:
        """Add one constraint per row: 0 <= Σ signs · utilities + slack · (slack variable) <= upper.

        Parameters
        ----------
        rows : ndarray of int, shape (m, width)
            Quality vectors whose utilities occur in each constraint.
        signs : ndarray, shape (width,)
            Coefficients of these utilities.
        slack : float
            Coefficient of the slack variable.
        upper : float
            Upper limit of the constraints.
        """
        from scipy.sparse import csr_array

        m, width = rows.shape
        if m == 0:
            return
        size = self.system.size + 1
        columns = np.hstack([rows, np.full((m, 1), size - 1)])
        values = np.tile(np.append(signs, slack), m)
        matrix = csr_array((values, columns.ravel(), np.arange(m + 1) * (width + 1)), shape=(m, size))
        # An exchange may name a vector twice (x over y against y over z); the solver refuses duplicates.
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        starts, indices = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
        limits = np.zeros(m), np.full(m, upper)
        _require_ok(self._solver.addRows(m, *limits, matrix.nnz, starts, indices, matrix.data))

    def _verify_solution(self, costs: Floats, point: Floats, violation: Floats) -> None:
        """Raise a NumericalError unless a solution satisfies every row and is optimal.

        By weak duality, multipliers of the right sign give a lower bound on the minimum. It is the minimum,
        over the box of the variables, of the costs minus the weighted rows.

        `point` is the solution, and `violation` holds the violation of each exchange row.
        """
        better, worse = self.system.improvements.T
        gap = point[better] - point[worse] - point[-1]
        outside = max(np.max(self._lower - point), np.max(point - self._upper))
        worst = max(outside, -np.min(gap, initial=0.0), np.max(violation, initial=0.0))
        if not worst <= RESOLUTION:
            raise _solver_error(f"the solution violates a row by {worst:.3g}")
        bound = self._dual_bound(costs)
        excess = float(costs @ point) - bound
        if not excess <= RESOLUTION:
            raise _solver_error(f"the solution is {excess:.3g} above its lower bound")

    def _dual_bound(self, costs: Floats) -> float:
        """Return a lower bound on the minimum of `costs`, from the solver's dual multipliers."""
        duals = np.array(self._solver.getSolution().row_dual)
        better, worse = self.system.improvements.T
        improvement_duals = np.maximum(duals[: len(better)], 0.0)
        exchange_duals = duals[len(better) :].copy()
        # Only the multipliers of equations may have either sign.
        np.maximum(exchange_duals, 0.0, out=exchange_duals, where=~self._equal[self.generated_rows])
        x, y, less_x, less_y = self._rows[self.generated_rows].T
        reduced = costs.copy()
        for columns, multiples in (
            (better, -improvement_duals),
            (worse, improvement_duals),
            (x, -exchange_duals),
            (y, exchange_duals),
            (less_x, exchange_duals),
            (less_y, -exchange_duals),
        ):
            reduced += np.bincount(columns, weights=multiples, minlength=len(costs))
        reduced[-1] += improvement_duals.sum() + self._slack[self.generated_rows] @ exchange_duals
        return float(np.minimum(reduced * self._lower, reduced * self._upper).sum())


def _require_ok(status: highspy.HighsStatus) -> None:
    """Raise a NumericalError unless the status of a solver call is OK."""
    if status != highspy.HighsStatus.kOk:
        raise _solver_error(f"solver call status {status.name}")


def _solver_error(details: str) -> NumericalError:
    """Return an error for a linear program that could not be solved reliably; `details` says why."""
    problem = "a linear program of the dominance relation could not be solved reliably"
    hint = f"round the scores ({option('digits')}, {option('tolerance')}) or choose another {option('delta')}"
    return NumericalError(problem, found=details, hint=hint)


# Optima of both directions, slack, the largest there can be, programs solved and rows generated.
PairComparison = tuple[tuple[float, float], float, float, int, int]


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
    indices = np.zeros(len(table.vectors), dtype=np.int64)
    attained = np.flatnonzero(system.table_rows >= 0)
    indices[system.table_rows[attained]] = attained
    masses = np.zeros((table.samples, system.size))
    rows = np.arange(table.samples)[:, None]
    np.add.at(masses, (rows, indices[table.index[model]]), table.weight[model])
    return masses


def build_relation(k: int, comparisons: Mapping[tuple[int, int], PairComparison]) -> DominanceRelation:
    """Combine the comparisons of all pairs of k models to a dominance relation.

    `comparisons` holds the result of `compare_pair` for each pair (i, j).
    """
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
        """Build the common preference system if `system` is "all"."""
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
            polytope = UtilityPolytope(preference_system(self.table, pair), slack_on=self.threshold.rows)
            largest = polytope.largest_slack()
        else:
            system, largest, rows = self._shared
            polytope = UtilityPolytope(system, slack_on=self.threshold.rows, rows=rows)
        slack = self.threshold.resolve(largest)
        polytope.fix_slack(slack)
        return polytope, slack, largest


def compare_pair(utilities: Utilities, pair: tuple[int, int]) -> PairComparison:
    """Compute the smallest differences in expected utility of two models, in both directions.

    Returns
    -------
    optima : (float, float)
        Optimum of the first model over the second, and of the second over the first.
    slack, largest_slack : float
        Slack of the preference system, and the largest feasible slack.
    lps_solved, rows_generated : int
        Number of linear programs solved and of rows generated.
    """
    polytope, slack, largest = utilities.polytope(pair)
    masses = [sample_distributions(utilities.table, polytope.system, model) for model in pair]
    difference = masses[0].mean(axis=0) - masses[1].mean(axis=0)
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
    """Build the Hasse diagram of a relation.

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
    levels = np.zeros(len(heads), dtype=np.int64)
    # Nodes are processed by the number of nodes above them, so all of those have their level already.
    for node in np.argsort(strict.sum(axis=0), kind="stable"):
        above = strict[:, node]
        levels[node] = 1 + levels[above].max() if above.any() else 0
    nodes = tuple(tuple(np.flatnonzero(representative == head).tolist()) for head in heads)
    return HasseDiagram(nodes, _true_pairs(covers), tuple(levels.tolist()), _true_pairs(added))


def _true_pairs(relation: Booleans) -> tuple[tuple[int, int], ...]:
    """Return the pairs of indices (row, column) at which a matrix is True."""
    return tuple((i, j) for i, j in np.argwhere(relation).tolist())
