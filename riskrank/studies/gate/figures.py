"""Figure of a gate: the interval of each claim and its boundary."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from riskrank.render.figures.rows import Intervals, draw_intervals
from riskrank.render.figures.style import Plot
from riskrank.render.view import Picture
from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.sentences import difference_head, row_statistic
from riskrank.studies.statistics import ORDERS

# Violation ratio of two equal models; smaller is better.
_TIE = 0.5


def pictures(document: GateDocument) -> list[Picture]:
    """Return the pictures of a gate: one with the intervals of all claims."""
    caption = "Difference of each claim in favour of the new model, with its interval and boundary."
    return [Picture("intervals", caption, partial(_draw, document))]


def intervals_by_unit(document: GateDocument) -> list[Intervals]:
    """Return the intervals grouped by statistic and metric, oriented so that larger favours the new model."""
    index = {name: i for i, name in enumerate(document.provenance.models)}
    by_unit: dict[tuple[str, str], list[GateRow]] = {}
    for row in document.rows:
        by_unit.setdefault((row.statistic, row.metric), []).append(row)
    same = len({row.claim_text for row in document.rows}) == 1
    return [
        _intervals(rows, index, same=same, sign=-1.0 if rows[0].direction == "lower" else 1.0)
        for rows in by_unit.values()
    ]


def _intervals(rows: Sequence[GateRow], index: Mapping[str, int], *, same: bool, sign: float) -> Intervals:
    """Return the intervals of claims that share a statistic and a metric.

    Parameters
    ----------
    rows : sequence of GateRow
    index : mapping of str to int
        Model indices by name.
    same : bool
        True if labels omit the claim, because it is the same in all rows.
    sign : float
        −1 if lower is better, otherwise 1.
    """
    statistic, metric = rows[0].statistic, rows[0].metric
    dominance = statistic in ORDERS
    estimate = np.array([row.estimate for row in rows])
    # The missing limit of a one-sided interval is infinite. Without an interval, both limits are NaN.
    without = [row.low is None and row.high is None for row in rows]
    low = np.where(without, np.nan, [-np.inf if row.low is None else row.low for row in rows])
    high = np.where(without, np.nan, [np.inf if row.high is None else row.high for row in rows])
    if dominance:
        estimate, low, high = _TIE - estimate, _TIE - high, _TIE - low
    elif sign < 0:
        estimate, low, high = -estimate, -high, -low
    label = f"{row_statistic(rows[0])} of {metric}"
    return Intervals(
        unit=f"½ − violation ratio, {metric}" if dominance else f"{label}, {difference_head(rows)}",
        claims=tuple(("" if same else f"{row.claim_text}: ") + f"{label}{row.subset}" for row in rows),
        estimate=estimate,
        low=low,
        high=high,
        boundary=np.array([sign * row.boundary for row in rows]),
        answer=tuple(row.verdict for row in rows),
        lower_is_better=sign < 0 and not dominance,
        pairs=tuple((index[row.new], index.get(row.old or "", index[row.new])) for row in rows),
    )


def _draw(document: GateDocument) -> Plot:
    """Draw the intervals of all claims."""
    pairs = {row.claim_text for row in document.rows}
    return draw_intervals(intervals_by_unit(document), pairs.pop() if len(pairs) == 1 else "Claims")
