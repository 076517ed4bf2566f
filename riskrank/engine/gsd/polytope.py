"""The utilities that respect a preference system: a polytope, minimised over by linear programs.

There is one variable per quality vector. Only a few hundred of the many thousand rows are ever needed:
the covers of R1 are there from the start, covers of R2 join when a solution violates them. Every optimum
is checked against *all* covers, and against a lower bound computed here from the solver's multipliers,
before anyone sees it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np

from riskrank.engine.gsd.preference_system import RESOLUTION, PreferenceSystem
from riskrank.engine.solver import Solver
from riskrank.engine.types import Floats, Integers
from riskrank.errors import NumericalError, option

# The solver's own tolerance, well below ours.
_SOLVER_TOLERANCE = 1e-10

# Violated rows added at a time: fewer mean more rounds, more mean a slower simplex.
_ROWS_A_ROUND = 20
_MOST_ROUNDS = 10_000

# A few hundred iterations are usual; a cycling simplex is stopped and started again from scratch.
_MOST_ITERATIONS = 100_000

# Bases kept to start from: more save few iterations and cost memory.
_MOST_BASES = 500
_DUAL_SIMPLEX, _PRIMAL_SIMPLEX = 1, 4


@dataclass(frozen=True)
class Optimum:
    """A certified minimum over the utilities.

    Attributes
    ----------
    value : float
        The minimum; exactly 0 where it is within the resolution of 1e-9.
    utility : ndarray, shape (d,)
        A utility that attains it, one number a quality vector.
    """

    value: float
    utility: Floats


class UtilityPolytope:
    """The utilities of one preference system, ready to be minimised over many times.

    The slack is a variable of the program, fixed when it is known: so one set of generated rows, and one
    simplex basis after the other, serves δ_max, every threshold and every resample.

    Parameters
    ----------
    system : PreferenceSystem
        Quality vectors and their order.
    slack_on : {"r1", "r1+r2"}
        The strict rows that get the slack.
    rows : ndarray of int, optional
        Rows to start with, the ``generated`` ones of another polytope of the same system.
    """

    def __init__(
        self, system: PreferenceSystem, *, slack_on: str = "r1", rows: Integers | None = None
    ) -> None:
        self.system = system
        self.lps_solved = 0
        self.rows_generated = 0
        d = system.size
        self._lower = np.zeros(d + 1)
        self._upper = np.ones(d + 1)
        if d > 1:
            self._upper[0] = 0.0  # the worst vector
            self._lower[d - 1] = 1.0  # the best one
        self._rows = np.vstack([system.exchanges, system.ties])
        self._equal = np.arange(len(self._rows)) >= len(system.exchanges)
        self._slack = np.where(self._equal, 0.0, float(slack_on == "r1+r2"))
        self._chosen = np.zeros(len(self._rows), dtype=bool)
        self._order = np.empty(0, dtype=np.int64)  # generated rows, as the solver numbers them
        self._utilities: list[Floats] = []
        self._bases: list[tuple[list, list]] = []
        self._solver = self._new_solver()
        self.fix_slack(0.0)
        if rows is not None:
            self._generate(rows)
            self.rows_generated = 0

    @property
    def generated(self) -> Integers:
        """The exchange rows generated so far, by number."""
        return self._order

    @property
    def utilities(self) -> Sequence[Floats]:
        """Every utility that attained a minimum since the slack was fixed, in that order."""
        return self._utilities

    def fix_slack(self, slack: float) -> None:
        """Demand this much of the strict rows that have slack."""
        self._bound_slack(slack, slack)

    def largest_slack(self) -> float:
        """The largest slack the rows can have together; δ_max, or ξ (one more linear program).

        Raises
        ------
        NumericalError
            If the program cannot be solved.
        """
        fixed = self._lower[-1]
        self._bound_slack(0.0, 1.0)
        costs = np.zeros(self.system.size + 1)
        costs[-1] = -1.0
        point = self._solve(costs)
        self.fix_slack(fixed)
        return float(point[-1])

    def minimise(self, objective: Floats) -> Optimum:
        """Minimise a difference of expected utilities.

        Parameters
        ----------
        objective : ndarray, shape (d,)
            Weight of each quality vector: the share of one model less that of the other.

        Raises
        ------
        NumericalError
            If the program cannot be solved, or its solution does not pass the checks.
        """
        self._start_near(objective)
        point = self._solve(np.append(objective, 0.0))
        utility = point[:-1]
        self._utilities.append(utility)
        if len(self._bases) < _MOST_BASES:
            basis = self._solver.getBasis()
            self._bases.append((list(basis.col_status), list(basis.row_status)))
        value = float(objective @ utility)
        return Optimum(value if abs(value) > RESOLUTION else 0.0, utility)

    def _new_solver(self) -> Solver:
        solver = Solver(
            presolve="off",  # a warm start and a presolve exclude each other
            primal_feasibility_tolerance=_SOLVER_TOLERANCE,
            dual_feasibility_tolerance=_SOLVER_TOLERANCE,
            simplex_iteration_limit=_MOST_ITERATIONS,
            # Perturbed bounds double the iterations of these degenerate programs.
            primal_simplex_bound_perturbation_multiplier=0.0,
        )
        size = self.system.size + 1
        _require(solver.addVars(size, self._lower, self._upper))
        self._add(solver, self.system.improvements, np.array([1.0, -1.0]), -1.0, np.inf)
        return solver

    def _bound_slack(self, lower: float, upper: float) -> None:
        self._lower[-1], self._upper[-1] = lower, upper
        self._utilities.clear()
        self._bases.clear()
        _require(self._solver.changeColBounds(self.system.size, lower, upper))

    def _start_near(self, objective: Floats) -> None:
        """Start from the best known vertex, which costs half the iterations of the last one."""
        if not self._bases:
            return
        columns, rows = self._bases[int(np.argmin(np.array(self._utilities[: len(self._bases)]) @ objective))]
        basis = highspy.HighsBasis()
        basis.valid = True
        basis.col_status = columns
        newer = self._solver.getNumRow() - len(rows)
        basis.row_status = rows + [highspy.HighsBasisStatus.kBasic] * newer
        _require(self._solver.setBasis(basis))

    def _solve(self, costs: Floats) -> Floats:
        """Minimise over all rows, generating those a solution violates."""
        columns = np.arange(len(costs), dtype=np.int32)
        _require(self._solver.changeColsCost(len(costs), columns, costs))
        self.lps_solved += 1
        # New costs leave a vertex feasible, new rows leave it optimal for the old ones.
        strategy = _PRIMAL_SIMPLEX
        for _ in range(_MOST_ROUNDS):
            point = self._run(strategy)
            violation = self._violation(point)
            waiting = np.flatnonzero((violation > RESOLUTION / 10) & ~self._chosen)
            if len(waiting) == 0:
                self._certify(costs, point, violation)
                return point
            worst = np.argsort(-violation[waiting], kind="stable")[:_ROWS_A_ROUND]
            self._generate(waiting[worst])
            strategy = _DUAL_SIMPLEX
        raise _failure(f"{_MOST_ROUNDS} rounds of new rows")

    def _run(self, strategy: int) -> Floats:
        for attempt in (strategy, _DUAL_SIMPLEX):
            _require(self._solver.setOptionValue("simplex_strategy", attempt))
            self._solver.run()
            if self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                return np.array(self._solver.getSolution().col_value)
            self._solver.clearSolver()  # once more, from a cold start
        raise _failure(f"solver status {self._solver.modelStatusToString(self._solver.getModelStatus())}")

    def _violation(self, point: Floats) -> Floats:
        """How far each exchange row is from holding; positive where it does not."""
        x, y, less_x, less_y = self._rows.T
        gain = point[x] - point[y] - point[less_x] + point[less_y] - self._slack * point[-1]
        return np.where(self._equal, np.abs(gain), -gain)

    def _generate(self, rows: Integers) -> None:
        for equal in (False, True):
            some = rows[self._equal[rows] == equal]
            if len(some):
                slack = -float(self._slack[some[0]])
                top = 0.0 if equal else np.inf
                self._add(self._solver, self._rows[some], np.array([1.0, -1.0, -1.0, 1.0]), slack, top)
                self._order = np.concatenate([self._order, some])
        self._chosen[rows] = True
        self.rows_generated += len(rows)

    def _add(self, solver: Solver, rows: Integers, signs: Floats, slack: float, upper: float) -> None:
        """Add rows 0 <= signs · u(row) + slack · (slack variable) <= upper."""
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
        _require(
            solver.addRows(
                m,
                np.zeros(m),
                np.full(m, upper),
                matrix.nnz,
                matrix.indptr[:-1].astype(np.int32),
                matrix.indices.astype(np.int32),
                matrix.data,
            )
        )

    def _certify(self, costs: Floats, point: Floats, violation: Floats) -> None:
        """Check that a solution is feasible for every row and that no other is better.

        Any multipliers of the right sign give a lower bound on the minimum, because the variables lie in
        a box: the minimum over the box of costs less the multiples of the rows.
        """
        better, worse = self.system.improvements.T
        gap = point[better] - point[worse] - point[-1]
        outside = max(np.max(self._lower - point), np.max(point - self._upper))
        worst = max(outside, -np.min(gap, initial=0.0), np.max(violation, initial=0.0))
        if not worst <= RESOLUTION:
            raise _failure(f"a solution that violates a row by {worst:.3g}")
        bound = self._lower_bound(costs)
        excess = float(costs @ point) - bound
        if not excess <= RESOLUTION:
            raise _failure(f"a solution {excess:.3g} above its lower bound")

    def _lower_bound(self, costs: Floats) -> float:
        duals = np.array(self._solver.getSolution().row_dual)
        better, worse = self.system.improvements.T
        first = np.maximum(duals[: len(better)], 0.0)
        rest = duals[len(better) :]
        rest = np.where(self._equal[self._order], rest, np.maximum(rest, 0.0))
        x, y, less_x, less_y = self._rows[self._order].T
        reduced = costs.copy()
        for columns, multiples in (
            (better, -first),
            (worse, first),
            (x, -rest),
            (y, rest),
            (less_x, rest),
            (less_y, -rest),
        ):
            reduced += np.bincount(columns, weights=multiples, minlength=len(costs))
        reduced[-1] += first.sum() + self._slack[self._order] @ rest
        return float(np.minimum(reduced * self._lower, reduced * self._upper).sum())


def _require(status: highspy.HighsStatus) -> None:
    if status != highspy.HighsStatus.kOk:
        raise _failure(f"solver call status {status.name}")


def _failure(found: str) -> NumericalError:
    return NumericalError(
        "a linear program of the dominance relation could not be solved for certain",
        found=found,
        hint=f"round the scores ({option('digits')}, {option('tolerance')}) "
        f"or choose another {option('delta')}",
    )
