"""Sections for the additional analyses of ``gsd``: front tests, witnesses and rank tests."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.gsd.front import FrontTest
from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.render import numbers
from riskrank.render.view import (
    Cell,
    Column,
    Line,
    ModelColumn,
    RowColumn,
    Section,
    Table,
    build_table,
    column_heads,
)
from riskrank.studies.gsd.document import Explanation
from riskrank.studies.wording import typeset

_ANSWERS = {True: ("does not dominate", "green"), False: ("may dominate", "dim")}


def front_tables(test: FrontTest, models: Sequence[str], level: float) -> list[Section]:
    """Return a table of the competitors, the largest p-value first, and the result of the static test."""
    rejected = test.rejected(level)
    name = models[test.model]
    tests = sorted(test.tests, key=lambda competitor_test: (-competitor_test.p_value, competitor_test.winner))
    columns: list[RowColumn] = [
        (Column("competitor", "left"), lambda competitor_test: models[competitor_test.winner]),
        (Column("optimum"), lambda competitor_test: numbers.format_score(competitor_test.optimum)),
        (Column("p"), lambda competitor_test: numbers.format_p_value(competitor_test.p_value)),
        (
            Column(f"at {level:g}/{len(tests)} each", "left"),
            lambda competitor_test: Cell(*_ANSWERS[competitor_test.winner in rejected]),
        ),
    ]
    verb = "is" if test.in_front(level) else "is not significantly"
    p_value = numbers.format_p_value(test.p_value)
    text = f"{name} {verb} on the front, p = {p_value}, the largest of all competitors"
    survives = (
        test.tolerated_samples(level)
        if any(competitor_test.contamination for competitor_test in test.tests)
        else None
    )
    text += f"; holds with {survives} arbitrary samples." if survives is not None else "."
    title = f"Front test: does a competitor dominate {name}?"
    return [build_table(title, columns, tests), Line(text, "Static test:")]


_MOST_ROWS = 8

# Precision of the solver's utilities.
_SOLVER_NOISE = 1e-9


def witness_tables(explanation: Explanation, models: Sequence[str], criteria: Sequence[str]) -> list[Section]:
    """Return a table of the quality vectors that decide a comparison, and an explanation in words."""
    witness = explanation.witness
    better, worse = models[witness.winner], models[witness.loser]
    attained = np.flatnonzero((witness.winner_share > 0) | (witness.loser_share > 0))
    decisive = [int(v) for v in attained if abs(witness.contribution[v]) > _SOLVER_NOISE][:_MOST_ROWS]
    shares = (f"share of\n{better}", f"share of\n{worse}")
    columns = column_heads(right=(*criteria, "utility", *shares, "contribution"))
    rows = tuple(
        (
            *(_format_score(value) for value in explanation.scores[v]),
            numbers.format_ratio(_clean_utility(witness.utility[v])),
            numbers.format_ratio(witness.winner_share[v]),
            numbers.format_ratio(witness.loser_share[v]),
            numbers.format_score(witness.contribution[v]),
        )
        for v in decisive
    )
    at = f" at δ = {witness.slack:g}" if witness.slack else ""
    title = f"{better} against {worse}{at}: the utility that favours {better} least"
    table = Table(title, columns, rows, stub=len(criteria))
    return [table, Line(_explain(explanation, models, criteria), "Explained:")]


def _clean_utility(utility: float) -> float:
    """Round a utility to the solver's precision, so that it is not displayed as <0.001 or −0.000."""
    return min(max(round(float(utility), 9), 0.0), 1.0) + 0.0


def _explain(explanation: Explanation, models: Sequence[str], criteria: Sequence[str]) -> str:
    """Explain why the winner does or does not dominate the loser."""
    witness = explanation.witness
    better, worse = models[witness.winner], models[witness.loser]
    expected = witness.expected
    text = f"under it, {better} has expected utility {expected[0]:.4f} and {worse} has {expected[1]:.4f}"
    if witness.optimum >= 0:
        return f"{text}; no utility makes {better} worse, so it dominates."
    level, gain = witness.decisive_step()
    reached = witness.shares_reaching(level)
    at = int(np.flatnonzero(witness.utility == level)[0])
    pairs = zip(criteria, explanation.scores[at], strict=True)
    scores = ", ".join(f"{name} {_format_score(value)}" for name, value in pairs)
    return (
        f"{text}, so {better} does not dominate. "
        f"The decisive step costs {better} {_format_score(-gain)}: {worse} "
        f"reaches utility {numbers.format_ratio(level)} of {scores} "
        f"in {100 * reached[1]:.1f} % of the samples, "
        f"{better} in {100 * reached[0]:.1f} %."
    )


def _format_score(value: float) -> str:
    """Format a score with up to six significant digits."""
    return typeset(f"{value:,.6g}")


def baseline_tables(
    tests: CriteriaTests, models: Sequence[str], criteria: Sequence[str], level: float
) -> Iterator[Section]:
    """Yield a table of rank tests by criterion, and the results of the all-test and the one-test."""
    ranks = tests.mean_rank

    def in_order(j: int) -> str:
        order = np.argsort(ranks[j], kind="stable")
        return ", ".join(f"{models[i]} {ranks[j][i]:.2f}" for i in order)

    columns: list[ModelColumn] = [
        (Column("criterion", "left"), lambda j: criteria[j]),
        (Column("Friedman\nχ²"), lambda j: numbers.format_score(tests.friedman_statistic[j])),
        (Column("p"), lambda j: numbers.format_p_value(tests.friedman_p_value[j])),
        (Column("Nemenyi\npairs"), lambda j: str(int(tests.better(level)[j].sum()))),
        (Column("mean ranks", "left"), in_order),
    ]
    title = "Baselines: rank tests by criterion"
    yield build_table(title, columns, range(len(criteria)))
    for label, relation, meaning in (
        ("All-test:", tests.all_test(level), "better on every criterion"),
        ("One-test:", tests.one_test(level), "better on at least one criterion and worse on none"),
    ):
        pairs = [f"{models[i]} over {models[j]}" for i, j in np.argwhere(relation)]
        yield Line(f"{', '.join(pairs) or 'no pair'} ({meaning} by Nemenyi at {level:g}).", label)
