"""How an aggregated ranking was found, for the documents that hold some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from riskrank.engine.aggregation.rank_aggregation import Aggregation


def described_aggregation(name: str, found: Aggregation, models: Sequence[str]) -> dict[str, Any]:
    """Order, its distance, and whether another is as good."""
    return {
        "method": name,
        "distance": found.method,
        "order": [models[i] for i in found.order],
        "mean_distance": found.mean_distance,
        "optima": found.optima_count,
        "unique": found.unique,
        "gap": found.gap,
        "choice": found.choice,
    }
