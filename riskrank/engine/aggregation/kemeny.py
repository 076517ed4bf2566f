"""Kemeny orders: least weighted number of contradicted pairs, by dynamic programming or integer program."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod

import numpy as np

from riskrank.engine.aggregation.order_program import OrderProgram, Work, cost_of, local_search
from riskrank.engine.evidence.shared import reached
from riskrank.engine.types import Integers

MOST_ITEMS = 18
"""Dynamic programs over subsets stop here: 2^18 states, some tenths of a second and tens of MB."""


def layers(size: int) -> Iterator[np.ndarray]:
    """Yield the subsets of `size` items as bit masks: first those of one item, then of two, up to all."""
    bits = np.bitwise_count(np.arange(1 << size, dtype=np.uint32))
    by_size = np.argsort(bits, kind="stable").astype(np.int64)
    ends = np.cumsum(np.bincount(bits, minlength=size + 1))
    for held in range(1, size + 1):
        yield by_size[ends[held - 1] : ends[held]]


MOST_DISPUTED = 80_000
"""Programs stop at so many pairs that rankings order differently; 54,000, of 943 models, are a few seconds.

Twice as many take minutes, for orders that single moves come within some tenths of a per cent of.
"""


@dataclass(frozen=True)
class KemenySolution:
    """The chosen order and what is known about the others; see `Aggregation` for the fields."""

    order: Integers
    optima_count: int | None
    optima: list[tuple[int, ...]] | None
    unique: bool | None
    gap: float


def solve_kemeny(
    against: Integers, pull: Integers, by_name: Integers, *, listed: int, work_limit: int
) -> KemenySolution:
    """The Kemeny order of a table of pairwise disagreements.

    Items split into groups such that a strict majority puts every item of an earlier group before every item
    of a later one; each optimum is then a concatenation of the groups' own optima (the extended Condorcet
    criterion). Groups of up to `MOST_ITEMS` items are solved by dynamic programming over subsets, which also
    counts the optima; larger ones by a program over "u before v" whose triangle inequalities are added as
    they are violated, and by an integer program where its solution is no order. Of more items than these
    take, single moves to better places, and the gap to what is known of the least cost.

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
    work_limit : int
        Simplex iterations of all programs together.

    Returns
    -------
    KemenySolution
    """
    work = Work(work_limit)
    parts: list[KemenySolution] = []
    excess = 0.0
    for group in _majority_groups(against):
        # One order of the items whatever the input's, so that the solver cannot depend on it either.
        group = group[np.lexsort((by_name[group], pull[group]))]
        inner = against[np.ix_(group, group)]
        if len(group) <= MOST_ITEMS:
            part = _solve_by_subsets(inner, pull[group], by_name[group], listed)
        else:
            part = _solve_by_program(inner, pull[group], work)
            excess += part.gap * cost_of(inner, part.order)
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
    return KemenySolution(order, count, optima, unique, excess / max(cost_of(against, order), 1))


def _majority_groups(against: Integers) -> list[Integers]:
    """The groups no strict majority splits, the best group first."""
    rank = reached(against <= against.T).sum(axis=1)
    return [np.flatnonzero(rank == value) for value in np.unique(rank)[::-1]]


def _solve_by_subsets(against: Integers, pull: Integers, by_name: Integers, listed: int) -> KemenySolution:
    size = len(against)
    least = np.zeros(1 << size, dtype=np.int64)
    second = np.zeros(1 << size, dtype=np.int64)
    ways = np.ones(1 << size, dtype=np.int64)
    items = np.arange(size)[:, None]
    never = np.iinfo(np.int64).max // 2
    half = size // 2
    low, high = _subset_sums(against[:, :half]), _subset_sums(against[:, half:])
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


def _subset_sums(values: Integers) -> Integers:
    table = np.zeros((len(values), 1), dtype=np.int64)
    for column in values.T:
        table = np.concatenate([table, table + column[:, None]], axis=1)
    return table


def _solve_by_program(against: Integers, pull: Integers, work: Work) -> KemenySolution:
    program = OrderProgram(against)
    order = local_search(against, np.argsort(pull, kind="stable"))
    if program.variables > MOST_DISPUTED:
        bound = program.least_of_pairs(against)
    else:
        order, bound = program.improve(against, work, order)
    cost = cost_of(against, order)
    if bound < cost:
        return KemenySolution(order, None, None, None, (cost - bound) / cost)
    other = _other_optimum(program, against, order, work)
    if other is None or not len(other):
        return KemenySolution(order, None, None, None if other is None else True, 0.0)
    towards = np.broadcast_to(-pull[None, :], against.shape)
    nearest, _ = program.improve(towards, work, order, within=(against, cost))
    chosen = nearest if cost_of(against, nearest) == cost else order
    return KemenySolution(chosen, None, None, False, 0.0)


def _other_optimum(program: OrderProgram, against: Integers, order: Integers, work: Work) -> Integers | None:
    """Another optimum; an empty order if there is none; None if the work allowed ran out."""
    margin = (against - against.T)[order[:-1], order[1:]]
    if (margin == 0).any():
        at = int(np.flatnonzero(margin == 0)[0])
        swapped = order.copy()
        swapped[[at, at + 1]] = swapped[[at + 1, at]]
        return swapped
    cost = cost_of(against, order)
    other, bound = program.minimise(against, work, unlike=order, enough=cost + 1)
    if other is not None and cost_of(against, other) <= cost:
        return other
    return order[:0] if bound > cost else None
