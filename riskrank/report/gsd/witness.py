"""The utility behind a verdict: which scores it values, and which model reaches them how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.gsd.front import Witness
from riskrank.engine.gsd.relation import Threshold
from riskrank.report import numbers
from riskrank.report.view import Column, Line, Section, Table

_MOST_ROWS = 8

# The solver's utilities are exact to about this.
_NOISE = 1e-9


@dataclass(frozen=True)
class WitnessStudy:
    """A witness with its threshold and its quality vectors in the units of the file, shape (d, n)."""

    threshold: Threshold
    witness: Witness
    values: NDArray[np.float64]


def witness_entry(found: WitnessStudy, models: Sequence[str], metrics: Sequence[str]) -> dict[str, Any]:
    """The whole utility, the largest contribution first."""
    one = found.witness
    vectors = zip(
        found.values.tolist(),
        one.utility.tolist(),
        one.winner_share.tolist(),
        one.loser_share.tolist(),
        one.contribution.tolist(),
        strict=True,
    )
    return {
        "delta": one.slack,
        "regularization": found.threshold.share,
        "winner": models[one.winner],
        "loser": models[one.loser],
        "optimum": one.optimum,
        "vectors": [
            {
                "scores": dict(zip(metrics, scores, strict=True)),
                "utility": utility,
                "winner_share": winner,
                "loser_share": loser,
                "contribution": contribution,
            }
            for scores, utility, winner, loser, contribution in vectors
        ],
    }


def witness_view(found: WitnessStudy, models: Sequence[str], metrics: Sequence[str]) -> list[Section]:
    """The verdict in words, and the quality vectors that decide it."""
    one = found.witness
    better, worse = models[one.winner], models[one.loser]
    attained = np.flatnonzero((one.winner_share > 0) | (one.loser_share > 0))
    shown = [int(v) for v in attained if abs(one.contribution[v]) > _NOISE][:_MOST_ROWS]
    columns = (
        *(Column(metric) for metric in metrics),
        Column("utility"),
        Column(f"share of\n{better}"),
        Column(f"share of\n{worse}"),
        Column("contribution"),
    )
    rows = tuple(
        (
            *(_score(value) for value in found.values[v]),
            numbers.ratio(_clean(one.utility[v])),
            numbers.ratio(one.winner_share[v]),
            numbers.ratio(one.loser_share[v]),
            numbers.score(one.contribution[v]),
        )
        for v in shown
    )
    at = f" at δ = {one.slack:g}" if one.slack else ""
    title = f"{better} against {worse}{at}: the utility least in favour of {better}"
    table = Table(title, columns, rows, stub=len(metrics))
    return [table, Line(_words(found, models, metrics), "Explained:")]


def _clean(utility: float) -> float:
    """Utility without the solver's last bits, which would show as <0.001 or −0.000."""
    return min(max(round(float(utility), 9), 0.0), 1.0) + 0.0


def _words(found: WitnessStudy, models: Sequence[str], metrics: Sequence[str]) -> str:
    one = found.witness
    better, worse = models[one.winner], models[one.loser]
    expected = [float(share @ one.utility) for share in (one.winner_share, one.loser_share)]
    text = f"under it {better} has the expected utility {expected[0]:.4f} and {worse} {expected[1]:.4f}"
    if one.optimum >= 0:
        return f"{text}; no utility makes {better} worse, so it dominates."
    level, loss = _decisive_step(one)
    reached = [float(share[one.utility >= level].sum()) for share in (one.winner_share, one.loser_share)]
    at = int(np.flatnonzero(one.utility == level)[0])
    pairs = zip(metrics, found.values[at], strict=True)
    scores = ", ".join(f"{name} {_score(value)}" for name, value in pairs)
    return (
        f"{text}, so {better} does not dominate. The step that costs {better} most, {_score(-loss)}: {worse} "
        f"reaches the utility {numbers.ratio(level)} of {scores} in {reached[1]:.1%} of the samples, "
        f"{better} in {reached[0]:.1%}."
    )


def _decisive_step(one: Witness) -> tuple[float, float]:
    """The utility whose reaching costs the winner most, and what it costs.

    Expected utility adds up, from one utility to the next, the step times the share that goes beyond it;
    so does the difference of two.
    """
    levels = np.unique(one.utility)
    beyond = np.array(
        [((one.winner_share - one.loser_share) * (one.utility >= level)).sum() for level in levels[1:]]
    )
    losses = np.diff(levels) * beyond
    worst = int(np.argmin(losses))
    return float(levels[1:][worst]), float(losses[worst])


def _score(value: float) -> str:
    return f"{value:.6g}"
