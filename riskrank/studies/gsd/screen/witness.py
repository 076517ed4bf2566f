"""The utility behind an answer: which scores it values, and which model reaches them how often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.shown import numbers
from riskrank.shown.view import Line, Section, Table, headed
from riskrank.studies.gsd.document import Explanation
from riskrank.studies.rounding import typeset

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
