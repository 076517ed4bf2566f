"""Weights of the metrics in a portfolio."""

from __future__ import annotations

import numpy as np

from riskrank.engine.weights import normalised_weights
from riskrank.errors import UsageError, listing, option
from riskrank.scores.names.directions import looks_like_a_cost
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.scores import READ_AS


def weighed(table: ScoreTable) -> bool:
    """Whether somebody said how much a metric counts."""
    return any(metric.weight is not None for metric in table.metrics)


def counted_alike(table: ScoreTable) -> list[str]:
    """Say that nobody weighed metrics that are folded, where some are costs or nobody said what they are."""
    names = [metric.name for metric in table.metrics]
    costs = [metric.name for metric in table.metrics if looks_like_a_cost(metric.name)]
    others = [name for name in names if name not in costs]
    guessed = any(text.startswith(READ_AS) for text in table.warnings)
    if len(names) < 2 or weighed(table) or not (guessed or (costs and others)):
        return []
    most = (others or costs)[0]
    return [
        f"{listing(names)} count alike, for nobody weighed them: {option('weight', f'{most}=5')} weighs, "
        f"{option('weight', 'equal')} says so"
    ]


def portfolio_weights(table: ScoreTable) -> np.ndarray:
    """The weights of the metrics in a portfolio, shape (m,), summing to 1; uniform if none were given.

    Raises
    ------
    UsageError
        If a file gives some metrics a weight and others none.
    """
    given = [spec.weight for spec in table.metrics]
    lacking = [spec.name for spec in table.metrics if spec.weight is None]
    if lacking and table.options.weight:
        given = [1.0 if weight is None else weight for weight in given]
    elif lacking and len(lacking) < len(given):
        raise UsageError(
            "some metrics have a weight and others have none",
            found=f"no weight for {listing(lacking)}",
            hint=f"give each metric a weight: {option('weight', f'{lacking[0]}=1')} "
            "(0 leaves it out of the portfolio)",
        )
    weights = [weight for weight in given if weight is not None] or None
    return normalised_weights(weights, [spec.name for spec in table.metrics])
