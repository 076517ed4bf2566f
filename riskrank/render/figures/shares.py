"""Where the noise of a difference comes from: shares of its variance, a bar a source."""

from functools import partial

from riskrank.engine.evidence.crossed import Components
from riskrank.render.figures.marks import write
from riskrank.render.figures.picture import Picture
from riskrank.render.figures.rows import Rows, bar, ruled
from riskrank.render.figures.style import QUIET, Plot, drawn
from riskrank.render.noise import shares
from riskrank.studies.wording import percent

_WIDTH = 300.0


def pictures(components: Components) -> list[Picture]:
    """The picture of some components."""
    caption = "Share of the variance of the difference of two models that each source of noise has."
    return [Picture("noise", caption, partial(draw_shares, components))]


@drawn
def draw_shares(components: Components) -> Plot:
    """Draw a bar a source, the largest share first."""
    found = shares(components)
    names = [name if size is None else f"{name} ({size:,})" for name, size, _ in found]
    rows = Rows.of(names, [""] * len(found))
    page, (axes,) = ruled(
        rows,
        "Where the noise comes from",
        "Bar: share of the variance of one score's difference between two models. More levels of a source "
        "with a long bar make the answer surer; more of one with a short bar do not. In brackets: levels "
        "there are.",
        width=_WIDTH,
    )
    for (_, _, share), y in zip(found, rows.y.tolist(), strict=True):
        bar(axes, [0, 100 * share], y, "", QUIET, width=7.0)
        write(axes, 100 * share + 1.5, y, percent(share) if share else "0 %")
    rows.lay_out(axes, "share of the variance (%)", 5)
    axes.set_xlim(0, 112)
    axes.set_xticks([0, 25, 50, 75, 100])
    return page.figure
