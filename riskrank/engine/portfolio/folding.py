"""A portfolio score for every row of every model, by either copula ([RAB] section 4, method §2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.portfolio.copula import empirical_copula, independent_copula
from riskrank.engine.types import Floats


def portfolio(
    scores: Sequence[ArrayLike],
    *,
    copula: str = "independent",
    weights: ArrayLike | None = None,
    per_model: bool = False,
) -> tuple[Floats, ...]:
    """Fold the metrics of all models into one score a row, CDFs pooled over models.

    Parameters
    ----------
    scores : sequence of k array_like, shapes (n_i, m)
        Scores of each model, larger is better, a column a metric.
    copula : {"independent", "empirical"}
        P(IC) or P(EC).
    weights : array_like, shape (m,), optional
        Weights of the metrics, for P(IC).
    per_model : bool
        For P(EC): compare a row with the rows of its own model only.

    Returns
    -------
    tuple of k ndarrays, shapes (n_i,)

    Raises
    ------
    InputError
        If scores are not finite or weights cannot be used.
    """
    tables = [np.asarray(table, dtype=np.float64) for table in scores]
    pooled = np.concatenate(tables)
    owner = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    if copula == "independent":
        folded = independent_copula(pooled, weights)
    else:
        folded = empirical_copula(pooled, owner if per_model else None)
    return tuple(np.split(folded, np.cumsum([len(table) for table in tables])[:-1]))
