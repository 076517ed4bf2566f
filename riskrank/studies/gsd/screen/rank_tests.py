"""Rank tests per criterion beside generalized stochastic dominance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.shown import numbers
from riskrank.shown.view import Column, Line, Section, Table, headed


def baseline_view(
    tests: CriteriaTests, models: Sequence[str], criteria: Sequence[str], level: float
) -> list[Section]:
    """A row a criterion, and the two heuristics in words."""
    rows = []
    for j, criterion in enumerate(criteria):
        ranks = tests.mean_rank[j]
        order = np.argsort(ranks, kind="stable")
        rows.append(
            (
                criterion,
                numbers.score(tests.friedman_statistic[j]),
                numbers.p_value(tests.friedman_p_value[j]),
                str(int(tests.better(level)[j].sum())),
                ", ".join(f"{models[i]} {ranks[i]:.2f}" for i in order),
            )
        )
    columns = (
        *headed("criterion", right=("Friedman\nχ²", "p", "Nemenyi\npairs")),
        Column("mean ranks", "left"),
    )
    view: list[Section] = [Table("Baselines: rank tests, criterion by criterion", columns, tuple(rows))]
    for label, relation, meaning in (
        ("All-test:", tests.all_test(level), "better on every criterion"),
        ("One-test:", tests.one_test(level), "better on some criterion and worse on none"),
    ):
        pairs = [f"{models[i]} over {models[j]}" for i, j in np.argwhere(relation)]
        view.append(Line(f"{', '.join(pairs) or 'no pair'} ({meaning} by Nemenyi at {level:g}).", label))
    return view
