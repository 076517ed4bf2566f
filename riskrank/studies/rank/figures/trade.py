"""The picture of a trade: each metric's difference of two models, and who is better on it."""

from __future__ import annotations

import numpy as np

from riskrank.shown.figures.fonts import text_width
from riskrank.shown.figures.key import looks
from riskrank.shown.figures.marks import model_mark, write
from riskrank.shown.figures.names import fitted
from riskrank.shown.figures.rows import BELOW, Rows, bar, dot, ruled
from riskrank.shown.figures.style import QUIET, Plot, drawn
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rank.trade import trade

_WIDTH = 280.0
# Standard errors that a bar reaches to either side.
_REACH = 2.0


@drawn
def draw_trade(document: RankDocument) -> Plot:
    """Draw the difference of two models on every metric, each to a scale of its own."""
    found, models, means = trade(document), document.provenance.models, document.means
    assert found is not None
    both = model_mark(*found.pair)
    first, other = (models[model] for model in found.pair)
    rows = Rows.of([mean.name for mean in means], [both] * len(means))
    figures = [mean.against(*found.pair) for mean in means]
    page, (axes,) = ruled(
        rows,
        f"Who wins what: {first} or {other}",
        f"Right: {first} is better; left: {other}. Bar: the difference of the means and two standard errors "
        "to either side, each row to its own scale. Filled: shown, after all models and metrics are allowed "
        f"for; hollow: open. Figures: mean of {first} against that of {other}.",
        width=_WIDTH,
        beside=max(map(text_width, figures)) + 10,
    )
    given, canvas = looks(len(models), found.pair, accent=False), page.canvas()
    scale = np.maximum(np.abs(found.lead) + _REACH * found.error, np.finfo(float).tiny)
    lead, reach = found.lead / scale, _REACH * found.error / scale
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    for at, y in enumerate(rows.y.tolist()):
        side = int(found.side[at])
        color = QUIET if side == 0 else given[found.pair[0 if side > 0 else 1]].color
        bar(axes, [lead[at] - reach[at], lead[at] + reach[at]], y, both, color)
        dot(axes, lead[at], y, both, color, size=6.0, full=side != 0)
        right = rows.width + _WIDTH + 10
        write(canvas, right, y + BELOW, figures[at], both)
    axes.set_xlim(-1.06, 1.06)
    names = fitted([first, other], _WIDTH / 2 - 50)
    rows.lay_out(axes, f"{names[1]} better ← → {names[0]} better", 1)
    axes.set_xticks([])
    return page.figure
