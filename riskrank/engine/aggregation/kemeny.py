"""Kemeny orders, which minimise the total weight of pairwise disagreements (the Kemeny score)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, prod
from typing import Any

import numpy as np

from riskrank.engine.evidence.mean_differences import transitive_closure
from riskrank.engine.types import Floats, Integers

# Largest number of optima that are listed; more are only counted.
MAX_LISTED = 24

# Largest number of items whose subsets are enumerated: 2^18 states, less than a second, tens of MB.
MAX_ITEMS = 18

# Largest number of disputed pairs for linear programs; 943 similar models have 54,000.
MAX_DISPUTED = 80_000

# Limit of simplex iterations times constraints for a group of items, about 20 seconds. It limits work instead
# of time, so that a busy machine returns the same order.
MAX_WORK = 1_000_000_000

# Largest number of pairs that an integer program decides: all of 40 items, at most a second.
MAX_OPEN = 800

# Violation of a constraint that the solver accepts.
TOLERANCE = 1e-6


@dataclass(frozen=True)
class KemenySolution:
    """A Kemeny order, with the number of optima.

    Attributes
    ----------
    order : ndarray of int, shape (k,)
        Items, best first.
    optima_count : int or None
        Number of optimal orders; None if unknown.
    optima : list of tuple of int, or None
        All optimal orders; None if there are more than `MAX_LISTED`, or if they are unknown.
    unique : bool or None
        True if there is only one optimal order; None if unknown.
    gap : float
        0 for a proven optimum; otherwise (cost − proven lower bound) / cost.
    """

    order: Integers
    optima_count: int | None
    optima: list[tuple[int, ...]] | None
    unique: bool | None
    gap: float


def solve_kemeny(disagreement: Integers, mean_ranks: Integers, name_positions: Integers) -> KemenySolution:
    """Return the Kemeny order for a matrix of pairwise disagreements.

    Items are split into groups such that a strict majority ranks every item of an earlier group above every
    item of a later one. Each optimum is then a concatenation of the groups' optima (the extended Condorcet
    criterion). Groups of up to `MAX_ITEMS` items are solved by dynamic programming, which also counts the
    optima. Larger groups are solved by linear and integer programs.

    Parameters
    ----------
    disagreement : ndarray of int, shape (k, k)
        Weight of the rankings that contradict "u before v".
    mean_ranks : ndarray of int, shape (k,)
        Weighted mean ranks on any scale; the optimum with the largest Σ position · mean rank is chosen.
    name_positions : ndarray of int, shape (k,)
        Position of each item in alphabetical order, the last tie-break.

    Returns
    -------
    KemenySolution
    """
    parts: list[KemenySolution] = []
    excess = 0.0
    # Items that no strict majority separates have the same rank, which is largest for the first group.
    rank = transitive_closure(disagreement <= disagreement.T).sum(axis=1)
    for value in np.unique(rank)[::-1]:
        group = np.flatnonzero(rank == value)
        # Sort, so that the order of the input has no effect on the solver.
        group = group[np.lexsort((name_positions[group], mean_ranks[group]))]
        inner = disagreement[np.ix_(group, group)]
        solve = solve_by_subsets if len(group) <= MAX_ITEMS else solve_by_program
        part = solve(inner, mean_ranks[group], name_positions[group])
        excess += part.gap * order_cost(inner, part.order)
        optima = part.optima and [tuple(group[list(order)].tolist()) for order in part.optima]
        parts.append(replace(part, order=group[part.order], optima=optima))
    order = np.concatenate([part.order for part in parts])
    counts = [part.optima_count for part in parts if part.optima_count is not None]
    count = prod(counts) if len(counts) == len(parts) else None
    optima = None
    if count is not None and count <= MAX_LISTED:
        optima = [sum(choice, ()) for choice in product(*(part.optima or () for part in parts))]
    flags = [part.unique for part in parts]
    unique = False if False in flags else (None if None in flags else True)
    return KemenySolution(order, count, optima, unique, excess / max(order_cost(disagreement, order), 1))


def subsets_by_size(size: int) -> Iterator[np.ndarray]:
    """Yield all subsets of `size` items as bit masks: one array for each number of items, 1 to `size`."""
    bits = np.bitwise_count(np.arange(1 << size, dtype=np.uint32))
    by_size = np.argsort(bits, kind="stable").astype(np.int64)
    yield from np.split(by_size, np.cumsum(np.bincount(bits))[:-1])[1:]


def solve_by_subsets(
    disagreement: Integers, mean_ranks: Integers, name_positions: Integers
) -> KemenySolution:
    """Compute the Kemeny order of a few items by dynamic programming over the subsets ranked last.

    The parameters are those of `solve_kemeny`.
    """
    size = len(disagreement)
    least, second = np.zeros((2, 1 << size), dtype=np.int64)
    count = np.ones(1 << size, dtype=np.int64)
    # Items that can come first in a subset: in some optimum, and in an optimum nearest to the mean ranks.
    optimal, nearest = np.zeros((2, size, 1 << size), dtype=bool)
    item = np.arange(size)[:, None]
    never = np.iinfo(np.int64).max
    for place, masks in zip(range(size, 0, -1), subsets_by_size(size), strict=True):
        remaining = masks & ~(1 << item)
        inside = remaining < masks
        cost = least[remaining] + (disagreement.astype(float) @ inside).astype(np.int64)
        least[masks] = np.where(inside, cost, never).min(axis=0)
        tight = inside & (cost == least[masks])
        towards = np.where(tight, second[remaining] - place * mean_ranks[:, None], never)
        second[masks] = towards.min(axis=0)
        count[masks] = np.where(tight, count[remaining], 0).sum(axis=0)
        optimal[:, masks], nearest[:, masks] = tight, towards == second[masks]

    def every_order(mask: int) -> Iterator[tuple[int, ...]]:
        """Yield every optimal order of the items in a bit mask, each as a tuple of items, best first."""
        if mask == 0:
            yield ()
        for first in np.flatnonzero(optimal[:, mask]).tolist():
            for followers in every_order(mask ^ (1 << first)):
                yield (first, *followers)

    order: list[int] = []
    everything = mask = (1 << size) - 1
    while mask:
        order.append(min(np.flatnonzero(nearest[:, mask]).tolist(), key=lambda first: name_positions[first]))
        mask ^= 1 << order[-1]
    total = int(count[everything])
    optima = list(every_order(everything)) if total <= MAX_LISTED else None
    return KemenySolution(np.array(order, dtype=np.int64), total, optima, total == 1, 0.0)


def order_cost(disagreement: Integers, order: Integers) -> int:
    """Return the Kemeny score of an order: the total weight of its pairwise disagreements.

    `disagreement[u, v]` is the weight against "u before v". `order` lists the items, best first.
    """
    return int(np.triu(disagreement[np.ix_(order, order)], 1).sum())


def local_search(costs: Sequence[Integers], order: Integers) -> Integers:
    """Improve an order by moving single items until no move lowers its cost; return the improved order.

    `costs` holds one or more matrices with the cost of placing item u before v. Costs are compared
    lexicographically: a matrix matters only if all matrices before it give equal costs.
    """
    gains = np.stack([against - against.T for against in costs])
    changes = np.zeros((len(costs), len(order)), dtype=np.int64)
    improved = True
    while improved:
        improved = False
        for item in order.tolist():
            remaining = order[order != item]
            # Change of the costs if the item moves before all other items, then after each of them in turn.
            np.cumsum(gains[:, remaining, item], axis=1, out=changes[:, 1:])
            now, best = int(np.flatnonzero(order == item)[0]), int(np.lexsort(changes[::-1])[0])
            if (changes[:, best] != changes[:, now]).any():
                order = np.insert(remaining, best, item)
                improved = True
    return order


def solve_by_program(
    disagreement: Integers, mean_ranks: Integers, name_positions: Integers
) -> KemenySolution:
    """Compute the Kemeny order of many items by linear and integer programming.

    The parameters are those of `solve_kemeny`. Among optima, the order with the largest Σ position · mean
    rank is chosen, then the one with the largest Σ position · name position.
    """
    towards = [np.broadcast_to(-key, disagreement.shape) for key in (mean_ranks, name_positions)]
    program = OrderProgram(disagreement)
    start = local_search([disagreement, *towards], np.arange(len(disagreement)))
    order, bound = program.minimise(disagreement, start)
    cost = order_cost(disagreement, order)
    if bound < cost:
        return KemenySolution(order, None, None, None, (cost - bound) / cost)
    limits = [(disagreement, cost)]
    unique: bool | None = False
    if (disagreement != disagreement.T)[order[:-1], order[1:]].all():
        place = np.argsort(order)
        agreement = (place[:, None] < place).astype(np.int64)
        alternative, bound = program.minimise(agreement, order, limits)
        unique = False if (alternative != order).any() else bound == order_cost(agreement, order) or None
    if not unique:
        for costs in towards:
            order, _ = program.minimise(costs, order, limits)
            limits.append((costs, order_cost(costs, order)))
    return KemenySolution(order, None, None, unique, 0.0)


class OrderProgram:
    """Linear and integer programs over the indicators x_uv of "u before v" for pairs u < v.

    Transitivity (triangle) inequalities are added when a solution violates them.

    Parameters
    ----------
    disagreement : ndarray of int, shape (k, k)
        Weight of the rankings that contradict "u before v"; 0 if none does.
    """

    def __init__(self, disagreement: Integers) -> None:
        """Prepare the program; the pairs on which all rankings agree are fixed."""
        self.size = len(disagreement)
        self.pairs = np.triu_indices(self.size, 1)
        # The solver of SciPy 1.13 requires 32-bit indices.
        self.index = np.zeros(disagreement.shape, dtype=np.int32)
        self.index[self.pairs] = np.arange(len(self.pairs[0]))
        # Every optimum orders a pair as all rankings of positive weight do. Otherwise exchanging u and v
        # would not increase the distance to any ranking, neither for the pair nor for the items between.
        self.disputed = (disagreement > 0) & (disagreement.T > 0)
        agreed = (disagreement < disagreement.T) & ~self.disputed
        self.bounds = np.stack([agreed[self.pairs], ~agreed.T[self.pairs]]).astype(float)
        # Triangles u < v < w, each as the number (u k + v) k + w, ascending.
        self.triangles = np.empty(0, dtype=np.int64)
        self.work = MAX_WORK if self.disputed.sum() <= 2 * MAX_DISPUTED else 0

    def minimise(
        self, costs: Integers, start: Integers, limits: Sequence[tuple[Integers, int]] = ()
    ) -> tuple[Integers, int]:
        """Minimise a cost over all orders; return the best order and a lower bound on the cost.

        `costs` has shape (k, k) and holds the cost of placing u before v. `start` is returned if no better
        order is found. Each element of `limits` is another cost matrix with the largest cost that it may
        have.
        """
        slope, base, unit = self._linear_objective(costs)
        # Costs are integers: for simple weights, the tolerance is below 1 and has no effect.
        slack = TOLERANCE * unit * self.size
        best, bound = start, int(np.minimum(costs, costs.T)[self.pairs].sum())
        integral, bounds = False, self.bounds
        while self.work > 0:
            result = self._solve(slope, limits, bounds, integral)
            if result.status != 0:
                break
            bound = max(bound, ceil(base + unit * result.fun - slack))
            before = np.zeros(costs.shape)
            before[self.pairs] = np.rint(result.x) if integral else result.x
            before.T[self.pairs] = 1 - before[self.pairs]
            order = np.argsort(-before.sum(axis=1), kind="stable")
            order = local_search([*(limited for limited, _ in limits), costs], order)
            allowed = all(order_cost(limited, order) <= most for limited, most in limits)
            if allowed and order_cost(costs, order) < order_cost(costs, best):
                best = order
            if order_cost(costs, best) <= bound + int(2 * slack):
                return best, order_cost(costs, best)
            if self._add_violated_triangles(before):
                continue
            # A pair keeps its order if reversing it would cost more than the best order found.
            most = (order_cost(costs, best) - base + slack) / unit - result.fun
            fixed = integral or np.abs(result.lower.marginals + result.upper.marginals) > most
            bounds = np.where(fixed, np.rint(result.x), self.bounds)
            if integral or np.count_nonzero(bounds[0] < bounds[1]) > MAX_OPEN:
                break
            integral = True
        return best, bound

    def _solve(
        self, slope: Floats, limits: Sequence[tuple[Integers, int]], bounds: Floats, integral: bool
    ) -> Any:
        """Solve the linear or integer program with the constraints added so far; return SciPy's result.

        Parameters
        ----------
        slope : ndarray
            Cost of each indicator.
        limits : sequence of (ndarray, int)
            Further cost matrices, each with the largest cost allowed.
        bounds : ndarray, shape (2, indicators)
            Lower and upper limit of each indicator.
        integral : bool
            True for the integer program.
        """
        from scipy.optimize import Bounds, LinearConstraint, linprog, milp

        matrix, most = self._build_constraints(limits)
        if integral:
            rows = LinearConstraint(matrix, -np.inf, most)
            exact = {"mip_rel_gap": 0.0}
            return milp(slope, integrality=1, bounds=Bounds(*bounds), constraints=rows, options=exact)
        limit = {"maxiter": self.work // max(len(most), 1)}
        result = linprog(slope, matrix, most, bounds=bounds.T, options=limit)
        self.work -= max(int(result.nit), 1) * max(len(most), 1)
        return result

    def _linear_objective(self, costs: Integers) -> tuple[Floats, int, int]:
        """Express the cost of an order as ``base + unit * slope @ x``; return (slope, base, unit).

        `costs` holds the cost of placing item u before v, shape (k, k).
        """
        slope = (costs - costs.T)[self.pairs]
        unit = max(int(np.abs(slope).max()), 1)
        return slope / unit, int(costs.T[self.pairs].sum()), unit

    def _build_constraints(self, limits: Sequence[tuple[Integers, int]]) -> tuple[Any, Floats]:
        """Return the matrix and the upper bounds of all constraints, ``matrix @ x <= upper``.

        `limits` holds further cost matrices, each with the largest cost allowed.
        """
        from scipy.sparse import csr_array, vstack

        u, v, w = self._triangle_corners(self.triangles)
        columns = self.index[[u, v, u], [v, w, w]].T.ravel()
        starts = np.arange(0, 3 * len(u) + 1, 3, dtype=np.int32)
        signs = np.tile([1.0, 1.0, -1.0], len(u))
        rows = csr_array((signs, columns, starts), shape=(len(u), len(self.pairs[0])))
        blocks, most = [rows, -rows], [np.ones(len(u)), np.zeros(len(u))]
        for costs, limit in limits:
            slope, base, unit = self._linear_objective(costs)
            blocks.append(csr_array(slope[None]))
            most.append(np.array([(limit - base) / unit + TOLERANCE]))
        return vstack(blocks, format="csr"), np.concatenate(most)

    def _add_violated_triangles(self, before: Floats) -> bool:
        """Add the violated inequalities 0 ≤ x_uv + x_vw − x_uw ≤ 1; return True if there are any.

        `before` holds x_uv, the degree to which u precedes v, shape (k, k).
        """
        new = np.setdiff1d(self.violated_triangles(before), self.triangles)
        u, v, w = self._triangle_corners(new)
        total = before[u, v] + before[v, w] - before[u, w]
        # Add a limited number: adding all slows down the solver, and adding few requires many rounds.
        most = max(1000, int(self.disputed.sum()) // 2)
        worst = new[np.argsort(np.minimum(total, 1 - total), kind="stable")[:most]]
        self.triangles = np.sort(np.concatenate([self.triangles, worst]))
        return len(new) > 0

    def violated_triangles(self, before: Floats) -> Integers:
        """Return the indices of the triangle inequalities that a fractional solution violates.

        Unanimous pairs are transitive, so a triangle with two unanimous pairs satisfies the inequality. Every
        other triangle has an item in two pairs that are not unanimous.

        `before` holds x_uv, the degree to which u precedes v, shape (k, k).
        """
        triangles = []
        for item, disputed in enumerate(self.disputed):
            partners = np.flatnonzero(disputed)
            first = before[item, partners]
            total = first[:, None] + before[np.ix_(partners, partners)] - first
            left, right = np.nonzero(np.triu(np.abs(total - 0.5) > 0.5 + TOLERANCE, 1))
            u, v, w = np.sort([np.full(len(left), item), partners[left], partners[right]], axis=0)
            triangles.append((u * self.size + v) * self.size + w)
        return np.unique(np.concatenate(triangles))

    def _triangle_corners(self, triangles: Integers) -> tuple[Integers, ...]:
        """Convert triangle indices to their three items u < v < w."""
        return np.unravel_index(triangles, (self.size,) * 3)
