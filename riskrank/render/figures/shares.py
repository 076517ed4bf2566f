"""Bar chart of variance components: each source's share (proportion) of the variance."""

from functools import partial

from riskrank.engine.evidence.crossed import Components
from riskrank.render.figures.marks import write_text
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.rows import Rows, draw_bar, ruled_sheet
from riskrank.render.figures.style import QUIET, Plot, in_common_style
from riskrank.render.noise import variance_proportions
from riskrank.studies.wording import format_percent

_WIDTH = 300.0


def pictures(components: Components) -> list[Picture]:
    """Return the picture of the variance components."""
    caption = "Share of each source of noise in the variance of the difference between two models."
    return [Picture("noise", caption, partial(draw_shares, components))]


@in_common_style
def draw_shares(components: Components) -> Plot:
    """Draw one bar per source of noise, largest share of the variance first."""
    sources = variance_proportions(components)
    names = [name if size is None else f"{name} ({size:,})" for name, size, _ in sources]
    rows = Rows.from_names(names, [""] * len(sources))
    page, (axes,) = ruled_sheet(
        rows,
        "Sources of noise",
        "Bar: share in the variance of the difference between two models for a single score. More levels "
        "of a source with a long bar reduce the uncertainty most. Brackets: number of levels.",
        width=_WIDTH,
    )
    for (_, _, share), y in zip(sources, rows.y.tolist(), strict=True):
        draw_bar(axes, [0, 100 * share], y, "", QUIET, width=7.0)
        write_text(axes, 100 * share + 1.5, y, format_percent(share) if share else "0 %")
    rows.prepare_axes(axes, "share of the variance (%)", 5)
    axes.set_xlim(0, 112)
    axes.set_xticks([0, 25, 50, 75, 100])
    return page.figure
