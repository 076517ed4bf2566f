"""Mean-risk models: means against a risk with the efficient frontier; a panel a risk ([RAB] Fig. 8)."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from riskrank.engine.portfolio.mean_risk import MeanRisk
from riskrank.render.figures.fonts import TEXT
from riskrank.render.figures.legend import in_focus, looks
from riskrank.render.figures.marks import model_mark, panel_mark, write
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.rows import Rows, dot
from riskrank.render.figures.scatter import COLUMN, name_points
from riskrank.render.figures.style import FAINT, MARGIN, QUIET, SMALL, Plot, drawn, sheet
from riskrank.render.figures.units import Unit
from riskrank.render.mean_tables import score_of
from riskrank.studies.mrm.study import MeanRiskDocument

_NAMED = 12
"""Models named in a scatter: the frontier first, then those of the largest mean minus risk."""
_ACROSS, _ABOVE = 4, 24.0
"""Panels beside each other, and the room above each, in points."""


def pictures(document: MeanRiskDocument) -> Iterator[Picture]:
    """A scatter a risk and one picture of all risks, a column of scores each."""
    models = document.provenance.models
    for column, study in document.studies.items():
        of = f"@{column}" if len(document.studies) > 1 else ""
        columns = study.models.columns
        # Those consistent with second-order dominance before the others.
        for number in sorted(range(len(columns)), key=lambda at: not columns[at].risk.ssd_consistent):
            level, risk = columns[number].level, columns[number].risk.name
            risk = risk if level is None else f"{risk}-{level:g}"
            caption = f"Mean against {risk} of every model on {column}, with the efficient frontier."
            drawing = partial(draw_scatter, study.models, number, models, column)
            yield Picture(f"scatter@{risk}{of}", caption, drawing)
        caption = f"Mean minus risk of every model on {column} under every risk."
        drawing = partial(draw_risks, study.models, models, column, document.named)
        yield Picture(f"risks{of}", caption, drawing)


@drawn
def draw_scatter(risks: MeanRisk, number: int, names: Sequence[str], column: str) -> Plot:
    """Draw the mean up, one risk to the right; the frontier is the upper left edge."""
    label, risk, frontier = risks.columns[number].label, risks.risk[:, number], risks.frontier(number)
    width, height, left, below = 202.0, 220.0, 56.0, 42.0
    page = sheet(
        f"Mean and risk of {score_of(column)}",
        "Up: larger mean; left: less risk. Models on the line are efficient: no other has a larger mean "
        "without more risk. Named: these and the best of the others.",
        width=left + width + COLUMN + MARGIN,
        height=below + height,
        method=f"mean-risk model, {label} of {column}",
    )
    axes = page.axes(left, below, width, height)
    across, up = Unit.of(risk), Unit.of(risks.mean)
    x, y = across.apply(risk), up.apply(risks.mean)
    edge = np.flatnonzero(frontier)
    edge = edge[np.lexsort([y[edge], x[edge]])]
    axes.margins(0.08)
    given = looks(len(names), risks.share_order.tolist())
    for model, (across_at, up_at) in enumerate(zip(x, y, strict=True)):
        efficient = bool(frontier[model])
        kind, size = ("D", 5.8) if efficient else ("o", 4.7)
        dot(axes, across_at, up_at, model_mark(model), given[model].color, marker=kind, size=size)
    stairs = np.repeat(x[edge], 2)[1:], np.repeat(y[edge], 2)[:-1]
    axes.plot(*stairs, color=QUIET, linewidth=1.0, zorder=3)
    axes.set(xlabel=across.label(f"risk {label}"), ylabel=up.label("mean"))
    axes.locator_params(axis="x", nbins=5)
    axes.grid(visible=True)
    # The frontier first, then the others; those of the largest mean minus risk first.
    named = np.lexsort([-risks.value[:, number], ~frontier]).tolist()
    name_points(page.canvas(), axes, x, y, names, named[:_NAMED])
    return page.figure


@drawn
def draw_risks(risks: MeanRisk, names: Sequence[str], column: str, named: Sequence[int] = ()) -> Plot:
    """Draw a panel a risk, a row a model: its mean minus that risk, on the scale of the panel."""
    order = in_focus(named, risks.share_order.tolist())
    given = looks(len(names), order)
    rows = Rows.of_models(names, order)
    # From above to below, then to the right: a phone shows the columns below each other.
    down = -(-len(risks.columns) // _ACROSS)
    across = -(-len(risks.columns) // down)
    high, width = rows.height + _ABOVE, 118.0
    page = sheet(
        f"Mean minus risk on {score_of(column)}",
        "A panel a measure of risk; right is better. Number: the rank by it. Italic: measures that may "
        "contradict second-order dominance. TVaR and VaR are scores: they are added.",
        width=rows.width + across * (width + 12) + MARGIN,
        height=down * high + 6,
        method=f"mean-risk models of {column}",
    )
    starts = [rows.width + place * (width + 12) - 6 for place in range(across)]
    page.figure.panels = (*starts, page.width)
    canvas = page.canvas()
    for at, risk in enumerate(risks.columns):
        place, line = divmod(at, down)
        left, below = rows.width + place * (width + 12), page.top - (line + 1) * high
        axes = page.axes(left, below, width, rows.height)
        rows.lay_out(axes, "", 1)
        axes.set(xlim=(-0.06, 1.3), xticks=[], gid=panel_mark(place))
        axes.set_title(
            risk.model, size=TEXT, loc="left", pad=4, style="normal" if risk.risk.ssd_consistent else "italic"
        )
        for y, model in zip(rows.y, order, strict=True):
            look, share, mark = given[model], float(risks.share[model, at]), model_mark(model)
            axes.axhline(y, color=FAINT, linewidth=0.6, zorder=0, gid=mark)
            dot(axes, share, y, mark, look.color, marker=look.marker)
            if y in rows.y[: len(rows.labels)]:
                rank = str(int(risks.rank[model, at]))
                write(axes, 1.27, y, rank, mark, "right", size=SMALL, color=QUIET)
        if place == 0:
            rows.draw(canvas, below)
    return page.figure
