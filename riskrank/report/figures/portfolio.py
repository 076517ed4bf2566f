"""Pictures of portfolio scores ([RAB] Fig. 1a, 1b and 9)."""

from __future__ import annotations

from functools import partial

from riskrank.report.figures.catalogue import Picture
from riskrank.report.figures.curves import curves, draw_curves
from riskrank.report.figures.style import Plot
from riskrank.studies.portfolio import PortfolioDocument, PortfolioSummaryDocument

_CAPTIONS = {
    "quantiles": "Quantile function of every model's portfolio scores.",
    "tvar": "Tail Value at Risk of every model's portfolio scores: the mean of the worst share of them.",
    "cdf": "Distribution function of every model's portfolio scores.",
}


def pictures(document: PortfolioDocument | PortfolioSummaryDocument) -> list[Picture]:
    """Curves of three kinds."""
    models = document.provenance.models

    def drawing(kind: str) -> Plot:
        return draw_curves(kind, curves(document.scores), models, "the portfolio")

    return [Picture(kind, caption, partial(drawing, kind)) for kind, caption in _CAPTIONS.items()]
