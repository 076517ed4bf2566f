"""Kemeny orders: least weighted number of contradicted pairs, by dynamic programming or integer program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from math import ceil, prod
from time import monotonic
from typing import Any

import numpy as np

from riskrank.engine.aggregation.subsets import MOST_ITEMS, layers
from riskrank.engine.types import Floats, Integers

CUT_TOLERANCE = 1e-6
"""A triangle inequality or an integrality counts as violated beyond this; HiGHS's own tolerance."""

CUTS_A_ROUND = 1000
"""At most this many violated triangle inequalities, the worst first, join the program in a round."""


@dataclass(frozen=True)
class KemenySolution:
    """The chosen order and what is known about the others; see `Aggregation` for the fields."""

    order: Integers
    optima_count: int | None
    optima: list[tuple[int, ...]] | None
    unique: bool | None
    gap: float


def solve_kemeny(
    against: Integers, pull: Integers, by_name: Integers, *, listed: int, time_limit: float
) -> KemenySolution:
    """Return the Kemeny order of a table of pairwise disagreements.

    Items split into groups such that a strict majority puts every item of an earlier group before every item
    of a later one; each optimum is then a concatenation of the groups' own optima (the extended Condorcet
    criterion). Groups of up to `MOST_ITEMS` items are solved by dynamic programming over subsets, which also
    counts the optima; larger ones by an integer program over "u before v" whose triangle inequalities are
    added as they are violated.

    Parameters
    ----------
    against : ndarray of int, shape (k, k)
        Weight that "u before v" contradicts.
    pull : ndarray of int, shape (k,)
        Weighted mean ranks on any scale: among optima, the one with the largest Σ place · pull is taken.
    by_name : ndarray of int, shape (k,)
        Place of each item in the order of names, the last tie-break.
    listed : int
        Optima are listed when there are at most this many.
    time_limit : float
        Seconds for all integer programs together.

    Returns
    -------
    KemenySolution
    """
    deadline = monotonic() + time_limit
    parts: list[KemenySolution] = []
    excess = 0.0
    for group in _majority_groups(against):
        # One order of the items whatever the input's, so that the solver cannot depend on it either.
        group = group[np.lexsort((by_name[group], pull[group]))]
        inner = against[np.ix_(group, group)]
        if len(group) <= MOST_ITEMS:
            part = _solve_by_subsets(inner, pull[group], by_name[group], listed)
        else:
            part = _solve_by_program(inner, pull[group], deadline)
            excess += part.gap * _cost(inner, part.order)
        optima = part.optima and [tuple(group[list(order)].tolist()) for order in part.optima]
        parts.append(replace(part, order=group[part.order], optima=optima))
    order = np.concatenate([part.order for part in parts])
    counts = [part.optima_count for part in parts if part.optima_count is not None]
    count = prod(counts) if len(counts) == len(parts) else None
    optima = None
    if count is not None and count <= listed:
        choices = product(*(part.optima or () for part in parts))
        optima = [sum(choice, ()) for choice in islice(choices, listed)]
    known = [part.unique for part in parts]
    unique = False if False in known else (None if None in known else True)
    return KemenySolution(order, count, optima, unique, excess / max(_cost(against, order), 1))


def _cost(against: Integers, order: Integers) -> int:
    return int(np.triu(against[np.ix_(order, order)]).sum())


def _majority_groups(against: Integers) -> list[Integers]:
    """Return the groups no strict majority splits, the best group first."""
    reach = against <= against.T
    for via in range(len(reach)):
        reach |= reach[:, via, None] & reach[None, via, :]
    rank = reach.sum(axis=1)
    return [np.flatnonzero(rank == value) for value in np.unique(rank)[::-1]]


def _solve_by_subsets(against: Integers, pull: Integers, by_name: Integers, listed: int) -> KemenySolution:
    size = len(against)
    least = np.zeros(1 << size, dtype=np.int64)
    second = np.zeros(1 << size, dtype=np.int64)
    ways = np.ones(1 << size, dtype=np.int64)
    items = np.arange(size)[:, None]
    never = np.iinfo(np.int64).max // 2
    low, high, half = _sums_over_subsets(against)
    for held, masks in enumerate(layers(size), start=1):
        # least[T]: cheapest way to order T as the last items; the item put first pays against all others.
        rest = masks ^ (1 << items)
        total = least[np.minimum(rest, masks)] + low[:, masks & ((1 << half) - 1)] + high[:, masks >> half]
        total = np.where(rest < masks, total, never)
        best = total.min(axis=0)
        tight = total == best
        least[masks] = best
        ways[masks] = np.where(tight, ways[np.minimum(rest, masks)], 0).sum(axis=0)
        place = size - held + 1
        towards = second[np.minimum(rest, masks)] - place * pull[:, None]
        second[masks] = np.where(tight, towards, never).min(axis=0)

    def first_items(mask: int, key: Integers, own: Callable[[int, int], int]) -> list[int]:
        tied = [item for item in range(size) if mask >> item & 1]
        value = {item: key[mask ^ (1 << item)] + own(item, mask) for item in tied}
        return [item for item in tied if value[item] == key[mask]]

    def pays(item: int, mask: int) -> int:
        return sum(int(against[item, other]) for other in range(size) if mask >> other & 1)

    def drawn(item: int, mask: int) -> int:
        return -(size - int(mask).bit_count() + 1) * int(pull[item])

    def every_order(mask: int) -> Iterator[tuple[int, ...]]:
        if mask == 0:
            yield ()
        for item in first_items(mask, least, pays) if mask else []:
            for tail in every_order(mask ^ (1 << item)):
                yield (item, *tail)

    full = (1 << size) - 1
    order: list[int] = []
    mask = full
    while mask:
        tied = set(first_items(mask, least, pays)) & set(first_items(mask, second, drawn))
        order.append(min(tied, key=lambda item: by_name[item]))
        mask ^= 1 << order[-1]
    count = int(ways[full])
    optima = list(every_order(full)) if count <= listed else None
    return KemenySolution(np.array(order, dtype=np.int64), count, optima, count == 1, 0.0)


def _sums_over_subsets(against: Integers) -> tuple[Integers, Integers, int]:
    """Return tables of Σ_{u ∈ T} against[v, u] for T within the lower and within the upper half of the items.

    Two small tables instead of one of size k·2^k: they stay in the cache while the program gathers from them.
    """
    size = len(against)
    half = size // 2
    return _subset_sums(against[:, :half]), _subset_sums(against[:, half:]), half


def _subset_sums(values: Integers) -> Integers:
    table = np.zeros((len(values), 1), dtype=np.int64)
    for column in values.T:
        table = np.concatenate([table, table + column[:, None]], axis=1)
    return table


def _solve_by_program(against: Integers, pull: Integers, deadline: float) -> KemenySolution:
    program = _OrderProgram(len(against))
    start = _local_search(against, _borda_order(pull))
    order, bound = program.improve(against, deadline, start)
    cost = _cost(against, order)
    if bound < cost:
        return KemenySolution(order, None, None, None, (cost - bound) / cost)
    other = _other_optimum(program, against, order, deadline)
    if other is None or not len(other):
        return KemenySolution(order, None, None, None if other is None else True, 0.0)
    towards = np.broadcast_to(-pull[None, :], against.shape)
    nearest, _ = program.improve(towards, deadline, order, within=(against, cost))
    chosen = nearest if _cost(against, nearest) == cost else order
    return KemenySolution(chosen, None, None, False, 0.0)


def _other_optimum(
    program: _OrderProgram, against: Integers, order: Integers, deadline: float
) -> Integers | None:
    """Return another optimum; an empty order if there is none; None if time ran out."""
    margin = (against - against.T)[order[:-1], order[1:]]
    if (margin == 0).any():
        at = int(np.flatnonzero(margin == 0)[0])
        swapped = order.copy()
        swapped[[at, at + 1]] = swapped[[at + 1, at]]
        return swapped
    cost = _cost(against, order)
    other, bound = program.minimise(against, deadline, unlike=order, enough=cost + 1)
    if other is not None and _cost(against, other) <= cost:
        return other
    return order[:0] if bound > cost else None


def _borda_order(pull: Integers) -> Integers:
    return np.argsort(pull, kind="stable")


def _local_search(against: Integers, order: Integers) -> Integers:
    """Move single items to their best place until none gains: a start, and the answer if time runs out."""
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


class _OrderProgram:
    """Linear and integer programs over x_uv = "u before v", u < v, keeping the triangle rows found so far."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.upper = np.triu_indices(size, 1)
        index = np.zeros((size, size), dtype=np.int64)
        index[self.upper] = np.arange(len(self.upper[0]))
        u, v, w = (at.ravel() for at in np.indices((size,) * 3))
        keep = (u < v) & (v < w)
        u, v, w = u[keep], v[keep], w[keep]
        self.triangles = np.stack([index[u, v], index[v, w], index[u, w]])
        self.rows = np.zeros(self.triangles.shape[1], dtype=bool)

    def improve(
        self,
        against: Integers,
        deadline: float,
        start: Integers,
        *,
        within: tuple[Integers, int] | None = None,
    ) -> tuple[Integers, int]:
        """Return the best order met, the one to start from if no other, and a lower bound of the cost."""
        found, bound = self.minimise(against, deadline, start=start, within=within)
        return start if found is None else found, bound

    def minimise(
        self,
        against: Integers,
        deadline: float,
        *,
        start: Integers | None = None,
        unlike: Integers | None = None,
        within: tuple[Integers, int] | None = None,
        enough: int | None = None,
    ) -> tuple[Integers | None, int]:
        """Return the best order met and a proven lower bound of the integer cost.

        `start` is an order to beat, `unlike` one to exclude, `within` = (costs, most) a second cost to keep,
        `enough` a bound at which the question is settled.
        """
        base, slope, unit = self._objective(against)
        # What the solver's tolerance can amount to in cost: less than 1, so nothing, for simple weights.
        slack = CUT_TOLERANCE * unit * self.size
        sides = self._side_rows(unlike, within)
        best, bound = start, int(np.minimum(against, against.T)[self.upper].sum())
        whole = False
        while monotonic() < deadline:
            x, value, proven = self._solve(slope / unit, sides, whole, deadline)
            if value > -np.inf:
                # Costs are integers, so the bound may be rounded up.
                bound = max(bound, ceil(base + unit * value - slack))
            if x is None:
                break
            found = self._order(x)
            if start is not None and within is None:
                found = _local_search(against, found)
            if self._admissible(found, unlike, within) and (
                best is None or _cost(against, found) < _cost(against, best)
            ):
                best = found
            if best is not None and _cost(against, best) <= bound + int(2 * slack):
                return best, max(bound, _cost(against, best))
            if enough is not None and bound >= enough:
                break
            if not self._add_violated(x):
                if whole or not proven:
                    # An integral solution of all rows is an order: the bound is as good as the solver proves.
                    break
                whole = True
        return best, bound

    def _objective(self, against: Integers) -> tuple[int, Floats, float]:
        forward, backward = against[self.upper], against.T[self.upper]
        slope = (forward - backward).astype(float)
        return int(backward.sum()), slope, max(float(np.abs(slope).max()), 1.0)

    def _side_rows(
        self, unlike: Integers | None, within: tuple[Integers, int] | None
    ) -> list[tuple[Floats, float]]:
        sides = []
        if unlike is not None:
            place = np.argsort(unlike)
            before = (place[self.upper[0]] < place[self.upper[1]]).astype(float)
            sides.append((2 * before - 1, before.sum() - 1))
        if within is not None:
            base, slope, unit = self._objective(within[0])
            sides.append((slope / unit, (within[1] - base) / unit + CUT_TOLERANCE))
        return sides

    def _solve(
        self, slope: Floats, sides: list[tuple[Floats, float]], whole: bool, deadline: float
    ) -> tuple[Floats | None, float, bool]:
        """Solution of the rows known so far, a bound of the cost, and whether that is proven."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        constraints = [LinearConstraint(side[None, :], -np.inf, most) for side, most in sides]
        if self.rows.any():
            constraints.append(LinearConstraint(self._triangle_rows(), 0, 1))
        result = milp(
            slope,
            integrality=np.full(len(slope), int(whole)),
            bounds=Bounds(0, 1),
            constraints=constraints,
            options={"time_limit": max(deadline - monotonic(), 0.01), "mip_rel_gap": 0.0},
        )
        if whole:
            proven = result.mip_dual_bound
            return result.x, -np.inf if proven is None else proven, result.status == 0
        # An interrupted linear program proves nothing.
        return (result.x, result.fun, True) if result.status == 0 else (None, -np.inf, False)

    def _triangle_rows(self) -> Any:
        from scipy.sparse import csr_array

        columns = self.triangles[:, self.rows].T.ravel()
        count = len(columns) // 3
        values = np.tile([1.0, 1.0, -1.0], count)
        shape = (count, len(self.upper[0]))
        return csr_array((values, columns, np.arange(0, 3 * count + 1, 3)), shape=shape)

    def _add_violated(self, x: Floats) -> bool:
        total = x[self.triangles[0]] + x[self.triangles[1]] - x[self.triangles[2]]
        violation = np.where(self.rows, 0.0, np.maximum(-total, total - 1))
        worst = np.argsort(-violation, kind="stable")[:CUTS_A_ROUND]
        worst = worst[violation[worst] > CUT_TOLERANCE]
        self.rows[worst] = True
        return len(worst) > 0

    def _order(self, x: Floats) -> Integers:
        before = np.zeros((self.size,) * 2)
        before[self.upper] = x
        before.T[self.upper] = 1 - x
        return np.argsort(-before.sum(axis=1), kind="stable")

    def _admissible(
        self, order: Integers, unlike: Integers | None, within: tuple[Integers, int] | None
    ) -> bool:
        if unlike is not None and np.array_equal(order, unlike):
            return False
        return within is None or _cost(within[0], order) <= within[1]
