"""Kemeny orders: least weighted number of contradicted pairs, by dynamic programming or integer program."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, prod
from typing import Any

import numpy as np

from riskrank.engine.evidence.shared_tasks import reached
from riskrank.engine.types import Floats, Integers

LISTED = 24
"""Optima are listed in full up to this many; above, they are counted."""

MOST_ITEMS = 18
"""Items up to which subsets are enumerated: 2^18 states, some tenths of a second and tens of MB."""

MOST_DISPUTED = 80_000
"""Pairs that rankings order differently, up to which linear programs run: 943 similar models have 54,000."""

MOST_WORK = 1_000_000_000
"""Simplex iterations times constraints for a group of items: some 20 seconds.

Work is counted, not time, so that a busy machine gives the same order.
"""

MOST_OPEN = 800
"""Pairs that an integer program may decide: all of 40 items, a second at most."""

TOLERANCE = 1e-6
"""Violation of a constraint that the solver accepts."""


@dataclass(frozen=True)
class KemenySolution:
    """The chosen order and what is known about other optima; see `Aggregation` for the fields."""

    order: Integers
    optima_count: int | None
    optima: list[tuple[int, ...]] | None
    unique: bool | None
    gap: float


def solve_kemeny(against: Integers, pull: Integers, by_name: Integers) -> KemenySolution:
    """Return the Kemeny order of a table of pairwise disagreements.

    Items split into groups such that a strict majority puts every item of an earlier group before every item
    of a later one; each optimum is then a concatenation of the groups' own optima (the extended Condorcet
    criterion). Groups of up to `MOST_ITEMS` items are solved by dynamic programming, which also counts the
    optima, larger ones by linear and integer programs.

    Parameters
    ----------
    against : ndarray of int, shape (k, k)
        Weight that "u before v" contradicts.
    pull : ndarray of int, shape (k,)
        Weighted mean ranks on any scale: among optima, the one with the largest Σ place · pull is taken.
    by_name : ndarray of int, shape (k,)
        Place of each item in the order of names, the last tie-break.

    Returns
    -------
    KemenySolution
    """
    parts: list[KemenySolution] = []
    excess = 0.0
    for group in _majority_groups(against):
        # Sorted, so that the order of the input cannot influence the solver.
        group = group[np.lexsort((by_name[group], pull[group]))]
        inner = against[np.ix_(group, group)]
        solve = solve_by_subsets if len(group) <= MOST_ITEMS else solve_by_program
        part = solve(inner, pull[group], by_name[group])
        excess += part.gap * order_cost(inner, part.order)
        optima = part.optima and [tuple(group[list(order)].tolist()) for order in part.optima]
        parts.append(replace(part, order=group[part.order], optima=optima))
    order = np.concatenate([part.order for part in parts])
    counts = [part.optima_count for part in parts if part.optima_count is not None]
    count = prod(counts) if len(counts) == len(parts) else None
    optima = None
    if count is not None and count <= LISTED:
        optima = [sum(choice, ()) for choice in product(*(part.optima or () for part in parts))]
    known = [part.unique for part in parts]
    unique = False if False in known else (None if None in known else True)
    return KemenySolution(order, count, optima, unique, excess / max(order_cost(against, order), 1))


def _majority_groups(against: Integers) -> list[Integers]:
    """Return the groups no strict majority splits, the best group first."""
    rank = reached(against <= against.T).sum(axis=1)
    return [np.flatnonzero(rank == value) for value in np.unique(rank)[::-1]]


def subsets_by_size(size: int) -> Iterator[np.ndarray]:
    """Yield the subsets of `size` items as bit masks: first those of one item, then of two, up to all."""
    bits = np.bitwise_count(np.arange(1 << size, dtype=np.uint32))
    by_size = np.argsort(bits, kind="stable").astype(np.int64)
    yield from np.split(by_size, np.cumsum(np.bincount(bits))[:-1])[1:]


def solve_by_subsets(against: Integers, pull: Integers, by_name: Integers) -> KemenySolution:
    """Order few items by a dynamic program over the subsets that come last, and count the optima."""
    size = len(against)
    least, second = np.zeros((2, 1 << size), dtype=np.int64)
    count = np.ones(1 << size, dtype=np.int64)
    # Items that may come first in a subset: in some optimum, and in one nearest to the mean ranks.
    optimal, nearest = np.zeros((2, size, 1 << size), dtype=bool)
    item = np.arange(size)[:, None]
    never = np.iinfo(np.int64).max
    for place, masks in zip(range(size, 0, -1), subsets_by_size(size), strict=True):
        rest = masks & ~(1 << item)
        inside = rest < masks
        cost = least[rest] + (against.astype(float) @ inside).astype(np.int64)
        least[masks] = np.where(inside, cost, never).min(axis=0)
        tight = inside & (cost == least[masks])
        towards = np.where(tight, second[rest] - place * pull[:, None], never)
        second[masks] = towards.min(axis=0)
        count[masks] = np.where(tight, count[rest], 0).sum(axis=0)
        optimal[:, masks], nearest[:, masks] = tight, towards == second[masks]

    def every_order(mask: int) -> Iterator[tuple[int, ...]]:
        if mask == 0:
            yield ()
        for first in np.flatnonzero(optimal[:, mask]).tolist():
            for others in every_order(mask ^ (1 << first)):
                yield (first, *others)

    order: list[int] = []
    everything = mask = (1 << size) - 1
    while mask:
        order.append(min(np.flatnonzero(nearest[:, mask]).tolist(), key=lambda first: by_name[first]))
        mask ^= 1 << order[-1]
    total = int(count[everything])
    optima = list(every_order(everything)) if total <= LISTED else None
    return KemenySolution(np.array(order, dtype=np.int64), total, optima, total == 1, 0.0)


def order_cost(against: Integers, order: Integers) -> int:
    """Return the weight that an order, the best item first, contradicts."""
    return int(np.triu(against[np.ix_(order, order)], 1).sum())


def local_search(costs: Sequence[Integers], order: Integers) -> Integers:
    """Move single items until no move lowers the first cost, or a later cost at the same earlier ones."""
    gains = np.stack([against - against.T for against in costs])
    changes = np.zeros((len(costs), len(order)), dtype=np.int64)
    improved = True
    while improved:
        improved = False
        for item in order.tolist():
            rest = order[order != item]
            # Change of the costs from putting the item before all others, then after each of them in turn.
            np.cumsum(gains[:, rest, item], axis=1, out=changes[:, 1:])
            now, best = int(np.flatnonzero(order == item)[0]), int(np.lexsort(changes[::-1])[0])
            if (changes[:, best] != changes[:, now]).any():
                order = np.insert(rest, best, item)
                improved = True
    return order


def solve_by_program(against: Integers, pull: Integers, by_name: Integers) -> KemenySolution:
    """Order many items by linear and integer programs, and find out whether the optimum is unique.

    Among optima, the largest Σ place · pull is taken, and among those the largest Σ place · by_name.
    """
    towards = [np.broadcast_to(-key, against.shape) for key in (pull, by_name)]
    program = OrderProgram(against)
    start = local_search([against, *towards], np.arange(len(against)))
    order, bound = program.minimise(against, start)
    cost = order_cost(against, order)
    if bound < cost:
        return KemenySolution(order, None, None, None, (cost - bound) / cost)
    kept = [(against, cost)]
    unique: bool | None = False
    if (against != against.T)[order[:-1], order[1:]].all():
        place = np.argsort(order)
        agreement = (place[:, None] < place).astype(np.int64)
        other, bound = program.minimise(agreement, order, kept)
        unique = False if (other != order).any() else bound == order_cost(agreement, order) or None
    if not unique:
        for costs in towards:
            order, _ = program.minimise(costs, order, kept)
            kept.append((costs, order_cost(costs, order)))
    return KemenySolution(order, None, None, unique, 0.0)


class OrderProgram:
    """Programs over x_uv = "u before v" for pairs u < v, with the triangle inequalities added so far.

    Parameters
    ----------
    against : ndarray of int, shape (k, k)
        Weight that "u before v" contradicts: 0 where no ranking does.
    """

    def __init__(self, against: Integers) -> None:
        self.size = len(against)
        self.pairs = np.triu_indices(self.size, 1)
        # The solver of SciPy 1.13 takes no wider indices.
        self.index = np.zeros(against.shape, dtype=np.int32)
        self.index[self.pairs] = np.arange(len(self.pairs[0]))
        # Every optimum orders a pair as all rankings of positive weight do: otherwise u and v could change
        # places, and no ranking would be further off, neither for the pair nor for the items between.
        self.disputed = (against > 0) & (against.T > 0)
        agreed = (against < against.T) & ~self.disputed
        self.bounds = np.stack([agreed[self.pairs], ~agreed.T[self.pairs]]).astype(float)
        # Triangles u < v < w, each as the number (u k + v) k + w, ascending.
        self.triangles = np.empty(0, dtype=np.int64)
        self.work = MOST_WORK if self.disputed.sum() <= 2 * MOST_DISPUTED else 0

    def minimise(
        self, costs: Integers, start: Integers, kept: Sequence[tuple[Integers, int]] = ()
    ) -> tuple[Integers, int]:
        """Return the best order found, `start` if there is no better one, and a lower bound of the cost.

        `kept` holds other costs, and how much an order may cost in each.
        """
        slope, base, unit = self._objective(costs)
        # Costs are integers: for simple weights, the tolerance amounts to less than 1, so to nothing.
        slack = TOLERANCE * unit * self.size
        best, bound = start, int(np.minimum(costs, costs.T)[self.pairs].sum())
        integral, bounds = False, self.bounds
        while self.work > 0:
            result = self._solve(slope, kept, bounds, integral)
            if result.status != 0:
                break
            bound = max(bound, ceil(base + unit * result.fun - slack))
            before = np.zeros(costs.shape)
            before[self.pairs] = np.rint(result.x) if integral else result.x
            before.T[self.pairs] = 1 - before[self.pairs]
            order = np.argsort(-before.sum(axis=1), kind="stable")
            order = local_search([*(other for other, _ in kept), costs], order)
            allowed = all(order_cost(other, order) <= most for other, most in kept)
            if allowed and order_cost(costs, order) < order_cost(costs, best):
                best = order
            if order_cost(costs, best) <= bound + int(2 * slack):
                return best, order_cost(costs, best)
            if self._add_violated(before):
                continue
            # A pair whose change costs more than the best order found allows keeps its side.
            most = (order_cost(costs, best) - base + slack) / unit - result.fun
            fixed = integral or np.abs(result.lower.marginals + result.upper.marginals) > most
            bounds = np.where(fixed, np.rint(result.x), self.bounds)
            if integral or np.count_nonzero(bounds[0] < bounds[1]) > MOST_OPEN:
                break
            integral = True
        return best, bound

    def _solve(
        self, slope: Floats, kept: Sequence[tuple[Integers, int]], bounds: Floats, integral: bool
    ) -> Any:
        """Return SciPy's result of the linear or integer program with the constraints added so far."""
        from scipy.optimize import Bounds, LinearConstraint, linprog, milp

        matrix, most = self._constraints(kept)
        if integral:
            rows = LinearConstraint(matrix, -np.inf, most)
            exact = {"mip_rel_gap": 0.0}
            return milp(slope, integrality=1, bounds=Bounds(*bounds), constraints=rows, options=exact)
        limit = {"maxiter": self.work // max(len(most), 1)}
        result = linprog(slope, matrix, most, bounds=bounds.T, options=limit)
        self.work -= max(int(result.nit), 1) * max(len(most), 1)
        return result

    def _objective(self, costs: Integers) -> tuple[Floats, int, int]:
        """Return slope, base and unit of the cost, which is ``base + unit * slope @ x``."""
        slope = (costs - costs.T)[self.pairs]
        unit = max(int(np.abs(slope).max()), 1)
        return slope / unit, int(costs.T[self.pairs].sum()), unit

    def _constraints(self, kept: Sequence[tuple[Integers, int]]) -> tuple[Any, Floats]:
        """Return all constraints as ``matrix @ x <= most``."""
        from scipy.sparse import csr_array, vstack

        u, v, w = self._corners(self.triangles)
        columns = self.index[[u, v, u], [v, w, w]].T.ravel()
        starts = np.arange(0, 3 * len(u) + 1, 3, dtype=np.int32)
        signs = np.tile([1.0, 1.0, -1.0], len(u))
        rows = csr_array((signs, columns, starts), shape=(len(u), len(self.pairs[0])))
        blocks, most = [rows, -rows], [np.ones(len(u)), np.zeros(len(u))]
        for costs, limit in kept:
            slope, base, unit = self._objective(costs)
            blocks.append(csr_array(slope[None]))
            most.append(np.array([(limit - base) / unit + TOLERANCE]))
        return vstack(blocks, format="csr"), np.concatenate(most)

    def _add_violated(self, before: Floats) -> bool:
        """Add triangles that break 0 ≤ x_uv + x_vw − x_uw ≤ 1, and return whether there are any new ones."""
        new = np.setdiff1d(self.violated(before), self.triangles)
        u, v, w = self._corners(new)
        total = before[u, v] + before[v, w] - before[u, w]
        # As many as disputed pairs at most: all of them slow the solver down, few of them take many rounds.
        most = max(1000, int(self.disputed.sum()) // 2)
        worst = new[np.argsort(np.minimum(total, 1 - total), kind="stable")[:most]]
        self.triangles = np.sort(np.concatenate([self.triangles, worst]))
        return len(new) > 0

    def violated(self, before: Floats) -> Integers:
        """Return the violated triangles.

        Agreement is transitive, so a triangle with two agreed pairs holds whatever the third is. Every other
        has an item with two disputed pairs.
        """
        found = []
        for item, disputed in enumerate(self.disputed):
            others = np.flatnonzero(disputed)
            first = before[item, others]
            total = first[:, None] + before[np.ix_(others, others)] - first
            left, right = np.nonzero(np.triu(np.abs(total - 0.5) > 0.5 + TOLERANCE, 1))
            u, v, w = np.sort([np.full(len(left), item), others[left], others[right]], axis=0)
            found.append((u * self.size + v) * self.size + w)
        return np.unique(np.concatenate(found))

    def _corners(self, triangles: Integers) -> tuple[Integers, ...]:
        return np.unravel_index(triangles, (self.size,) * 3)
