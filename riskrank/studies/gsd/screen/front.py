"""What was asked beside the relation, in words: tests of the front, utilities behind answers, rank tests."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.gsd.front import FrontTest
from riskrank.engine.gsd.rank_tests import CriteriaTests
from riskrank.render import numbers
from riskrank.render.view import Cell, Column, Line, OfModel, OfRow, Section, Table, by_row, headed
from riskrank.studies.gsd.document import Explanation
from riskrank.studies.wording import typeset

_ANSWERS = {True: ("does not dominate", "green"), False: ("may dominate", "dim")}


def front_view(test: FrontTest, models: Sequence[str], level: float) -> list[Section]:
    """A row a competitor, the one hardest to reject first."""
    rejected = test.rejected(level)
    name = models[test.model]
    tests = sorted(test.tests, key=lambda one: (-one.p_value, one.winner))
    columns: list[OfRow] = [
        (Column("competitor", "left"), lambda one: models[one.winner]),
        (Column("optimum"), lambda one: numbers.score(one.optimum)),
        (Column("p"), lambda one: numbers.p_value(one.p_value)),
        (
            Column(f"at {level:g}/{len(tests)} each", "left"),
            lambda one: Cell(*_ANSWERS[one.winner in rejected]),
        ),
    ]
    verb = "is" if test.in_front(level) else "is not shown to be"
    text = f"{name} {verb} in the front, p = {numbers.p_value(test.p_value)}, the largest of all competitors"
    held = test.survives(level) if any(one.contamination for one in test.tests) else None
    text += f"; holds with {held} arbitrary samples." if held is not None else "."
    title = f"Front test: does a competitor dominate {name}?"
    return [by_row(title, columns, tests), Line(text, "Static test:")]


_MOST_ROWS = 8

# The solver's utilities are exact to about this.
_NOISE = 1e-9


def witness_view(found: Explanation, models: Sequence[str], criteria: Sequence[str]) -> list[Section]:
    """The answer in words, and the quality vectors that decide it."""
    one = found.witness
    better, worse = models[one.winner], models[one.loser]
    attained = np.flatnonzero((one.winner_share > 0) | (one.loser_share > 0))
    shown = [int(v) for v in attained if abs(one.contribution[v]) > _NOISE][:_MOST_ROWS]
    shares = (f"share of\n{better}", f"share of\n{worse}")
    columns = headed(right=(*criteria, "utility", *shares, "contribution"))
    rows = tuple(
        (
            *(_score(value) for value in found.scores[v]),
            numbers.ratio(_clean(one.utility[v])),
            numbers.ratio(one.winner_share[v]),
            numbers.ratio(one.loser_share[v]),
            numbers.score(one.contribution[v]),
        )
        for v in shown
    )
    at = f" at δ = {one.slack:g}" if one.slack else ""
    title = f"{better} against {worse}{at}: the utility least in favour of {better}"
    table = Table(title, columns, rows, stub=len(criteria))
    return [table, Line(_words(found, models, criteria), "Explained:")]


def _clean(utility: float) -> float:
    """Utility without the solver's last bits, which would show as <0.001 or −0.000."""
    return min(max(round(float(utility), 9), 0.0), 1.0) + 0.0


def _words(found: Explanation, models: Sequence[str], criteria: Sequence[str]) -> str:
    one = found.witness
    better, worse = models[one.winner], models[one.loser]
    expected = one.expected
    text = f"under it {better} has the expected utility {expected[0]:.4f} and {worse} {expected[1]:.4f}"
    if one.optimum >= 0:
        return f"{text}; no utility makes {better} worse, so it dominates."
    level, gain = one.decisive_step()
    reached = one.reaching(level)
    at = int(np.flatnonzero(one.utility == level)[0])
    pairs = zip(criteria, found.scores[at], strict=True)
    scores = ", ".join(f"{name} {_score(value)}" for name, value in pairs)
    return (
        f"{text}, so {better} does not dominate. The step that costs {better} most, {_score(-gain)}: {worse} "
        f"reaches the utility {numbers.ratio(level)} of {scores} in {100 * reached[1]:.1f} % of the samples, "
        f"{better} in {100 * reached[0]:.1f} %."
    )


def _score(value: float) -> str:
    return typeset(f"{value:,.6g}")


def baseline_view(
    tests: CriteriaTests, models: Sequence[str], criteria: Sequence[str], level: float
) -> Iterator[Section]:
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
    yield by_row(title, columns, range(len(criteria)))
    for label, relation, meaning in (
        ("All-test:", tests.all_test(level), "better on every criterion"),
        ("One-test:", tests.one_test(level), "better on some criterion and worse on none"),
    ):
        pairs = [f"{models[i]} over {models[j]}" for i, j in np.argwhere(relation)]
        yield Line(f"{', '.join(pairs) or 'no pair'} ({meaning} by Nemenyi at {level:g}).", label)
