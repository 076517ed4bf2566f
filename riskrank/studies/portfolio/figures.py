"""Figures of portfolio scores ([RAB] Fig. 1a, 1b and 9)."""

from functools import partial

from riskrank.render.figures.curves import CAPTIONS, draw_curves
from riskrank.render.figures.style import Plot
from riskrank.render.view import Picture
from riskrank.studies.portfolio.study import PortfolioDocument, PortfolioSummaryDocument


def pictures(document: PortfolioDocument | PortfolioSummaryDocument) -> list[Picture]:
    """Return pictures of the combined scores: quantile functions, tail means and distribution functions."""
    return [
        Picture(kind, caption.format("the portfolio"), partial(_draw_curves, kind, document))
        for kind, caption in CAPTIONS.items()
    ]


def _draw_curves(kind: str, document: PortfolioDocument | PortfolioSummaryDocument) -> Plot:
    """Draw one kind of curve for all models."""
    return draw_curves(kind, document.curves, document.provenance.models, "the portfolio")
