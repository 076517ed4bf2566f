"""Bar chart of the share of the variance that each source of noise has."""

from functools import partial

from riskrank.engine.evidence.crossed import Components
from riskrank.render.figures.marks import write_text
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.rows import Rows, draw_bar, ruled_sheet
from riskrank.render.figures.style import QUIET, Plot, in_common_style
from riskrank.render.noise import variance_shares
from riskrank.studies.wording import percent

_WIDTH = 300.0


def pictures(components: Components) -> list[Picture]:
    """Return the picture of some variance components."""
    caption = "Share of the variance of the difference of two models that each source of noise has."
    return [Picture("noise", caption, partial(draw_shares, components))]


@in_common_style
def draw_shares(components: Components) -> Plot:
    """Draw one bar per source of noise, the largest share first."""
    sources = variance_shares(components)
    names = [name if size is None else f"{name} ({size:,})" for name, size, _ in sources]
    rows = Rows.build(names, [""] * len(sources))
    page, (axes,) = ruled_sheet(
        rows,
        "Where the noise comes from",
        "Bar: share of the variance of one score's difference between two models. More levels of a source "
        "with a long bar make the answer surer; more of one with a short bar do not. In brackets: levels "
        "there are.",
        width=_WIDTH,
    )
    for (_, _, share), y in zip(sources, rows.y.tolist(), strict=True):
        draw_bar(axes, [0, 100 * share], y, "", QUIET, width=7.0)
        write_text(axes, 100 * share + 1.5, y, percent(share) if share else "0 %")
    rows.prepare_axes(axes, "share of the variance (%)", 5)
    axes.set_xlim(0, 112)
    axes.set_xticks([0, 25, 50, 75, 100])
    return page.figure
