"""Selection of figures for a ``copa`` document."""

from functools import partial
from itertools import combinations

import numpy as np

from riskrank.engine.copa.sweep import Sweep
from riskrank.render.figures.bump import arrange_bump, draw_bump
from riskrank.render.figures.picture import Picture, renumber_pictures
from riskrank.render.figures.style import Plot
from riskrank.render.figures.text import renumber_marks
from riskrank.studies.copa.comparison import ComparisonDocument
from riskrank.studies.copa.figures.boxes import draw_boxes, draw_parallel
from riskrank.studies.copa.figures.plane import draw_front, draw_front_uncertainty
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.ranking import CopaDocument
from riskrank.studies.copa.sweep import OrderSweepDocument, WeightSweepDocument
from riskrank.studies.copa.uncertainty import FrontUncertainty

Documents = CopaDocument | ComparisonDocument | OrderSweepDocument | WeightSweepDocument


def pictures(document: Documents) -> list[Picture]:
    """Return the pictures of a ``copa`` document."""
    # The document may have more models, or another order.
    return renumber_pictures(
        _pictures(document), document.objectives.population.names, document.provenance.models
    )


def _pictures(document: Documents) -> list[Picture]:
    """Return the pictures of a document, with the model numbers used in its objectives."""
    if isinstance(document, ComparisonDocument):
        caption = "Ranks of every model by every scalarization, joined by lines."
        return [Picture("bump", caption, partial(_draw_comparison, document))]
    if isinstance(document, WeightSweepDocument):
        several = len(document.sweeps) > 1
        sweeps = [(f"@p={p:g}" if several and p is not None else "", sweep) for p, sweep in document.sweeps]
        return [
            picture
            for suffix, sweep in sweeps
            for picture in _front_pictures(document.objectives, sweep, suffix)
        ]
    if isinstance(document, CopaDocument):
        return _ranking_pictures(document)
    return []


def _ranking_pictures(document: CopaDocument) -> list[Picture]:
    """Return the pictures of a ranking."""
    table = document.objectives
    pictures = [] if document.uncertainty is None else _uncertainty_pictures(table, document.uncertainty)
    if len(table.population.metrics) > 1:
        caption = "Ranks of every model on every objective, joined by lines; the first ones in colour."
        drawing = partial(draw_parallel, table.population, document.leading_ranking.order)
        pictures.append(Picture("parallel", caption, drawing))
    caption = "Share of models that each model beats: boxes over the objectives."
    shares, names = (document.ccdf_quantiles, document.ccdf_mean), table.population.names
    drawing = partial(
        draw_boxes, document.leading_ranking.order, *shares, names, len(table.population.metrics)
    )
    pictures.append(Picture("boxes", caption, drawing))
    for sweep in document.sweeps:
        assert sweep.objective is not None
        pictures += _front_pictures(table, sweep, f"@{table.population.metrics[sweep.objective]}")
    return pictures


def _uncertainty_pictures(table: Objectives, uncertainty: FrontUncertainty) -> list[Picture]:
    """Return one picture per pair of objectives, those with the largest weights first."""
    metrics, order = table.population.metrics, np.argsort(-table.weights, kind="stable").tolist()
    pictures = []
    for x, y in combinations(order, 2):
        caption = f"Models by {metrics[x]} and {metrics[y]} with intervals: on the front, off it, undecided."
        picture = partial(draw_front_uncertainty, table, uncertainty, x, y)
        pictures.append(Picture(f"doubt@{metrics[x]}@{metrics[y]}", caption, picture))
    return pictures


def _front_pictures(table: Objectives, sweep: Sweep, suffix: str) -> list[Picture]:
    """Return one picture per objective, plotted against the objective whose weight is swept."""
    metrics = table.population.metrics
    pictures = []
    for other, name in enumerate(metrics):
        if other != sweep.objective and sweep.objective is not None:
            caption = (
                f"Models by {metrics[sweep.objective]} and {name}, coloured by the weight of "
                f"{metrics[sweep.objective]} that chooses them."
            )
            pictures.append(
                Picture(f"front{suffix}@{name}", caption, partial(draw_front, table, sweep, other))
            )
    return pictures


def _draw_comparison(document: ComparisonDocument) -> Plot:
    """Draw a bump chart of the ranks under every scalarization."""
    comparison = document.comparison
    names = [document.objectives.name(model) for model in comparison.models]
    plot = draw_bump(
        arrange_bump(comparison.comparison.rank), names, comparison.names, "Ranks by every scalarization"
    )
    return renumber_marks(plot, comparison.models.tolist())
