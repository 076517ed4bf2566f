"""Rank tests per criterion beside generalized stochastic dominance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.report import numbers
from riskrank.report.view import Column, Line, Section, Table


def baseline_entries(
    tests: CriteriaTests, models: Sequence[str], metrics: Sequence[str], alpha: float
) -> dict[str, Any]:
    """Friedman and Nemenyi of every criterion, and the pairs of the all-test and the one-test."""
    return {
        "criteria": [
            {
                "metric": metric,
                "friedman_statistic": float(tests.friedman_statistic[j]),
                "friedman_p_value": float(tests.friedman_p_value[j]),
                "mean_rank": dict(zip(models, tests.mean_rank[j].tolist(), strict=True)),
                "nemenyi": [
                    {
                        "winner": models[a],
                        "loser": models[b],
                        "p_value": float(tests.nemenyi_p_value[j, a, b]),
                    }
                    for a, b in _ahead(tests.mean_rank[j])
                ],
            }
            for j, metric in enumerate(metrics)
        ],
        "all_test": _pairs(tests.all_test(alpha), models),
        "one_test": _pairs(tests.one_test(alpha), models),
    }


def baseline_view(
    tests: CriteriaTests, models: Sequence[str], metrics: Sequence[str], alpha: float
) -> list[Section]:
    """A row a criterion, and the two heuristics in words."""
    rows = []
    for j, metric in enumerate(metrics):
        ranks = tests.mean_rank[j]
        order = np.argsort(ranks, kind="stable")
        rows.append(
            (
                metric,
                numbers.score(tests.friedman_statistic[j]),
                numbers.p_value(tests.friedman_p_value[j]),
                str(int(tests.better(alpha)[j].sum())),
                ", ".join(f"{models[i]} {ranks[i]:.2f}" for i in order),
            )
        )
    columns = (
        Column("criterion", "left"),
        Column("Friedman\nχ²"),
        Column("p"),
        Column("Nemenyi\npairs"),
        Column("mean ranks", "left"),
    )
    view: list[Section] = [Table("Baselines: rank tests, criterion by criterion", columns, tuple(rows))]
    for label, relation, meaning in (
        ("All-test:", tests.all_test(alpha), "better on every criterion"),
        ("One-test:", tests.one_test(alpha), "better on some criterion and worse on none"),
    ):
        pairs = [f"{pair['winner']} over {pair['loser']}" for pair in _pairs(relation, models)]
        view.append(Line(f"{', '.join(pairs) or 'no pair'} ({meaning} by Nemenyi at {alpha:g}).", label))
    return view


def _ahead(ranks: np.ndarray) -> list[tuple[int, int]]:
    """Every pair once, the model with the better mean rank first."""
    k = len(ranks)
    return [(a, b) if ranks[a] <= ranks[b] else (b, a) for a in range(k) for b in range(a + 1, k)]


def _pairs(relation: np.ndarray, models: Sequence[str]) -> list[dict[str, str]]:
    return [{"winner": models[i], "loser": models[j]} for i, j in np.argwhere(relation).tolist()]
