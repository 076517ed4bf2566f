"""Rank tests per criterion beside generalized stochastic dominance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.shown import numbers
from riskrank.shown.view import Column, Line, OfModel, Section, by_row


def baseline_view(
    tests: CriteriaTests, models: Sequence[str], criteria: Sequence[str], level: float
) -> list[Section]:
    """A row a criterion, and the two heuristics in words."""
    ranks = tests.mean_rank

    def in_order(j: int) -> str:
        order = np.argsort(ranks[j], kind="stable")
        return ", ".join(f"{models[i]} {ranks[j][i]:.2f}" for i in order)

    columns: list[OfModel] = [
        (Column("criterion", "left"), lambda j: criteria[j]),
        (Column("Friedman\nχ²"), lambda j: numbers.score(tests.friedman_statistic[j])),
        (Column("p"), lambda j: numbers.p_value(tests.friedman_p_value[j])),
        (Column("Nemenyi\npairs"), lambda j: str(int(tests.better(level)[j].sum()))),
        (Column("mean ranks", "left"), in_order),
    ]
    title = "Baselines: rank tests, criterion by criterion"
    view: list[Section] = [by_row(title, columns, range(len(criteria)), stub=1)]
    for label, relation, meaning in (
        ("All-test:", tests.all_test(level), "better on every criterion"),
        ("One-test:", tests.one_test(level), "better on some criterion and worse on none"),
    ):
        pairs = [f"{models[i]} over {models[j]}" for i, j in np.argwhere(relation)]
        view.append(Line(f"{', '.join(pairs) or 'no pair'} ({meaning} by Nemenyi at {level:g}).", label))
    return view
