"""Weights of the metrics in a portfolio."""

from __future__ import annotations

import numpy as np

from riskrank.engine.weights import normalised_weights
from riskrank.errors import UsageError, listing, option
from riskrank.scores.table.score_table import ScoreTable


def portfolio_weights(table: ScoreTable) -> np.ndarray:
    """The weights of the metrics in a portfolio, shape (m,), summing to 1; uniform if none were given.

    Raises
    ------
    UsageError
        If some metrics have a weight and others none.
    """
    given = [spec.weight for spec in table.metrics]
    lacking = [spec.name for spec in table.metrics if spec.weight is None]
    if lacking and len(lacking) < len(given):
        raise UsageError(
            "some metrics have a weight and others have none",
            found=f"no weight for {listing(lacking)}",
            hint=f"give each metric a weight: {option('weight', f'{lacking[0]}=1')} "
            "(0 leaves it out of the portfolio)",
        )
    weights = None if lacking else [weight for weight in given if weight is not None]
    return normalised_weights(weights, [spec.name for spec in table.metrics])
