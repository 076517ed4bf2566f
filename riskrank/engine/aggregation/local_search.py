"""Orders of items against a table of what each pair costs, and the best that single moves lead to."""

import numpy as np

from riskrank.engine.types import Integers


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
