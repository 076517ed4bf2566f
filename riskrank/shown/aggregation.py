"""How aggregated rankings were found: optimum, uniqueness, and the choice among equals."""

from __future__ import annotations

from collections.abc import Sequence

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.shown.view import Line

_DISTANCES = {
    "kemeny": "Kemeny's distance",
    "footrule": "Spearman's footrule",
    "pearson": "Pearson's distance",
    "borda": "Borda's squared distance",
}

Aggregations = Sequence[tuple[str, Aggregation]]


def aggregation_lines(aggregations: Aggregations, models: Sequence[str], *, orders: bool) -> list[Line]:
    """One line an aggregation; ``orders`` spells out who comes first."""
    lines = []
    for name, found in aggregations:
        order = " > ".join(models[i] for i in found.order) + "; " if orders else ""
        by = f"{_DISTANCES[found.method]} (mean {found.mean_distance:.4g})"
        lines.append(Line(f"{order}joins several orders by {by}: {found.choice}.", f"{name}:"))
    return lines
