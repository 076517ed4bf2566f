"""Compact letter display: two models share a letter exactly if no test separates them.

Reference
---------
H.-P. Piepho (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
Computational and Graphical Statistics 13(2), 456-466. doi:10.1198/1061860043515
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.types import Booleans


def letter_groups(separated: Booleans, order: Sequence[int]) -> list[tuple[int, ...]]:
    """Groups of models that nothing separates, such that every pair nothing separates is in one of them.

    Groups grow greedily in the given order, which finds few of them, not always the fewest.

    Parameters
    ----------
    separated : ndarray of bool, shape (k, k)
        Whether two models are told apart; symmetric.
    order : sequence of k int
        Models, the best first.

    Returns
    -------
    list of tuple of int
        By their first model in the order; a model that is apart from all others is a group of its own.
    """
    together = ~np.asarray(separated, dtype=bool)
    covered = np.eye(len(order), dtype=bool)
    groups: list[tuple[int, ...]] = []
    for at, i in enumerate(order):
        alone = not any(i in group for group in groups)
        for j in order[at + 1 :]:
            if together[i, j] and not covered[i, j]:
                group = [i, j]
                for model in order:
                    if model not in group and all(together[model, member] for member in group):
                        group.append(model)
                covered[np.ix_(group, group)] = True
                groups.append(tuple(model for model in order if model in group))
                alone = False
        if alone:
            groups.append((i,))
    place = {model: number for number, model in enumerate(order)}
    return sorted(groups, key=lambda group: [place[model] for model in group])
