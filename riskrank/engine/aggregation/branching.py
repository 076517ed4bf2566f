"""Branch and bound over the pairs of an order program, every step of it counted as work.

A solver of integer programs counts nodes, and its first node alone (cuts, and smaller programs to guess from)
may take hours. Here each linear program may take only as many simplex iterations as are left, and starts from
the last one's basis.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

import highspy
import numpy as np

from riskrank.engine.solver import Solver
from riskrank.engine.types import Floats

INTEGRAL = 1e-6
"""A value nearer to 0 or 1 than this is whole; HiGHS's own tolerance."""

# Pairs that are decided, the last one first: (column, value, those before).
Decided = tuple[int, float, Any] | None


class OpenNodes:
    """Parts of the search that may still hold a better order, the one with the least bound first."""

    def __init__(self, bound: float) -> None:
        self._heap: list[tuple[float, int, Decided]] = [(bound, 0, None)]
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._heap)

    @property
    def bound(self) -> float:
        """Least bound of what is open; infinite where nothing is."""
        return self._heap[0][0] if self._heap else np.inf

    def take(self) -> tuple[float, Decided]:
        """Take out the most promising part."""
        bound, _, decided = heapq.heappop(self._heap)
        return bound, decided

    def put_back(self, bound: float, decided: Decided) -> None:
        """Leave a part open that could not be finished."""
        self._push(bound, decided)

    def split(self, bound: float, decided: Decided, x: Floats, slope: Floats) -> None:
        """Decide the most doubtful pair, the one that counts most where several are, either way."""
        doubt = np.minimum(x, 1 - x)
        likely = np.flatnonzero(doubt > doubt.max() - 0.1)
        column = int(likely[np.argmax(np.abs(slope[likely]))])
        for value in (0.0, 1.0):
            self._push(bound, (column, value, decided))

    def _push(self, bound: float, decided: Decided) -> None:
        self._count += 1  # of equal bounds, the older one first: the same way on every machine
        heapq.heappush(self._heap, (bound, self._count, decided))


class WarmProgram:
    """A linear program over pairs in [0, 1] that grows rows and keeps its basis from run to run.

    Parameters
    ----------
    slope : ndarray of float, shape (p,)
        Cost of each pair.
    """

    def __init__(self, slope: Floats) -> None:
        self.size = len(slope)
        self._columns = np.arange(self.size, dtype=np.int32)
        self._solver = Solver(solver="simplex", presolve="off")  # presolved, it would start afresh each time
        self._solver.addVars(self.size, np.zeros(self.size), np.ones(self.size))
        self._solver.changeColsCost(self.size, self._columns, slope)

    def add_rows(self, rows: Any, low: Floats, high: Floats) -> None:
        """Add rows of a sparse matrix, ``low <= row <= high``."""
        if rows.shape[0]:
            starts, columns = rows.indptr[:-1].astype(np.int32), rows.indices.astype(np.int32)
            self._solver.addRows(rows.shape[0], low, high, rows.nnz, starts, columns, rows.data.astype(float))

    def solve(self, decided: Decided, most: int) -> tuple[Floats | None, float, int]:
        """Solution, its cost and the iterations taken.

        Costs are infinite where there is no solution, and no number where the iterations ran out.
        """
        low, high = np.zeros(self.size), np.ones(self.size)
        for column, value in path(decided):
            low[column] = high[column] = value
        self._solver.changeColsBounds(self.size, self._columns, low, high)
        self._solver.setOptionValue("simplex_iteration_limit", max(most, 0))
        self._solver.run()
        status, info = self._solver.getModelStatus(), self._solver.getInfo()
        taken = max(int(info.simplex_iteration_count), 0)
        if status == highspy.HighsModelStatus.kOptimal:
            x = np.clip(np.array(self._solver.getSolution().col_value), 0.0, 1.0)
            return x, float(info.objective_function_value), taken
        if status == highspy.HighsModelStatus.kInfeasible:
            return None, np.inf, taken
        return None, np.nan, taken


def path(decided: Decided) -> Iterator[tuple[int, float]]:
    """Pairs that are decided, the last one first."""
    while decided is not None:
        column, value, decided = decided
        yield column, value


def search(
    program: WarmProgram,
    slope: Floats,
    nodes: OpenNodes,
    *,
    grow: Callable[[Floats], bool],
    meet: Callable[[Floats], None],
    spend: Callable[[int], int],
    promising: Callable[[float], bool],
) -> float:
    """Look for the best whole solution.

    Parameters
    ----------
    program : WarmProgram
    slope : ndarray of float, shape (p,)
    nodes : OpenNodes
        Where to look.
    grow : callable
        Adds rows a solution violates; whether there were any.
    meet : callable
        Is shown every solution of all rows, to make an order of it.
    spend : callable
        Takes iterations from the work allowed and returns how many are left.
    promising : callable
        Whether a bound leaves room for something better than what was met.

    Returns
    -------
    float
        Proven bound of what was not looked at; infinite where nothing promising is left.
    """
    left = spend(0)
    while nodes and promising(nodes.bound):
        if left <= 0:
            return nodes.bound
        bound, decided = nodes.take()
        x, value, taken = program.solve(decided, left)
        left = spend(taken)
        while x is not None and grow(x):
            x, value, taken = program.solve(decided, left)
            left = spend(taken)
        if np.isnan(value):
            nodes.put_back(bound, decided)
            return nodes.bound
        if x is None:
            continue
        meet(x)
        if np.minimum(x, 1 - x).max() > INTEGRAL:
            nodes.split(max(bound, value), decided, x, slope)
    return np.inf
