"""Figures of mean-risk models: mean against risk with efficient frontier, and all risks ([RAB] Fig. 8)."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from riskrank.engine.portfolio.mean_risk import MeanRisk
from riskrank.render.figures import style
from riskrank.render.figures.legend import COLUMN, by_importance, choose_styles, label_points
from riskrank.render.figures.rows import Rows, draw_dot
from riskrank.render.figures.text import TEXT, model_mark, panel_mark, write_text
from riskrank.render.mean_tables import score_title
from riskrank.render.view import Picture
from riskrank.studies.mrm.study import MeanRiskDocument

# Maximum number of labelled models: the frontier first, then by mean minus risk.
_NAMED = 12
# Maximum number of panels per row, and the space above each, in points.
_ACROSS, _ABOVE = 4, 24.0


def pictures(document: MeanRiskDocument) -> Iterator[Picture]:
    """Yield one scatter plot per risk measure, and one picture of all of them, for each metric or score."""
    models = document.provenance.models
    for column, study in document.studies.items():
        suffix = f"@{column}" if len(document.studies) > 1 else ""
        columns = study.models.columns
        # Risks that are consistent with second-order dominance come first.
        for number in sorted(range(len(columns)), key=lambda at: not columns[at].risk.ssd_consistent):
            level, risk = columns[number].level, columns[number].risk.name
            risk = risk if level is None else f"{risk}-{level:g}"
            caption = f"Mean against {risk} of every model on {column}, with the efficient frontier."
            drawing = partial(draw_scatter, study.models, number, models, column)
            yield Picture(f"scatter@{risk}{suffix}", caption, drawing)
        caption = f"Mean minus risk of every model on {column}, for every risk measure."
        drawing = partial(draw_risks, study.models, models, column, document.named)
        yield Picture(f"risks{suffix}", caption, drawing)


@style.common_style()
def draw_scatter(risks: MeanRisk, number: int, names: Sequence[str], column: str) -> style.Plot:
    """Draw means against one risk, with the efficient frontier at the upper left.

    Parameters
    ----------
    risks : MeanRisk
        Means and risks of all models.
    number : int
        Index of the risk measure.
    names : sequence of str
        Names of the models.
    column : str
        Name of the metric or combined score.
    """
    label, risk, frontier = risks.columns[number].label, risks.risk[:, number], risks.frontier(number)
    width, height, left, below = 202.0, 220.0, 56.0, 42.0
    page = style.start_sheet(
        f"Mean and risk of {score_title(column)}",
        "Up: larger mean; left: lower risk. Models on the line are efficient: no other model has a larger "
        "mean without more risk. Named: the efficient models and the best of the others.",
        width=left + width + COLUMN + style.MARGIN,
        height=below + height,
        method=f"mean-risk model, {label} of {column}",
    )
    axes = page.axes(left, below, width, height)
    across, up = style.Unit.choose(risk), style.Unit.choose(risks.mean)
    x, y = across.apply(risk), up.apply(risks.mean)
    edge = np.flatnonzero(frontier)
    edge = edge[np.lexsort([y[edge], x[edge]])]
    axes.margins(0.08)
    styles = choose_styles(len(names), risks.rescaled_order.tolist())
    for model, (across_at, up_at) in enumerate(zip(x, y, strict=True)):
        efficient = bool(frontier[model])
        kind, size = ("D", 5.8) if efficient else ("o", 4.7)
        draw_dot(axes, across_at, up_at, model_mark(model), styles[model].color, marker=kind, size=size)
    stairs = np.repeat(x[edge], 2)[1:], np.repeat(y[edge], 2)[:-1]
    axes.plot(*stairs, color=style.QUIET, linewidth=1.0, zorder=3)
    axes.set(xlabel=across.label(f"risk {label}"), ylabel=up.label("mean"))
    axes.locator_params(axis="x", nbins=5)
    axes.grid(visible=True)
    # The frontier first, then the others, both by mean minus risk.
    named = np.lexsort([-risks.value[:, number], ~frontier]).tolist()
    label_points(page.canvas(), axes, x, y, names, named[:_NAMED])
    return page.figure


@style.common_style()
def draw_risks(risks: MeanRisk, names: Sequence[str], column: str, named: Sequence[int] = ()) -> style.Plot:
    """Draw each model's mean minus risk, with one panel and scale per risk measure.

    Parameters
    ----------
    risks : MeanRisk
        Means and risks of all models.
    names : sequence of str
        Names of the models.
    column : str
        Name of the metric or combined score.
    named : sequence of int
        Models named in the verdict, which come first.
    """
    order = by_importance(named, risks.rescaled_order.tolist())
    styles, rows = choose_styles(len(names), order), Rows.for_models(names, order)
    # Fill column by column, because a phone stacks the columns.
    down = -(-len(risks.columns) // _ACROSS)
    across = -(-len(risks.columns) // down)
    high, width = rows.height + _ABOVE, 118.0
    page = style.start_sheet(
        f"Mean minus risk on {score_title(column)}",
        "One panel per risk measure; right is better. Number: rank by this measure. Italic: may contradict "
        "second-order dominance. TVaR and VaR, whose higher values are better, are added to the mean.",
        width=rows.width + across * (width + 12) + style.MARGIN,
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
        rows.prepare_axes(axes, "", 1)
        axes.set(xlim=(-0.06, 1.3), xticks=[], gid=panel_mark(place))
        slant = "normal" if risk.risk.ssd_consistent else "italic"
        axes.set_title(risk.model, size=TEXT, loc="left", pad=4, style=slant)
        for y, model in zip(rows.y, order, strict=True):
            plot_style, share, mark = styles[model], float(risks.rescaled[model, at]), model_mark(model)
            axes.axhline(y, color=style.FAINT, linewidth=0.6, zorder=0, gid=mark)
            draw_dot(axes, share, y, mark, plot_style.color, marker=plot_style.marker)
            if y in rows.y[: len(rows.labels)]:
                rank = str(int(risks.rank[model, at]))
                write_text(axes, 1.27, y, rank, mark, "right", size=style.SMALL, color=style.QUIET)
        if place == 0:
            rows.write_names(canvas, below)
    return page.figure
