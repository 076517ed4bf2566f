"""Gates: each claim's interval against the boundary it has to lie above."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from riskrank.render.figures.intervals import Intervals, draw_intervals
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.style import Plot
from riskrank.studies.gate.claim import ORDERS
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.sentences import looked_at, subtracted

# A violation ratio of ½ is a draw, and less is better.
_DRAW = 0.5


def pictures(document: GateDocument) -> list[Picture]:
    """All claims."""
    caption = "Every claim's difference in favour of the new model, with its interval and its boundary."
    return [Picture("intervals", caption, partial(_draw, document))]


def intervals(document: GateDocument) -> list[Intervals]:
    """Claims by statistic and metric, whose unit they share; turned so that larger favours the new model."""
    number = {name: at for at, name in enumerate(document.provenance.models)}
    by_unit: dict[tuple[str, str], list[GateRow]] = {}
    for row in document.rows:
        by_unit.setdefault((row.statistic, row.metric), []).append(row)
    alike = len({row.pair for row in document.rows}) == 1
    return [
        _of_unit(rows, number, alike=alike, sign=-1.0 if rows[0].direction == "lower" else 1.0)
        for rows in by_unit.values()
    ]


def _of_unit(rows: Sequence[GateRow], number: Mapping[str, int], *, alike: bool, sign: float) -> Intervals:
    statistic, metric = rows[0].statistic, rows[0].metric
    dominance = statistic in ORDERS
    estimate = np.array([row.estimate for row in rows])
    low, high = np.array([_ends(row) for row in rows]).T
    if dominance:
        estimate, low, high = _DRAW - estimate, _DRAW - high, _DRAW - low
    elif sign < 0:
        estimate, low, high = -estimate, -high, -low
    what = f"{looked_at(rows[0])} of {metric}"
    return Intervals(
        unit=f"½ − violation ratio, {metric}" if dominance else f"{what}, {subtracted(rows)}",
        claims=tuple(f"{what}{row.place}" if alike else f"{row.pair}: {what}{row.place}" for row in rows),
        estimate=estimate,
        low=low,
        high=high,
        boundary=np.array([row.margin if row.claim == "better" else -row.margin for row in rows]),
        answer=tuple(row.verdict for row in rows),
        lower_is_better=sign < 0 and not dominance,
        pairs=tuple((number[row.new], number[row.old]) for row in rows),
    )


def _ends(row: GateRow) -> tuple[float, float]:
    """Ends of an interval; infinite where one is open, NaN where there is no interval."""
    if row.low is None and row.high is None:
        return np.nan, np.nan
    return -np.inf if row.low is None else row.low, np.inf if row.high is None else row.high


def _draw(document: GateDocument) -> Plot:
    pairs = {row.pair for row in document.rows}
    return draw_intervals(intervals(document), pairs.pop() if len(pairs) == 1 else "Claims")
