"""Orders of many items: what they cost, what single moves lead to, and programs whose solutions they are."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from riskrank.engine.types import Floats, Integers


def cost_of(against: Integers, order: Integers) -> int:
    """The weight that an order contradicts.

    Parameters
    ----------
    against : ndarray of int, shape (k, k)
        Weight that "u before v" contradicts.
    order : ndarray of int, shape (k,)
        Items, the best first.
    """
    return int(np.triu(against[np.ix_(order, order)]).sum())


def local_search(against: Integers, order: Integers) -> Integers:
    """Move single items to their best place until none gains: a start, and the answer if time runs out.

    Parameters
    ----------
    against : ndarray of int, shape (k, k)
        Weight that "u before v" contradicts.
    order : ndarray of int, shape (k,)
        Where to begin.

    Returns
    -------
    ndarray of int, shape (k,)
    """
    gain = against - against.T
    improved = True
    while improved:
        improved = False
        for item in order.tolist():
            rest = order[order != item]
            # Change of cost from putting the item before the first, then after each of the others in turn.
            change = np.r_[0, np.cumsum(gain[rest, item])]
            now, best = int(np.flatnonzero(order == item)[0]), int(np.argmin(change))
            if change[best] < change[now]:
                order = np.insert(rest, best, item)
                improved = True
    return order


CUT_TOLERANCE = 1e-6
"""A triangle inequality or an integrality counts as violated beyond this; HiGHS's own tolerance."""

CUTS_A_ROUND = 1000
"""Violated triangle inequalities that join in a round: at most this many, or as many as disputed pairs."""

MOST_INTEGRAL = 40
"""Items up to which what linear programs leave open is an integer program: a second of HiGHS at most.

It counts nodes, and its first node alone takes a minute of 60 items in no order at all.
"""

ENTANGLED = 4_000_000
"""An iteration counts once up to so many pairs of disputed pairs that share an item, beyond in proportion.

943 similar models have as many, and so have 200 in no order at all, where one takes a millisecond and more.
"""


@dataclass
class Work:
    """What solvers may still do, counted in simplex iterations: as much on a busy machine as elsewhere."""

    left: int


class OrderProgram:
    """Programs over x_uv = "u before v" for the disputed pairs u < v, keeping the triangle rows found so far.

    A pair that every ranking of positive weight orders the same way is ordered that way by every optimum:
    otherwise u and v could change places, and no ranking would be further off, neither for the pair nor for
    the items between. Such pairs are no variables, which among hundreds of models are most.

    Parameters
    ----------
    against : ndarray of int, shape (k, k)
        Weight that "u before v" contradicts: 0 where no ranking does.
    """

    def __init__(self, against: Integers) -> None:
        self.size = len(against)
        self.upper = np.triu_indices(self.size, 1)
        self.disputed = (against > 0) & (against.T > 0)
        self.agreed = (against == 0) & (against.T > 0)
        self.pairs = np.nonzero(np.triu(self.disputed, 1))
        # The solver of SciPy 1.13 takes no wider indices; -1 is no variable.
        self.index = np.full((self.size, self.size), -1, dtype=np.int32)
        self.index[self.pairs] = np.arange(self.variables)
        degree = self.disputed.sum(axis=1)
        self.price = max(int((degree * (degree - 1) // 2).sum()) // ENTANGLED, 1)
        # Triangles u < v < w in the program, each as the number (u k + v) k + w, ascending.
        self.triangles = np.empty(0, dtype=np.int64)

    @property
    def variables(self) -> int:
        """Number of disputed pairs."""
        return len(self.pairs[0])

    def least_of_pairs(self, against: Integers) -> int:
        """What the pairs cost at least, each on its own: a lower bound of every order's cost."""
        return int(np.minimum(against, against.T)[self.upper].sum())

    def improve(
        self, against: Integers, work: Work, start: Integers, *, within: tuple[Integers, int] | None = None
    ) -> tuple[Integers, int]:
        """The best order met, the one to start from if no other, and a lower bound of the cost."""
        found, bound = self.minimise(against, work, start=start, within=within)
        return start if found is None else found, bound

    def minimise(
        self,
        against: Integers,
        work: Work,
        *,
        start: Integers | None = None,
        unlike: Integers | None = None,
        within: tuple[Integers, int] | None = None,
        enough: int | None = None,
    ) -> tuple[Integers | None, int]:
        """The best order met and a proven lower bound of the integer cost.

        `start` is an order to beat, `unlike` one to exclude, `within` = (costs, most) a second cost to keep,
        `enough` a bound at which the question is settled.
        """
        base, slope, unit = self._objective(against)
        # What the solver's tolerance can amount to in cost: less than 1, so nothing, for simple weights.
        slack = CUT_TOLERANCE * unit * self.size
        sides = self._side_rows(unlike, within)
        best, bound = start, self.least_of_pairs(against)

        def meet(x: Floats) -> None:
            """Remember the best order."""
            nonlocal best
            found = np.argsort(-self._before(x).sum(axis=1), kind="stable")
            if start is not None and within is None:
                found = local_search(against, found)
            if self._admissible(found, unlike, within) and (
                best is None or cost_of(against, found) < cost_of(against, best)
            ):
                best = found

        def least_cost(value: float) -> int:
            """What an order costs at least, by a bound of the program: costs are integers."""
            return ceil(base + unit * value - slack)

        while work.left > 0:
            x, value = self._solve(slope / unit, sides, work)
            if x is None:
                return best, bound
            bound = max(bound, least_cost(value))
            meet(x)
            if best is not None and cost_of(against, best) <= bound + int(2 * slack):
                return best, max(bound, cost_of(against, best))
            if enough is not None and bound >= enough:
                return best, bound
            if not len(self._add_violated(self._before(x))):
                break
        if work.left > 0 and self.size <= MOST_INTEGRAL:
            x, value = self._integral(slope / unit, sides)
            if x is not None:
                meet(x)
                bound = max(bound, least_cost(value))
        return best, bound

    def _integral(self, slope: Floats, sides: list[tuple[Floats, float]]) -> tuple[Floats | None, float]:
        """The best whole solution of all triangles, and its cost; None where the solver found none."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        while True:
            matrix, most = self._rows(sides)
            rows = None if matrix is None else LinearConstraint(matrix, -np.inf, most)
            exact = {"mip_rel_gap": 0.0}
            found = milp(slope, integrality=1, bounds=Bounds(0, 1), constraints=rows, options=exact)
            if found.status != 0:
                return None, -np.inf
            x = np.rint(found.x)
            if not len(self._add_violated(self._before(x))):
                return x, float(found.fun)

    def _objective(self, against: Integers) -> tuple[int, Floats, float]:
        """Cost of the agreed pairs and of "v before u" everywhere, slope of x, and the unit of the slope."""
        forward, backward = against[self.pairs], against.T[self.pairs]
        slope = (forward - backward).astype(float)
        base = int(backward.sum()) + int(against[self.agreed].sum())
        return base, slope, max(float(np.abs(slope).max(initial=0.0)), 1.0)

    def _side_rows(
        self, unlike: Integers | None, within: tuple[Integers, int] | None
    ) -> list[tuple[Floats, float]]:
        sides = []
        if unlike is not None:
            place = np.argsort(unlike)
            before = (place[self.pairs[0]] < place[self.pairs[1]]).astype(float)
            sides.append((2 * before - 1, before.sum() - 1))
        if within is not None:
            base, slope, unit = self._objective(within[0])
            sides.append((slope / unit, (within[1] - base) / unit + CUT_TOLERANCE))
        return sides

    def _solve(
        self, slope: Floats, sides: list[tuple[Floats, float]], work: Work
    ) -> tuple[Floats | None, float]:
        """Solution of the rows known so far and its cost; None where the work allowed ran out before."""
        from scipy.optimize import linprog

        matrix, most = self._rows(sides)
        limit = {"maxiter": work.left // self.price}
        result = linprog(slope, A_ub=matrix, b_ub=most, bounds=(0, 1), method="highs", options=limit)
        work.left -= self.price * max(int(result.nit), 1)
        # An interrupted linear program proves nothing.
        return (result.x, float(result.fun)) if result.status == 0 else (None, -np.inf)

    def _rows(self, sides: list[tuple[Floats, float]]) -> tuple[Any, Floats | None]:
        """All rows known so far as ``row <= most``; None where there are none."""
        from scipy.sparse import csr_array, vstack

        blocks = [(csr_array(side[None, :]), np.array([most])) for side, most in sides]
        if len(self.triangles):
            rows, agreed = self._triangle_rows(self.triangles)
            blocks += [(rows, 1 - agreed), (-rows, agreed)]
        if not blocks:
            return None, None
        return vstack([block for block, _ in blocks], format="csr"), np.concatenate([m for _, m in blocks])

    def _triangle_rows(self, triangles: Integers) -> tuple[Any, Floats]:
        """Rows x_uv + x_vw − x_uw, and what agreed pairs add to each."""
        from scipy.sparse import csr_array

        u, v, w = self._corners(triangles)
        first, second = np.stack([u, v, u], axis=1), np.stack([v, w, w], axis=1)
        signs = np.array([1.0, 1.0, -1.0])
        columns = self.index[first, second]
        free = columns >= 0
        starts = np.zeros(len(u) + 1, dtype=np.int32)
        np.cumsum(free.sum(axis=1), out=starts[1:])
        values = np.broadcast_to(signs, free.shape)[free]
        rows = csr_array((values, columns[free], starts), shape=(len(u), self.variables))
        return rows, self.agreed[first, second] @ signs

    def _add_violated(self, before: Floats) -> Integers:
        triangles = self._violated(before)
        triangles = triangles[~np.isin(triangles, self.triangles)]
        u, v, w = self._corners(triangles)
        total = before[u, v] + before[v, w] - before[u, w]
        # Every round solves the program again: with a thousand rows each, 943 entangled models took 30.
        most = max(CUTS_A_ROUND, self.variables)
        worst = triangles[np.argsort(np.minimum(total, 1 - total), kind="stable")[:most]]
        self.triangles = np.sort(np.concatenate([self.triangles, worst]))
        return worst

    def _violated(self, before: Floats) -> Integers:
        """Triangles whose 0 ≤ x_uv + x_vw − x_uw ≤ 1 does not hold, ascending.

        Agreement is transitive: a triangle with two agreed pairs holds whatever the third is. So each has an
        item with two disputed pairs, and looking at each item's own disputed pairs finds all.
        """
        found = []
        for item, disputed in enumerate(self.disputed):
            others = np.flatnonzero(disputed)
            first = before[item, others]
            total = first[:, None] + before[np.ix_(others, others)] - first
            at = np.flatnonzero(np.abs(total - 0.5) > 0.5 + CUT_TOLERANCE)
            one, two = np.divmod(at, max(len(others), 1))
            one, two = others[one[one < two]], others[two[one < two]]
            u, v, w = np.sort(np.stack([np.full(len(one), item), one, two]), axis=0)
            found.append((u * self.size + v) * self.size + w)
        return np.unique(np.concatenate(found))

    def _corners(self, triangles: Integers) -> tuple[Integers, Integers, Integers]:
        pair, w = np.divmod(triangles, self.size)
        u, v = np.divmod(pair, self.size)
        return u, v, w

    def _before(self, x: Floats) -> Floats:
        """How far u is before v, shape (k, k): 1 minus itself at the other side of the diagonal."""
        before = self.agreed.astype(float)
        before[self.pairs] = x
        before.T[self.pairs] = 1 - x
        return before

    def _admissible(
        self, order: Integers, unlike: Integers | None, within: tuple[Integers, int] | None
    ) -> bool:
        if unlike is not None and np.array_equal(order, unlike):
            return False
        return within is None or cost_of(within[0], order) <= within[1]
